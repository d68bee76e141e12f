"""Random predicates of the language with computed conditions, and messages that often meet them."""

from __future__ import annotations

from hypothesis import strategies as st

NAMES = st.sampled_from(["a", "b", "c", "`d e`"])
NUMBERS = st.sampled_from(["0", "1", "2", "-1", "5", "0.5", "3.0", "9223372036854775807"])
STRINGS = st.sampled_from(["a", "ab", "aba", "A", "aB", "", "É", "é", "10.1.2.3", " a", "ß", "10%"]).map('"{}"'.format)
COMPARE = st.sampled_from(["=", "!=", "<", "<=", ">", ">=", "==", "<>"])
NEGATED = st.sampled_from(["", "not "])


def built(form, *parts):
    return st.builds(form.format, *parts)


def _numbers(children):
    return st.one_of(
        built("{} {} {}", children, st.sampled_from(["+", "-", "*"]), children),
        built("{} {} {}", children, st.sampled_from(["/", "%"]), NAMES),
        built("({} {} {})", children, st.sampled_from(["+", "-", "*"]), children),
        built("- {}", NAMES),
        built("({})", children),
    )


def _strings(children):
    return st.one_of(
        built("{}({})", st.sampled_from(["lower", "Upper", "trim"]), children),
        built("{}({}, {})", st.sampled_from(["left", "right"]), children, st.sampled_from(["1", "2", "c", "0"])),
        built("concat({}, {})", children, children),
    )


TEXTS = st.recursive(NAMES, _strings, max_leaves=3)
SUMS = st.recursive(NAMES | NAMES | NUMBERS | built("length({})", TEXTS), _numbers, max_leaves=4)
ASKING = built("{} {} {}", NAMES, st.sampled_from(["+", "-", "*", "/", "%"]), SUMS) | NAMES
PATTERNS = st.text("ab%_!", max_size=5).filter(lambda text: "!" not in text)
ESCAPED = st.lists(st.sampled_from(["a", "b", "%", "_", "!%", "!_", "!!"]), max_size=4).map("".join)
NETWORKS = st.sampled_from(["10.0.0.0/8", "10.1.0.0/15", "10.1.2.3/32", "0.0.0.0/0", "2001:db8::/32", "::/0"])
VALUES = NUMBERS | STRINGS | st.sampled_from(["true", "false"])
PLAIN = st.one_of(
    built("{} {} {}", NAMES, COMPARE, NUMBERS | STRINGS),
    built("{} {}in {{{}}}", NAMES, NEGATED, st.lists(VALUES, min_size=1, max_size=3).map(", ".join)),
    built("exists {}", NAMES),
    built("{} {}between 0 and {}", NAMES, NEGATED, st.sampled_from(["1", "2.5"])),
    built("{} {} {}", NAMES, st.sampled_from(["^=", "suffix", "*="]), STRINGS),
    st.sampled_from(["true", "false"]),
)
COMPUTED = st.one_of(
    built("{} {} {}", ASKING, COMPARE, ASKING | NUMBERS),
    built("{} {} {}", NUMBERS, COMPARE, ASKING),
    built("length({}) {} {}", TEXTS, COMPARE, NUMBERS),
    built("{} {} {}", TEXTS, COMPARE, STRINGS | NAMES),
    built("{} {} {}", TEXTS, st.sampled_from(["~=", "~^=", "~$=", "prefix", "$=", "contains"]), STRINGS | TEXTS),
    built('{} {}like "{}"', TEXTS, NEGATED, PATTERNS),
    built('{} {}like "{}" escape "!"', NAMES, NEGATED, ESCAPED),
    built("{} {}in {}", TEXTS, NEGATED, NETWORKS),
    built("length({}) {}in {{1, 2}}", TEXTS, NEGATED),
    built("{} {}between {} and {}", ASKING, NEGATED, NAMES | NUMBERS, ASKING),
    built("({} {} {}) * 2 {} {}", NAMES, st.sampled_from(["+", "-"]), NAMES, COMPARE, NUMBERS),
)


def _joined(children):
    return st.one_of(
        built("({} {} {})", children, st.sampled_from(["and", "or", "&&", "|"]), children),
        built("not {}", children),
        built("!({})", children),
        built("{} {} {}", children, st.sampled_from(["and", "or"]), children),
    )


PREDICATES = st.recursive(PLAIN | COMPUTED | COMPUTED, _joined, max_leaves=6)
MESSAGE_VALUES = st.sampled_from(
    [
        *(
            "a",
            "ab",
            "aba",
            "A",
            "AB",
            "",
            "É",
            "é",
            "ß",
            "ss",
            " a",
            "10%",
            "10.1.2.3",
            "10.1.2",
            "2001:db8::1",
            "::1",
        ),
        *(0, 1, 2, -1, 5, 0.5, 2.5, 3.0, -0.0, 2**63 - 1, -(2**63), 1e300, True, False),
    ]
)
MESSAGES = st.dictionaries(st.sampled_from(["a", "b", "c", "d e"]), MESSAGE_VALUES, max_size=4)
