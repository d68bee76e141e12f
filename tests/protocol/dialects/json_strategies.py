"""Random patterns in JSON and events for them: few names and values, and arrays at every place."""

from __future__ import annotations

import json

from hypothesis import strategies as st

from tamis.protocol import dialects
from tamis.protocol.errors import DialectError, Refused

TEXTS = st.sampled_from(["a", "ab", "A", "bab", "É", "10.0.0.1", "::1", "5"])
NUMBERS = st.sampled_from([1, 5, 5.0, 2.5])
SCALARS = st.sampled_from(["a", "a", "a", "ab", "", 1, 1, 10**12, True, None]) | TEXTS | NUMBERS
STARTS = st.sampled_from(["a", "A", "b", "10.", "é"])
WILDCARDS = st.sampled_from(["a*", "*b", "*a*", "a*b", "*", "b*a*b", "1*0*1", "\\*a", "ab"])
BOUNDS = st.builds(lambda low, sign, high, other: [low, sign, high, other], st.sampled_from([">", ">="]), NUMBERS,
                   st.sampled_from(["<", "<="]), NUMBERS).filter(lambda bound: bound[1] < bound[3])  # fmt: skip


def one(name, operands):
    return operands.map(lambda operand: {name: operand})


def some_of(operands):
    return operands | st.lists(operands, min_size=1, max_size=3)


IN_ANY_CASE = one("equals-ignore-case", TEXTS)
CONDITIONS = st.one_of(
    SCALARS,
    SCALARS,
    SCALARS,
    one("prefix", STARTS),
    one("suffix", STARTS),
    IN_ANY_CASE,
    one("exists", st.booleans()),
    one("cidr", st.sampled_from(["10.0.0.0/8", "10.0.0.0/16", "10.0.0.1/32", "::/0", "0.0.0.0/0"])),
    one("numeric", BOUNDS | st.tuples(st.sampled_from(["=", "<", "<=", ">", ">="]), NUMBERS)),
    one("anything-but", some_of(TEXTS) | some_of(NUMBERS)),
    one("anything-but", one("prefix", STARTS)),
)
EVENTBRIDGE_CONDITIONS = st.one_of(
    CONDITIONS,
    one("wildcard", WILDCARDS),
    one("prefix", one("equals-ignore-case", STARTS)),
    one("suffix", one("equals-ignore-case", STARTS)),
    one("anything-but", one("prefix", some_of(STARTS))),
    one("anything-but", one("suffix", some_of(STARTS))),
    one("anything-but", one("equals-ignore-case", some_of(TEXTS))),
    one("anything-but", one("wildcard", some_of(WILDCARDS))),
)


def patterns(names, conditions, leaves):
    """Patterns that ask no path twice."""
    fields = st.dictionaries(names, st.lists(conditions, min_size=1, max_size=2), min_size=1, max_size=2)
    inside = st.recursive(fields, lambda inner: joined(names, inner), max_leaves=leaves)
    return inside.map(json.dumps)


def joined(names, inner):
    return st.one_of(
        st.dictionaries(names, inner, min_size=1, max_size=2),
        st.tuples(inner, inner).map(lambda two: {**two[0], **two[1]}),
        st.tuples(inner, inner, inner).map(lambda three: {**three[0], "$or": list(three[1:])}),
    )


def documents(names):
    return st.dictionaries(
        names,
        st.recursive(
            SCALARS,
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, min_size=1, max_size=3),
            max_leaves=8,
        ),
        min_size=1,
        max_size=3,
    )


def taken(dialect, texts):
    return texts.filter(lambda text: "has two arrays of values" not in refusal(dialects.get(dialect).translate, text))


def representable(dialect, events):
    return events.filter(lambda event: not refusal(dialects.get(dialect).attributes, event))


def refusal(read, form):
    try:
        read(form)
    except (DialectError, Refused) as error:
        return str(error)
    return ""


NAMES = st.sampled_from(["a", "a", "a", "b", "b", "c", "a.b"])
ENVELOPE = st.fixed_dictionaries(
    {}, optional={"source": TEXTS, "resources": st.lists(TEXTS, max_size=3), "detail": documents(NAMES)}
)
EVENTBRIDGE_EVENTS = representable(
    "eventbridge", st.builds(lambda document, envelope: document | envelope, documents(NAMES), ENVELOPE)
)
EVENTBRIDGE_NAMES = st.sampled_from(["a", "a", "a", "b", "b", "c", "a.b", "source", "resources", "detail"])
EVENTBRIDGE_FILTERS = taken("eventbridge", patterns(EVENTBRIDGE_NAMES, EVENTBRIDGE_CONDITIONS, 3))


# --- SNS --------------------------------------------------------------------------------------------------------------

TYPED = st.one_of(
    TEXTS.map(lambda text: {"Type": "String", "Value": text}),
    TEXTS.map(lambda text: {"DataType": "String", "StringValue": text}),
    NUMBERS.map(lambda number: {"Type": "Number", "Value": str(number)}),
    st.lists(SCALARS, max_size=3).map(lambda values: {"Type": "String.Array", "Value": json.dumps(values)}),
    st.just({"Type": "Binary", "Value": "AAAA"}),
)
TYPED_ATTRIBUTES = st.dictionaries(NAMES, TYPED, max_size=3)
BODIES = documents(NAMES).map(json.dumps) | documents(NAMES) | st.sampled_from(["text", "{}", "[1]"])
SNS_EVENTS = representable(
    "sns",
    st.one_of(
        TYPED_ATTRIBUTES,
        documents(NAMES),
        st.fixed_dictionaries({"Message": BODIES}, optional={"MessageAttributes": TYPED_ATTRIBUTES}),
    ),
)
POLICIES = patterns(NAMES, CONDITIONS, 3)
SNS_FILTERS = taken(
    "sns",
    POLICIES | POLICIES.map(lambda policy: f'{{"FilterPolicyScope": "MessageBody", "FilterPolicy": {policy}}}'),
)
