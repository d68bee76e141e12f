"""From the rights of a class to the guards of the switch: one for its door, one for its hand, and one for each set of
its rights that decides about a durable subscription.

Law: a guard has exactly the filters by which `ClassRights` decides; each reason names the role and the constraint.
"""

from __future__ import annotations

from collections.abc import Iterable

from tamis.native.guards import GuardRules
from tamis.protocol.access.decision import Verb
from tamis.protocol.access.judge import RulePart
from tamis.protocol.access.rights import ClassRights
from tamis.protocol.filters import Constraint, Filter
from tamis.protocol.language.format import format_filter
from tamis.protocol.language.literals import write_name


def door_rules(rights: ClassRights) -> GuardRules:
    """Return the filters of messages that may come in, with the reasons for their publishers."""
    allows, denies = rights.allowing(Verb.PUBLISH), rights.denying(Verb.PUBLISH)
    reasons = [
        f"role {part.role} allows publish where {format_filter(filter_)}, and {_written(each)} does not hold"
        for part, filter_ in _filters(allows)
        for each in filter_.constraints
    ]
    reasons += [f"role {part.role} denies it where {format_filter(filter_)}" for part, filter_ in _filters(denies)]
    return _rules(allows, denies, (*reasons, "no role allows publish"))


def hand_rules(rights: ClassRights, more: Iterable[RulePart] = ()) -> GuardRules:
    """Return the filters of messages that a client may get. `more`: rules that allow some besides `subscribe`."""
    return _rules([*rights.allowing(Verb.SEES), *more], rights.denying(Verb.SEES), ())


def refuse_rules(allows: Iterable[RulePart]) -> GuardRules:
    """Return the filters of messages that a durable subscription may turn away when it is full."""
    return _rules(allows, (), ())


def _written(constraint: Constraint) -> str:
    return format_filter(Filter((constraint,)))


def stamp_reason(rights: ClassRights) -> str:
    """Return why a message is refused that has an attribute of a stamp."""
    stamps = ", ".join(
        f"role {role.name} stamps {' and '.join(map(write_name, role.stamp))}" for role in rights.roles if role.stamp
    )
    return f"{stamps}, which a client may not set"


def _rules(allows: Iterable[RulePart], denies: Iterable[RulePart], reasons: tuple[str, ...]) -> GuardRules:
    allowed = tuple(filter_ for _, filter_ in _filters(allows))
    return GuardRules(allowed, tuple(filter_ for _, filter_ in _filters(denies)), reasons)


def _filters(parts: Iterable[RulePart]) -> list[tuple[RulePart, Filter]]:
    return [(part, filter_) for part in parts for filter_ in part.rule.predicate.filters]
