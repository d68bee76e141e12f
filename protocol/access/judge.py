"""How rules decide, about a message, about all messages that a predicate asks for, and about a name.

Law: denials are asked first, and one that holds decides; then the first rule that allows decides; else the request is
refused, and the reason is the alternative of which the fewest constraints fail.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from tamis.protocol import limits
from tamis.protocol.access.decision import Decision, Verb
from tamis.protocol.access.patterns import NamePattern, first_match
from tamis.protocol.access.rule import AccessRule
from tamis.protocol.covering.covers import covers
from tamis.protocol.covering.meets import may_meet
from tamis.protocol.evaluate import filter_matches, predicate_matches
from tamis.protocol.explain import explain
from tamis.protocol.filters import Filter, Predicate
from tamis.protocol.language.format import format_filter
from tamis.protocol.values import Value

Attributes = Mapping[str, Value]


_Alternative = tuple[str, Filter]
"""A filter of a rule, and its role."""


class RulePart(NamedTuple):
    """One rule of one role."""

    role: str
    rule: AccessRule


def judged(verb: Verb, own: str, attributes: Attributes, allows: list[RulePart], denies: list[RulePart]) -> Decision:
    """Return the decision about one message."""
    for part in denies:
        denied = _first_match(part.rule.bound(own), attributes)
        if denied is not None:
            reason = f"role {part.role} denies it where {format_filter(denied)}"
            return Decision(verb, False, part.role, reason, next(iter(denied.constraints), None))
    for part in allows:
        allowed = _first_match(part.rule.bound(own), attributes)
        if allowed is not None:
            reason = f"role {part.role} allows {verb.value} where {format_filter(allowed)}"
            return Decision(verb, True, part.role, reason, next(iter(allowed.constraints), None))
    return _nearest(verb, own, attributes, allows)


def within(verb: Verb, own: str, wanted: Predicate, allows: list[RulePart], denies: list[RulePart]) -> Decision:
    """Return the decision about a request for all messages that satisfy `wanted`. It is refused only if certainly none
    of them is allowed."""
    allowed, denied = _alternatives(allows, own), _alternatives(denies, own)
    if not allowed:
        return Decision(verb, False, reason=f"no role allows {verb.value}")
    parts = [_filter_within(filter_, allowed, denied) for filter_ in wanted.filters]
    role = next((each.role for each in parts if each.is_open), "")
    if role:
        narrowed = not all(each.is_whole for each in parts)
        what = "a part of it" if narrowed else "it"
        return Decision(verb, True, role, f"role {role} allows {what}", narrowed=narrowed)
    denial = next((each for each in parts if each.reason), None)
    if denial is not None:
        return Decision(verb, False, denial.role, denial.reason)
    role = allowed[0][0]
    return Decision(verb, False, role, f"no message satisfies the request and what role {role} allows")


class _FilterWithin(NamedTuple):
    """How much of one filter is allowed. `is_open`: some of it may be; `is_whole`: all of it is; `reason`: of a denial
    of all of it."""

    role: str = ""
    is_open: bool = False
    is_whole: bool = False
    reason: str = ""


def _filter_within(filter_: Filter, allowed: list[_Alternative], denied: list[_Alternative]) -> _FilterWithin:
    met = [(role, both) for role, each in allowed if (both := _conjunction(filter_, each)) is not None]
    left = [role for role, both in met if not any(covers(each, both) for _, each in denied)]
    if left:
        is_whole = any(covers(each, filter_) for _, each in allowed) and not any(
            may_meet(d, filter_) for _, d in denied
        )
        return _FilterWithin(left[0], True, is_whole)
    if not met:
        return _FilterWithin()
    role, denial = next((role, each) for role, each in denied if covers(each, met[0][1]))
    return _FilterWithin(role, reason=f"role {role} denies all of it where {format_filter(denial)}")


def _alternatives(parts: list[RulePart], own: str) -> list[_Alternative]:
    return [(part.role, each) for part in parts for each in part.rule.bound(own).filters]


def named(
    verb: Verb,
    own: str,
    name: str,
    given: Iterable[tuple[str, tuple[NamePattern, ...]]],
    *,
    hides: bool = False,
) -> Decision:
    """Return the decision about one name."""
    nearest = ""
    for role, patterns in given:
        if patterns and (pattern := first_match(patterns, name, own)) is not None:
            return Decision(verb, True, role, f"role {role} allows {verb.value} of {pattern.text}")
        if patterns and not nearest:
            nearest = role
            allowed = ", ".join(pattern.text for pattern in patterns)
    if not nearest:
        return Decision(verb, False, reason=f"no role allows {verb.value}", hides=hides)
    return Decision(verb, False, nearest, f"role {nearest} allows {verb.value} of {allowed}", hides=hides)


def _conjunction(a: Filter, b: Filter) -> Filter | None:
    """Return the filter of both; None if they contradict each other. One with too many constraints is `a` alone, of
    which less is refused for sure."""
    if not may_meet(a, b):
        return None
    constraints = tuple(dict.fromkeys(a.constraints + b.constraints))
    return Filter(constraints) if len(constraints) <= limits.CONSTRAINTS_MAX else a


def _first_match(predicate: Predicate, attributes: Attributes) -> Filter | None:
    if not predicate_matches(predicate, attributes):
        return None
    return next(filter_ for filter_ in predicate.filters if filter_matches(filter_, attributes))


def _nearest(verb: Verb, own: str, attributes: Attributes, allows: list[RulePart]) -> Decision:
    """Return the refusal by the alternative of which the fewest constraints fail, and the first of those."""
    found = [
        ([each for each in verdict.constraints if not each.holds], part.role, verdict.filter)
        for part in allows
        for verdict in explain(part.rule.bound(own), attributes).filters
    ]
    if not found:
        return Decision(verb, False, reason=f"no role allows {verb.value}")
    failing, role, filter_ = min(found, key=lambda each: len(each[0]))
    reason = f"role {role} allows {verb.value} where {format_filter(filter_)}, and {failing[0].seen}"
    return Decision(verb, False, role, reason, failing[0].constraint)
