"""The reasons why a predicate matches a message or does not, constraint by constraint.

Law: `evaluate.py` decides whether a constraint holds; this file only adds the value in the message.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tamis.protocol.evaluate import constraint_holds
from tamis.protocol.filters import Constraint, Filter, Predicate
from tamis.protocol.language.literals import write_name, write_value
from tamis.protocol.values import Value, kind_of


@dataclass(frozen=True, slots=True)
class ConstraintVerdict:
    """Whether one constraint holds. `value` is the value of the attribute in the message; None if the message lacks the
    attribute."""

    constraint: Constraint
    holds: bool
    value: Value | None

    @property
    def other_kind(self) -> bool:
        """Whether the message has a value of a kind that no operand has, which prevents a comparison."""
        operands = self.constraint.operands
        return self.value is not None and bool(operands) and kind_of(self.value) not in map(kind_of, operands)

    @property
    def seen(self) -> str:
        """The value as text: `severity is 6`."""
        name = write_name(self.constraint.name)
        if self.value is None:
            return f"{name} is absent"
        kind = f"the {kind_of(self.value).name.lower()} " if self.other_kind else ""
        return f"{name} is {kind}{write_value(self.value)}"


@dataclass(frozen=True, slots=True)
class FilterVerdict:
    filter: Filter
    constraints: tuple[ConstraintVerdict, ...]

    @property
    def matches(self) -> bool:
        return all(verdict.holds for verdict in self.constraints)


@dataclass(frozen=True, slots=True)
class Explanation:
    filters: tuple[FilterVerdict, ...]

    @property
    def matches(self) -> bool:
        return any(verdict.matches for verdict in self.filters)


def explain(predicate: Predicate, attributes: Mapping[str, Value]) -> Explanation:
    return Explanation(tuple(_filter_verdict(filter_, attributes) for filter_ in predicate.filters))


def _filter_verdict(filter_: Filter, attributes: Mapping[str, Value]) -> FilterVerdict:
    verdicts = (
        ConstraintVerdict(constraint, constraint_holds(constraint, attributes), attributes.get(constraint.name))
        for constraint in filter_.constraints
    )
    return FilterVerdict(filter_, tuple(verdicts))
