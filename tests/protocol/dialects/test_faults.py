"""A fault that is planted in a translation is found by the cases and their judges."""

from __future__ import annotations

import importlib
import re
from dataclasses import replace
from types import SimpleNamespace

import pytest

from tamis.protocol import dialects
from tamis.protocol.dialects import decide, rails
from tamis.protocol.dialects.cel import program as cel_program
from tamis.protocol.dialects.cesql.casts import CesqlType
from tamis.protocol.dialects.cesql.outcomes import Outcomes
from tamis.protocol.dialects.events import flatten
from tamis.protocol.dialects.patterns import Wild
from tamis.protocol.dialects.rails import NEVER, Rail, every, holds, some, two_valued
from tamis.protocol.dialects.sql import amqp_sql, azure, azure_builder, jms, program
from tamis.protocol.dialects.sql.rules import Unlike
from tamis.protocol.dialects.tamis import program as computed
from tamis.protocol.dialects.tamis import tamis as language
from tamis.protocol.dialects.topics import levels
from tamis.protocol.filters import Op
from tamis.protocol.language.likeness import likeness
from tamis.protocol.language.tree import Constant
from tamis.protocol.residual import Arithmetic, Cast, Mixed, Opcode
from tamis.protocol.residual.patterns import ANY_TEXT
from tests.protocol.dialects.agreement import said
from tests.protocol.dialects.judges import JUDGES
from tests.protocol.dialects.tables import cases_of


def is_found(name):
    """Whether a case of the dialect contradicts its translation."""
    dialect = dialects.get(name)
    for case in cases_of(name):
        found = None if case.refused else dialect.translate(case.filter)
        for _, event in case.events:
            if said(found, dialect.attributes(event)) not in (None, JUDGES[name](case.filter, event)):
                return True
    return False


UNDECIDED = language._undecided
BRANCH = levels.branch
JOINED = decide.joined


def reals(op, kind):
    return program._ARITHMETIC | {"/": (op, kind)}


def without_guard(made, test, negated):
    test.append(made)
    if negated:
        made.emit(Opcode.NOT)


def least(parts):
    return [[part for part in parts if part is not Wild.ANY]]


def first_alone(made, parts, _):
    next(iter(parts))(made)


def three_valued(rail):
    return rails.if_present(rail.node.constraint.name, rail)


def without_errors(parts):
    """An OR that goes on behind an error."""
    kept = list(parts)
    return Outcomes(some(*(part.true for part in kept)), every(*(part.false for part in kept)))


ORDERED = (Op.GT, Op.GE, Op.LT, Op.LE)


def chosen_wrongly(made, condition, one, other):
    cel_program._append(made, condition)
    otherwise = made.jump(Opcode.BRANCH)
    one(made)
    end = made.jump(Opcode.JUMP)
    made.place(otherwise)
    other(made)
    made.place(end)


FAULTS = {
    "negation has two values": ("jms", "sql.conditions", "if_present", lambda _name, rail: two_valued(rail)),
    "the rails are not swapped": ("jms", "sql.conditions", "opposite", lambda both: both),
    "a pattern that is wider is negated": ("jms", "rails", "complement", lambda rail: Rail(rails._negated(rail.node))),
    "a beginning and an end overlap": ("jms", "patterns", "likeness", lambda of: likeness(of)._replace(left_out=())),
    "a pattern needs less than it says": ("jms", "patterns", "undecided", lambda rail, *_: rail),
    "and is or": ("cloudevents", "cloudevents", "every", some),
    "or is and": ("cloudevents", "context", "some", every),
    "integers have no text": ("cloudevents", "context", "_integers_from", lambda _: ()),
    "only texts are equal": ("cloudevents", "cloudevents", "is_text", lambda name, text: holds(name, Op.EQ, text)),
    "an error on the left is passed over": ("cesql", "cesql.meaning", "one_after_another", without_errors),
    "an absent attribute is false": (
        "cesql",
        "cesql.meaning",
        "where_defined",
        lambda true, _: Outcomes(true, rails.complement(true)),
    ),
    "what a text is as a number is not told": ("cesql", "cesql.meaning", "undecided", lambda rail, _: rail),
    "an integer is equal to its text alone": (
        "cesql",
        "cesql.meaning",
        "is_text",
        lambda name, text: holds(name, Op.EQ, text),
    ),
    "constants have 64 bits": ("cesql", "cesql.functions", "INT32", range(-(2**63), 2**63)),
    "a program calculates with 64 bits": (
        "cesql",
        "cesql.program",
        "Arithmetic",
        SimpleNamespace(INT32=Arithmetic.WIDE),
    ),
    "a program compares texts": ("cesql", "cesql.program", "_CAST_TO", dict.fromkeys(CesqlType, Cast.TEXT)),
    "a pattern is read without escapes": ("cesql", "cesql.likeness", "_PART", re.compile(".", re.DOTALL)),
    "a null header is absent": ("amqp-headers", "headers", "NULL", "?"),
    "a topic has no end": ("mqtt", "topics.levels", "lacks", lambda name: levels.exists(name.partition("/")[0])),
    "topics of the broker are like others": ("mqtt", "topics.mqtt", "_NOT_OF_THE_BROKER", None),
    "a branch has no root": ("mqtt", "topics.levels", "branch", lambda *words, **_: BRANCH(*words, itself=False)),
    "a branch has a root": ("nats", "topics.levels", "branch", lambda *words, **_: BRANCH(*words, itself=True)),
    "words are counted from one end": ("amqp-topic", "topics.amqp_topic", "_farthest", lambda _: 9),
    "stars are lost": (
        "amqp-topic",
        "topics.amqp_topic",
        "_tidy",
        lambda words: [w for w in words if w != "*"] or ["#"],
    ),
    "a program orders texts": ("jms", "sql.jms", "RULES", replace(jms.RULES, are_texts_ordered=True)),
    "a program does not order texts": (
        "amqp-sql",
        "sql.conditions",
        "SqlPrograms",
        lambda value, pattern, _, *others: program.SqlPrograms(value, pattern, Mixed.NUMBERS_ONLY, *others),
    ),
    "values of two kinds are not unequal": (
        "amqp-sql",
        "sql.amqp_sql",
        "RULES",
        replace(amqp_sql.RULES, unlike=Unlike.FALSE),
    ),
    "values of two kinds are unequal": ("jms", "sql.jms", "RULES", replace(jms.RULES, unlike=Unlike.UNEQUAL)),
    "a number is unlike a text": ("amqp-sql", "sql.amqp_sql", "RULES", replace(amqp_sql.RULES, is_like_unknown=False)),
    "quotients are cut": ("amqp-sql", "sql.amqp_sql", "RULES", replace(amqp_sql.RULES, are_quotients_cut=True)),
    "values of two kinds are unlike in azure": (
        "azure",
        "sql.azure",
        "RULES",
        replace(azure.RULES, unlike=Unlike.UNEQUAL),
    ),
    "values of two kinds are false in azure": (
        "azure",
        "sql.azure",
        "RULES",
        replace(azure.RULES, unlike=Unlike.FALSE),
    ),
    "quotients of integers are not cut": (
        "azure",
        "sql.azure",
        "RULES",
        replace(azure.RULES, are_quotients_cut=False),
    ),
    "a pattern is false of numbers": ("azure", "sql.azure", "RULES", replace(azure.RULES, is_like_unknown=False)),
    "a program orders texts of azure": (
        "azure",
        "sql.azure",
        "RULES",
        replace(azure.RULES, are_texts_ordered=True),
    ),
    "names of properties have a case": ("azure", "sql.azure_builder", "property_of", lambda name, _: name),
    "a subject is no label": ("azure", "sql.azure_builder", "_BY_NAME", azure_builder._BY_NAME | {"subject": "sys.to"}),
    "one value of a correlation is enough": ("azure", "sql.correlation", "every", some),
    "an error is false": ("cel", "cel.meaning", "if_present", lambda _name, rail: two_valued(rail)),
    "a number is no text": ("cel", "cel.meaning", "every", lambda *parts: parts[-1]),
    "null is absent": ("cel", "cel.cel", "flatten", lambda event: {k: v for k, v in flatten(event).items() if v}),
    "a map is nothing": ("cel", "cel.cel", "_maps", lambda *_: ()),
    "an order mirrors": ("cel", "cel.meaning", "_CONTRARY", dict(zip(("<", "<=", ">", ">="), ORDERED, strict=True))),
    "both parts of a choice hold": ("cel", "cel.meaning", "_chosen", lambda _, one, other: rails.any_of([one, other])),
    "a whole number is a double": ("cel", "cel.program", "_of_kind", lambda *_: None),
    "a program joins no texts": ("cel", "cel.program", "Kind", SimpleNamespace(TEXT=0, INTEGER=1, DOUBLE=2)),
    "integers of a program become doubles": (
        "cel",
        "cel.program",
        "Arithmetic",
        SimpleNamespace(INT64=Arithmetic.WIDE, WIDE=Arithmetic.WIDE),
    ),
    "values of two kinds have an order": (
        "cel",
        "cel.program",
        "Mixed",
        SimpleNamespace(UNKNOWN=Mixed.FALSE, FALSE=Mixed.FALSE),
    ),
    "an error chooses the second": ("cel", "cel.program", "_choose", chosen_wrongly),
    "escapes are texts": ("cel", "cel.literals", "_PLAIN", {"n": "n"}),
    "a priority has no default": ("amqp-sql", "sql.amqp_sql", "PRIORITY_OTHERWISE", 0),
    "a remainder has the sign of the second": ("amqp-sql", "sql.conditions", "_cut", lambda _, one, other: one % other),
    "a remainder is a quotient": (
        "amqp-sql",
        "sql.program",
        "_ARITHMETIC",
        program._ARITHMETIC | {"%": (Opcode.DIV, Arithmetic.WIDE)},
    ),
    "a program divides integers": ("jms", "sql.program", "_ARITHMETIC", reals(Opcode.DIV, Arithmetic.WIDE)),
    "a program multiplies": ("jms", "sql.program", "_ARITHMETIC", reals(Opcode.MUL, Arithmetic.WIDE)),
    "a program takes and for or": ("jms", "sql.program", "joined", lambda *words: JOINED(*words[:2], not words[2])),
    "a program compares the wrong way": (
        "jms",
        "sql.program",
        "_COMPARED",
        program._COMPARED | {"<": Opcode.LE, ">": Opcode.GE},
    ),
    "a pattern has only one wildcard": ("jms", "patterns", "ANY_CHARACTER", ANY_TEXT),
    "a negation of what is absent is unknown": ("cloudevents", "decide", "_append_test", without_guard),
    "a wildcard has several levels": ("mqtt", "topics.whole", "Nested", lambda *_: Constant(True, 0)),
    "any number of levels is none": ("amqp-topic", "topics.whole", "_choices", lambda parts: [least(parts)]),
    "the first condition is enough": ("amqp-headers", "decide", "joined", first_alone),
    "the levels are not counted": ("nats", "topics.whole", "_like", lambda *_: Constant(True, 0)),
    "a text of a level has no attribute": ("mqtt", "topics.whole", "_have_attributes", lambda _: True),
    "an array is one value": ("eventbridge", "json_patterns.deciding", "ELEMENTS_MAX", 1),
    "the last element is lost": ("eventbridge", "json_patterns.pattern", "ELEMENTS_MAX", 7),
    "an array matches nothing": ("eventbridge", "json_patterns.pattern", "_elements", lambda _: NEVER),
    "an array matches alone": ("eventbridge", "json_patterns.pattern", "undecided", lambda rail, _: rail),
    "rows are mixed": ("eventbridge", "json_patterns.deciding", "_shared", lambda *_: []),
    "all values are of the first row": ("eventbridge", "json_patterns.deciding", "_row", lambda *_: 0),
    "null is no value": ("eventbridge", "json_patterns.deciding", "NULL", "?"),
    "null is no value for the index": ("eventbridge", "json_patterns.pattern", "NULL", "?"),
    "alternatives must all hold": ("eventbridge", "json_patterns.pattern", "some", every),
    "anything but is of absent values": ("eventbridge", "json_patterns.conditions", "present", lambda _: rails.ALWAYS),
    "any text is another in any case": ("eventbridge", "folding", "undecided", lambda rail, *_: rail),
    "a message may be empty": ("sns", "json_patterns.sns", "members_of", lambda _: ()),
    "numbers are texts": ("sns", "json_patterns.sns", "_number", lambda _, value: str(value)),
    "the body is the attributes": ("sns", "json_patterns.sns", "_MESSAGE", "Body"),
    "what is not certain is not negated": ("tamis", "decide", "_append_otherwise", lambda made: made.emit(Opcode.NOT)),
    "a negation is as narrow as its condition": (
        "tamis",
        "tamis.conditions",
        "ALWAYS",
        rails.every(rails.present("a"), rails.present("b")),
    ),
    "case is not ignored": ("tamis", "folding", "_OPCODES", dict.fromkeys(Op, (Opcode.EQ, Mixed.FALSE))),
    "texts that ignore case are looked up": (
        "tamis",
        "folding",
        "undecided",
        lambda _, *rest: rails.undecided(holds("x", Op.EQ, "Bob"), *rest),
    ),
    "a network of any size is its octets": ("tamis", "networks", "_OCTET_BITS", 4),
    "a computed value of another kind is unequal": (
        "tamis",
        "tamis.program",
        "_OF_VALUES",
        computed._OF_VALUES | {"!=": (Opcode.EQ, Mixed.FALSE)},
    ),
    "a computed remainder is a quotient": (
        "tamis",
        "tamis.program",
        "_OF_VALUES",
        computed._OF_VALUES | {"%": (Opcode.DIV, Arithmetic.REAL)},
    ),
    "a program has the first condition alone": (
        "tamis",
        "tamis.tamis",
        "_undecided",
        lambda node: next(iter(getattr(node, "children", (node,)))),
    ),
    "of alternatives the undecided ones count": (
        "tamis",
        "tamis.tamis",
        "_undecided",
        lambda node: UNDECIDED(replace(node, conjunctive=True) if hasattr(node, "conjunctive") else node),
    ),
    "an attribute exists where it is asked for": ("tamis", "tamis.conditions", "present", lambda _: NEVER),
    "a value between two is the lower one": ("tamis", "tamis.program", "joined", first_alone),
    "an absent attribute is equal to nothing": ("pubsub", "pubsub.pubsub", "two_valued", three_valued),
}


def test_without_a_fault_nothing_is_found():
    assert [name for name in dialects.names() if is_found(name)] == []


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found(fault, monkeypatch):
    name, module, attribute, replacement = FAULTS[fault]
    changed = importlib.import_module(f"tamis.protocol.dialects.{module}")
    if attribute == "_NOT_OF_THE_BROKER":
        replacement = levels.exists("topic")
    if attribute == "complement":  # the functions of rails.py call it by its name there, others have their own
        monkeypatch.setattr("tamis.protocol.dialects.patterns.complement", replacement)
    monkeypatch.setattr(changed, attribute, replacement)
    assert is_found(name)
