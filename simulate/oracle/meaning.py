"""The meaning of filters, written for the judge.

Law: this is written from the language's description, not from its code; a test compares the two for all filters of the
workload. Contents hold integers, strings and booleans; a set of contents is an integer with a bit for each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Value = str | int | float | bool
Constraints = Sequence[tuple[str, str, tuple[Value, ...], bool]]


def contents_of(constraints: Constraints, contents: Sequence[Mapping[str, Value]]) -> int:
    bits = 0
    for number, attributes in enumerate(contents):
        if all(_holds(attributes, *constraint) for constraint in constraints):
            bits |= 1 << number
    return bits


def _holds(attributes: Mapping[str, Value], name: str, op: str, operands: tuple[Value, ...], negated: bool) -> bool:
    return (name in attributes and _satisfies(attributes[name], op, operands)) != negated


def _satisfies(value: Value, op: str, operands: tuple[Value, ...]) -> bool:
    if op == "exists":
        return True
    alike = [operand for operand in operands if _sort(operand) == _sort(value)]
    if op == "in":
        return any(value == operand for operand in alike)
    if not alike:
        return False
    if isinstance(value, str) and op in ("prefix", "suffix", "contains"):
        text = str(alike[0])
        at = value.find(text)
        return {"prefix": at == 0, "suffix": value[len(value) - len(text) :] == text, "contains": at >= 0}[op]
    return _compares(value, op, alike)


def _compares(value: Value, op: str, operands: list[Value]) -> bool:
    ends = [-1 if value < operand else int(value > operand) for operand in operands]  # type: ignore[operator]
    if op == "between":
        return ends[0] >= 0 >= ends[1]
    return {
        "=": ends[0] == 0,
        "!=": ends[0] != 0,
        "<": ends[0] < 0,
        "<=": ends[0] <= 0,
        ">": ends[0] > 0,
        ">=": ends[0] >= 0,
    }[op]


def _sort(value: Value) -> str:
    if isinstance(value, bool):
        return "boolean"
    return "text" if isinstance(value, str) else "number"
