"""Filters and messages as JSON lines: what is read, what is written, and what is said of the rest."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

from tamis.protocol import limits
from tamis.protocol.errors import Refused
from tamis.protocol.filters import Constraint, Filter, Op
from tamis.protocol.json_form import (
    decode_constraint,
    decode_filter,
    decode_message,
    decode_table_line,
    encode_constraint,
    encode_filter,
)
from tests.strategies import filters, wide_attributes

FORMS = [
    (["x", "=", 1], Constraint("x", Op.EQ, (1,))),
    (["x", "!=", 1.5], Constraint("x", Op.NE, (1.5,))),
    (["x", "<", "a"], Constraint("x", Op.LT, ("a",))),
    (["x", "<=", 1], Constraint("x", Op.LE, (1,))),
    (["x", ">", 1], Constraint("x", Op.GT, (1,))),
    (["x", ">=", 1], Constraint("x", Op.GE, (1,))),
    (["x", "prefix", "ab"], Constraint("x", Op.PREFIX, ("ab",))),
    (["x", "suffix", "ab"], Constraint("x", Op.SUFFIX, ("ab",))),
    (["x", "contains", ""], Constraint("x", Op.CONTAINS, ("",))),
    (["x", "exists"], Constraint("x", Op.EXISTS)),
    (["x", "in", [1, 2]], Constraint("x", Op.IN, (1, 2))),
    (["x", "between", [1, 2]], Constraint("x", Op.BETWEEN, (1, 2))),
    (["x", "=", True], Constraint("x", Op.EQ, (True,))),
    (["x", "not", "prefix", "ab"], Constraint("x", Op.PREFIX, ("ab",), True)),
    (["x", "not", "exists"], Constraint("x", Op.EXISTS, (), True)),
    (["x", "not", "in", [1]], Constraint("x", Op.IN, (1,), True)),
    (["not", "not", "=", "not"], Constraint("not", Op.EQ, ("not",), True)),
]


@pytest.mark.parametrize(("form", "constraint"), FORMS, ids=lambda part: ascii(part)[:30])
def test_constraints_both_ways(form: list[object], constraint: Constraint) -> None:
    assert decode_constraint(form) == constraint
    assert encode_constraint(constraint) == form


def test_substring_is_read_and_never_written() -> None:
    constraint = decode_constraint(["x", "substring", "ab"])
    assert constraint == Constraint("x", Op.CONTAINS, ("ab",))
    assert encode_constraint(constraint) == ["x", "contains", "ab"]


@given(filters())
def test_filters_are_written_and_read_back(filter_: Filter) -> None:
    assert decode_filter(json.loads(json.dumps(encode_filter(filter_)))) == filter_
    line = json.dumps({"i": "a", "f": encode_filter(filter_)})
    assert decode_table_line(line) == ("a", filter_)


@given(wide_attributes())
def test_messages_are_read(attributes) -> None:
    read = decode_message(json.dumps(attributes))
    assert [(name, type(value), value) for name, value in read.items()] == [
        (name, type(value), value) for name, value in attributes.items()
    ]


def test_the_lines_of_the_architecture() -> None:
    line = decode_table_line('{"i": 7, "f": [["price", "<", 500], ["dest", "=", "MXP"]]}')
    assert line.interface == 7
    assert line.filter == Filter((Constraint("price", Op.LT, (500,)), Constraint("dest", Op.EQ, ("MXP",))))
    assert decode_message('{"price": 300, "dest": "MXP"}') == {"price": 300, "dest": "MXP"}
    assert decode_table_line('{"f": [], "i": "a"}') == ("a", Filter())


@pytest.mark.parametrize(
    ("form", "reason"),
    [
        ("x", 'a constraint is [name, op, value] or [name, "not", op, value], not "x"'),
        (["x"], "a constraint is [name, op, value]"),
        (["x", "not", "=", 1, 2], "a constraint is [name, op, value]"),
        (["x", "not"], "no operator null"),
        (["x", "~", 1], 'no operator "~"; one of exists, =, in'),
        (["x", ["="], 1], 'no operator ["="]'),
        (["x", "not", "not", "exists"], 'no operator "not"'),
        (["x", "="], "operator = takes 1 value, this one has 0"),
        (["x", "=", 1, 2], "operator = takes 1 value, this one has 2"),
        (["x", "exists", 1], "operator exists takes 0 values"),
        (["x", "in", 1], "operator in takes one list of values"),
        (["x", "between", 1, 2], "operator between takes one list of values"),
        (["x", "in", []], "takes 1 to 256 values"),
        (["x", "between", [2, 1]], "lower bound first"),
        (["x", "=", None], "a value is a string, an integer, a float or a boolean, not null"),
        (["x", "=", [1]], "not a list"),
        (["x", "prefix", 1], "takes a string"),
        ([1, "=", 1], "an attribute name is a string, not int"),
        (["", "=", 1], "this one is empty"),
        (["x", "=", 2**63], "outside 64 bits"),
    ],
)
def test_constraints_that_are_refused(form: object, reason: str) -> None:
    with pytest.raises(Refused) as caught:
        decode_filter([form])
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("", "not JSON: Expecting value at column 1"),
        ("[]", 'a filter line is {"i": INTERFACE, "f": [CONSTRAINT, ...]}'),
        ('{"i": 1}', "a filter line is"),
        ('{"i": 1, "f": [], "x": 1}', "a filter line is"),
        ('{"i": 1, "i": 2, "f": []}', "the name 'i' appears twice"),
        ('{"i": true, "f": []}', '"i" is an integer or a string, not true'),
        ('{"i": 1.5, "f": []}', '"i" is an integer or a string'),
        ('{"i": 1, "f": {}}', "a filter is a list of constraints, not {}"),
        ('{"i": 1, "f": [["x", "=", NaN]]}', "a float must be finite, not NaN"),
        ('{"i": 1, "f": [["x", "=", 1e999]]}', "a float must be finite"),
        ('{"i": 1, "f": ' + "[" * 100_000, "nested too deep"),
        ('{"i": 1, "f": [["x", "=", ' + "9" * 5_000 + "]]}", "not JSON that can be read"),
        (json.dumps({"i": 1, "f": [["x", "exists"]] * 17}), "at most 16 constraints, this one 17"),
    ],
    ids=lambda part: ascii(part)[:40],
)
def test_table_lines_that_are_refused(line: str, reason: str) -> None:
    with pytest.raises(Refused) as caught:
        decode_table_line(line)
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "not JSON"),
        ("3", "a message is an object such as"),
        ('{"a": 1, "a": 2}', "the name 'a' appears twice"),
        ('{"a": Infinity}', "a float must be finite, not Infinity"),
        ('{"a": null}', "attribute 'a': a value is a string"),
        ('{"a": {"b": 1}}', "attribute 'a': a value is a string"),
        ('{"": 1}', "this one is empty"),
        ('{"a": "\\ud800"}', "must be valid Unicode"),
        ('{"a": 9223372036854775808}', "outside 64 bits"),
        (json.dumps({f"a{n}": n for n in range(limits.ATTRIBUTES_MAX + 1)}), "at most 64 attributes, this one has 65"),
    ],
)
def test_messages_that_are_refused(line: str, reason: str) -> None:
    with pytest.raises(Refused) as caught:
        decode_message(line)
    assert reason in str(caught.value)
