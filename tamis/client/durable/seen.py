"""Which messages of a keep an application has been given, and which of these it has settled.

Law: a message that the application has settled is never given to it again. One that it was given on an earlier
attachment and has not settled is not given again either, since it holds that message, and what it says of it counts.
What comes again on one attachment, because no word of it came in time, is given again. The newest `most` identities are
known, and up to an eighth more, so that what is older may come twice; it says so by its `deliveries`.
"""

from __future__ import annotations

from itertools import islice
from typing import Final

IDS_MAX: Final = 65_536
"""Identities that are remembered of one keep."""
COPIES_MAX: Final = 16
"""Positions of one message that are acknowledged together. One under which it came beyond these is acknowledged when it
comes again."""

Given = tuple[int, ...]
"""Of a message that the application has and has not settled: by which attachment it came last, the position under which
it was given, and other positions under which it came."""
SETTLED: Final[Given] = ()


class SeenIds:
    """The messages of one keep, for the life of the client; with `most` 0 none is known."""

    __slots__ = ("_most", "given", "room")

    def __init__(self, most: int = IDS_MAX) -> None:
        self.given: dict[bytes, Given] = {}
        """By identity, in the order in which they were given first. `Attached` reads and writes it for the ordinary
        message, as a call for each would take longer than the rest."""
        self._most = self.room = 0
        self.remember(most)

    def remember(self, most: int) -> None:
        """Remember `most` identities, if these are more than before. Past `room` the oldest are to be forgotten."""
        self._most = max(self._most, most)
        self.room = self._most + self._most // 8

    def hides(self, id_: bytes, attachment: int, position: int) -> bool:
        """Take in that a message comes that is known; return whether it is not to be given."""
        known = self.given[id_]
        if not known:
            return True
        _, first, *others = known
        if position != first and position not in others and len(others) < COPIES_MAX:
            others.append(position)
        self.given[id_] = (attachment, first, *others)
        return known[:2] != (attachment, position)

    def is_settled(self, id_: bytes) -> bool:
        return self.given.get(id_) == SETTLED

    def forget_oldest(self) -> None:
        """Forget all but the newest: many at a time, as finding the oldest of a dict takes a while."""
        for id_ in list(islice(self.given, len(self.given) - self._most)):
            del self.given[id_]

    def settle(self, id_: bytes, position: int) -> Given:
        """Note that the application has settled a message; return its positions, none if it had done so before."""
        known = self.given.get(id_)
        if known is None:
            return (position,)
        if not known:
            return ()
        self.given[id_] = SETTLED
        positions = known[1:]
        return positions if position in positions else (*positions, position)

    def wants_again(self, id_: bytes) -> None:
        """Forget a message, which the application wants to be given again."""
        self.given.pop(id_, None)
