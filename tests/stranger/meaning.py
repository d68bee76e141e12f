"""When a filter admits a message, by docs/reference/language.md and the page's section Packed filters.

Law: written from the pages, in the plainest way: no table, no normal form. The kind of a value decides first, because
values of different kinds are never compared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.stranger import frames

Filter = Sequence[Sequence[Any]]
NUMBER, STRING, BOOLEAN = "number", "string", "boolean"


def kind(value: object) -> str:
    if isinstance(value, bool):  # before numbers: for Python true is one
        return BOOLEAN
    return STRING if isinstance(value, str) else NUMBER


def is_same(value: object, other: object) -> bool:
    return kind(value) == kind(other) and value == other


def is_ordered(value: object, other: object) -> bool:
    return kind(value) == kind(other) != BOOLEAN


_HOLDS: Mapping[int, Callable[..., bool]] = {
    frames.EXISTS: lambda _: True,
    frames.EQ: is_same,
    frames.IN: lambda value, *operands: any(is_same(value, operand) for operand in operands),
    frames.BETWEEN: lambda value, low, high: is_ordered(value, low) and low <= value <= high,
    frames.GT: lambda value, operand: is_ordered(value, operand) and value > operand,
    frames.GE: lambda value, operand: is_ordered(value, operand) and value >= operand,
    frames.LT: lambda value, operand: is_ordered(value, operand) and value < operand,
    frames.LE: lambda value, operand: is_ordered(value, operand) and value <= operand,
    frames.NE: lambda value, operand: kind(value) == kind(operand) and value != operand,
    frames.PREFIX: lambda value, operand: kind(value) == STRING and value.startswith(operand),
    frames.SUFFIX: lambda value, operand: kind(value) == STRING and value.endswith(operand),
    frames.CONTAINS: lambda value, operand: kind(value) == STRING and operand in value,
}


def holds(constraint: Sequence[Any], attributes: Mapping[str, Any]) -> bool:
    name, opcode, *operands = constraint
    plain = opcode % frames.NEGATED
    found = name in attributes and _HOLDS[plain](attributes[name], *operands)
    return found is not (opcode >= frames.NEGATED)


def admits(filter_: Filter, attributes: Mapping[str, Any]) -> bool:
    return all(holds(constraint, attributes) for constraint in filter_)


def satisfies(attributes: Mapping[str, Any], disjunction: Sequence[Filter]) -> bool:
    return any(admits(filter_, attributes) for filter_ in disjunction)
