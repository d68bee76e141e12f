"""The definition of a match, written plainly: every engine is compared with it.

Law: this file is the semantics. It is slow on purpose, and shares no code with the normal form, covering or any engine.
A constraint holds iff the message has the attribute, of an equal kind, and the value satisfies it; a negated one holds
iff the plain one does not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tamis.protocol.filters import Constraint, Filter, Op, Predicate
from tamis.protocol.values import Value, kind_of

_HOLDS: dict[Op, Callable[..., bool]] = {
    Op.EQ: lambda value, operand: value == operand,
    Op.NE: lambda value, operand: value != operand,
    Op.LT: lambda value, operand: value < operand,
    Op.LE: lambda value, operand: value <= operand,
    Op.GT: lambda value, operand: value > operand,
    Op.GE: lambda value, operand: value >= operand,
    Op.PREFIX: lambda value, operand: value.startswith(operand),
    Op.SUFFIX: lambda value, operand: value.endswith(operand),
    Op.CONTAINS: lambda value, operand: operand in value,
    Op.BETWEEN: lambda value, low, high: low <= value <= high,
}


def constraint_holds(constraint: Constraint, attributes: Mapping[str, Value]) -> bool:
    return _plain_holds(constraint, attributes) is not constraint.negated


def filter_matches(filter_: Filter, attributes: Mapping[str, Value]) -> bool:
    return all(constraint_holds(constraint, attributes) for constraint in filter_.constraints)


def predicate_matches(predicate: Predicate, attributes: Mapping[str, Value]) -> bool:
    return any(filter_matches(filter_, attributes) for filter_ in predicate.filters)


def _plain_holds(constraint: Constraint, attributes: Mapping[str, Value]) -> bool:
    if constraint.name not in attributes:
        return False
    value = attributes[constraint.name]
    alike = [operand for operand in constraint.operands if kind_of(operand) is kind_of(value)]
    if constraint.op is Op.EXISTS:
        return True
    if constraint.op is Op.IN:
        return value in alike
    return bool(alike) and _HOLDS[constraint.op](value, *alike)
