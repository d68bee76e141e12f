"""Paper 001, section 4.2: reuse of lookups where routers forward only subscriptions that no other one covers.

    at a: s1, s2 (s1 covers s2)    b has s1 from a    an event for both enters at b: the list of keys is {s1}

Law: a router tells a neighbour the subscriptions of its clients and of its other neighbours, but for those that another
of them covers; equal ones by their number. A list that was found in a table that lacks covered ones is not complete,
whatever its length; `complete_lists` believes it nevertheless, as the text does.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

Interval = tuple[float, float]
Box = Sequence[Interval]
"""A subscription: an interval for each attribute."""


def holds(box: Box, event: Sequence[float]) -> bool:
    return all(low <= value <= high for (low, high), value in zip(box, event, strict=True))


def covers(one: Box, other: Box) -> bool:
    return all(a <= c and d <= b for (a, b), (c, d) in zip(one, other, strict=True))


@dataclass(slots=True)
class CoveredReach:
    """Subscriptions that got the event, and the matches that all routers made."""

    delivered: set[int] = field(default_factory=set)
    matches: int = 0


class CoveredTree:
    """A tree of routers; `homes` is the router of each subscription."""

    def __init__(
        self, neighbours: Mapping[int, Collection[int]], boxes: Sequence[Box], homes: Sequence[int], covering: bool
    ) -> None:
        self._neighbours, self._boxes, self._covering = neighbours, boxes, covering
        self._own: dict[int, set[int]] = {router: set() for router in neighbours}
        for number, home in enumerate(homes):
            self._own[home].add(number)
        self._told: dict[tuple[int, int], set[int]] = {}

    def told(self, by: int, to: int) -> set[int]:
        """What a router has told a neighbour: the table of that link."""
        if (by, to) not in self._told:
            others = (self.told(other, by) for other in self._neighbours[by] if other != to)
            known = self._own[by].union(*others)
            self._told[by, to] = {each for each in known if not self._is_covered(each, known)}
        return self._told[by, to]

    def _is_covered(self, one: int, known: set[int]) -> bool:
        box = self._boxes[one]
        return self._covering and any(
            other != one and covers(self._boxes[other], box) and (other < one or not covers(box, self._boxes[other]))
            for other in known
        )

    def wanted(self, event: Sequence[float]) -> set[int]:
        return {number for number, box in enumerate(self._boxes) if holds(box, event)}

    def never(self, event: Sequence[float], entry: int) -> CoveredReach:
        return self.partial(event, entry, 0, complete_lists=False)

    def always(self, event: Sequence[float], entry: int) -> CoveredReach:
        """The first router finds all that its tables have, and nobody matches after it."""
        return self.partial(event, entry, len(self._boxes) + 1, complete_lists=True)

    def partial(self, event: Sequence[float], entry: int, limit: int, complete_lists: bool) -> CoveredReach:
        wanted, reached = self.wanted(event), CoveredReach()
        waiting: list[tuple[int, int | None, set[int], bool]] = [(entry, None, set(), False)]
        while waiting:
            router, came_from, keys, is_complete = waiting.pop()
            reached.matches += not is_complete
            reached.delivered |= self._own[router] & (keys if is_complete else wanted)
            for link in self._neighbours[router]:
                if link == came_from:
                    continue
                table = self.told(link, router)
                onward, is_all = keys & table, is_complete
                goes = bool(onward)
                if not onward and not is_complete:
                    found = sorted(table & wanted)
                    reached.matches += 1
                    goes = bool(found)
                    onward, is_all = set(found[:limit]), complete_lists and len(found) <= limit
                if goes:
                    waiting.append((link, router, onward, is_all))
        return reached
