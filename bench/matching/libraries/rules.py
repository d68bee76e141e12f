"""Filters and messages in the form that every library is given.

Law: the kind of a value is part of its key (`s_price`, `i_price`, `b_price`), so that an attribute of another kind is
an absent one and no library compares unlike things. What has no form here (negation, other operators, floats, filters
without constraints, names that are no identifiers) no library expresses.
"""

from __future__ import annotations

from collections.abc import Mapping

from tamis.protocol.filters import Constraint, Filter, Op
from tamis.protocol.values import Value

Operand = str | int
Condition = tuple[str, str, Operand]  # key, operator, operand
Rule = tuple[Condition, ...]
Subject = dict[str, Operand]

_OPERATORS = {
    Op.EQ: "=",
    Op.LT: "<",
    Op.GT: ">",
    Op.PREFIX: "prefix",
    Op.SUFFIX: "suffix",
    Op.CONTAINS: "contains",
}
_KINDS: dict[type, str] = {str: "s_", int: "i_", bool: "b_"}


def rule_of(filter_: Filter) -> Rule | None:
    conditions = [_condition(constraint) for constraint in filter_.constraints]
    known = tuple(condition for condition in conditions if condition is not None)
    return known if known and len(known) == len(conditions) else None


def subject_of(attributes: Mapping[str, Value]) -> Subject:
    """ValueError for floats: an integer constant could match one, and no library would see it."""
    subject: Subject = {}
    for name, value in attributes.items():
        if isinstance(value, float):
            raise ValueError("libraries are compared on messages without floats")
        subject[_KINDS[type(value)] + name] = value
    return subject


def _condition(constraint: Constraint) -> Condition | None:
    if constraint.negated or constraint.op not in _OPERATORS or not constraint.name.isidentifier():
        return None
    operand = constraint.operands[0]
    if isinstance(operand, float) or not constraint.name.isascii():
        return None
    return _KINDS[type(operand)] + constraint.name, _OPERATORS[constraint.op], operand
