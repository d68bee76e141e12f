"""Durable subscriptions with several homes: which statements are copies of one, and the order in which these serve.

Law: durable subscriptions of one name are copies of one if they have the same homes, which are their routers, the same
owner and the same filters. The first of the list that is in reach serves; a copy that was made again, after its disk
was lost, comes behind the older ones, since it lacks what they have.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from tamis.protocol.wire.home_bodies import StatedDurable
from tamis.protocol.wire.numbers import stable_number
from tamis.router.durable.catalog import DurableCreated

AT_ONCE_MS: Final = 3_000
"""Copies that were made within this time are of one age: the homes make theirs one after another, and clocks differ."""
StatedAt = tuple[str, StatedDurable]
"""A durable subscription with its router."""


def homes_of(stated: StatedDurable) -> tuple[str, ...]:
    """Return the homes of a durable subscription, if it has several."""
    return stated.copy[0].homes if stated.copy else ()


def counted_copy(home: int, stated: StatedDurable) -> tuple[int, int]:
    """Return the number that copies of what router `home` states share, and how many of them a message needs to be
    held; twice 0 if it needs this one in any case."""
    for homes, _, policy, _ in stated.copy:
        if 0 < policy.copies_min <= len(homes) and home in map(stable_number, homes):
            return DurableCreated(stated.name, stated.owner, policy, homes=homes).copies, policy.copies_min
    return 0, 0


def are_copies(found: Sequence[StatedAt]) -> bool:
    """Return whether durable subscriptions of one name are copies of one."""
    whats = {(homes_of(stated), stated.owner, stated.filters) for _, stated in found}
    return len(whats) == 1 and all(router in homes_of(stated) for router, stated in found)


def serving(found: Sequence[StatedAt], is_in_reach: Callable[[str], bool]) -> StatedAt | None:
    """Return which of the copies `found` serves; None if no router of them is in reach."""
    reached = [(router, stated.copy[0]) for router, stated in found if is_in_reach(router)]
    if not reached:
        return None
    oldest_ms = min(copy.made_ms for _, copy in reached)

    def rank(router: str, made_ms: int, homes: tuple[str, ...]) -> tuple[int, int]:
        return max(made_ms - oldest_ms - AT_ONCE_MS, 0), homes.index(router)

    first = min(reached, key=lambda each: rank(each[0], each[1].made_ms, each[1].homes))[0]
    return next(each for each in found if each[0] == first)
