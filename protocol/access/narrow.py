"""The filters of a subscription AND-ed with the rules of who receives its messages.

Law: each message that satisfies the subscription and is allowed satisfies the result, so a router that asks others for
the result alone misses nothing that it may hand over. A result that would be too large is None: the rules bound nothing
then, which costs traffic, since the guard at the hand decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Final

from tamis.protocol import limits
from tamis.protocol.covering.covers import covers
from tamis.protocol.covering.meets import may_meet
from tamis.protocol.errors import NeverMatches
from tamis.protocol.filters import Constraint, Filter
from tamis.protocol.normal import normalize

NARROWED_FILTERS_MAX: Final = limits.DISJUNCTS_MAX
"""The most filters of one subscription with its rules."""


class _TooLarge(Exception):
    """A filter or their number would exceed its limit."""


def narrowed(
    wanted: Sequence[Filter], allowed: Sequence[Filter], denied: Sequence[Filter]
) -> tuple[Filter, ...] | None:
    """Return filters of all messages that satisfy one of `wanted` and one of `allowed` and none of `denied`, each as it
    is where the rules leave it whole; None if they are more than NARROWED_FILTERS_MAX, or one is too long."""
    try:
        return tuple(_bounded(each for filter_ in wanted for each in _narrowed(filter_, allowed, denied)))
    except _TooLarge:
        return None


def _narrowed(filter_: Filter, allowed: Sequence[Filter], denied: Sequence[Filter]) -> list[Filter]:
    if any(covers(each, filter_) for each in allowed):
        left = [filter_]
    else:
        left = _bounded(part for each in allowed for part in _both(filter_, each.constraints))
    for denial in denied:
        left = _bounded(part for each in left for part in _without(each, denial))
    return left


def _without(filter_: Filter, denial: Filter) -> Iterator[Filter]:
    """Yield filters of the messages of `filter_` that do not satisfy `denial`."""
    if may_meet(filter_, denial):
        for constraint in denial.constraints:
            yield from _both(filter_, (constraint.negate(),))
    else:
        yield filter_


def _both(filter_: Filter, more: tuple[Constraint, ...]) -> Iterator[Filter]:
    """Yield the filter with `more` constraints, unless it contradicts them."""
    constraints = tuple(dict.fromkeys(filter_.constraints + more))
    if len(constraints) > limits.CONSTRAINTS_MAX:
        raise _TooLarge
    with suppress(NeverMatches):
        yield normalize(Filter(constraints))


def _bounded(filters: Iterable[Filter]) -> list[Filter]:
    """Return the filters without repetitions."""
    found: dict[Filter, None] = {}
    for each in filters:
        found[each] = None
        if len(found) > NARROWED_FILTERS_MAX:
            raise _TooLarge
    return list(found)
