"""The messages of a durable subscription that the application was given, and those of them that it has settled.

Law: a settled message is never given to the application again. One that was given to an earlier consumer and is not
settled is not given again either, since the application still holds it and may settle it. One that arrives again on one
consumer, because its acknowledgement timed out, is given again. The newest `most` identities are known, and up to an
eighth more; older messages may be given twice, which their `deliveries` show.
"""

from __future__ import annotations

from itertools import islice
from typing import Final

IDS_MAX: Final = 65_536
"""Identities that are remembered for each durable subscription, by default."""
COPIES_MAX: Final = 16
"""The most positions of one message that are acknowledged together. One beyond these is acknowledged when the message
arrives again under it."""

Given = tuple[int, ...]
"""Of a message that was given and is not settled: the consumer by which it arrived last, the position under which it
was given, and other positions under which it arrived."""
SETTLED: Final[Given] = ()


class SeenIds:
    """The messages of one durable subscription, for the life of the client; with `most` 0 none is remembered."""

    __slots__ = ("_most", "given", "room")

    def __init__(self, most: int = IDS_MAX) -> None:
        self.given: dict[bytes, Given] = {}
        """By identity, in the order in which the messages were first given. `ConsumerState` uses it, to save
        a call for each message."""
        self._most = self.room = 0
        self.remember(most)

    def remember(self, most: int) -> None:
        """Remember at least `most` identities. Beyond `room` the oldest are to be forgotten."""
        self._most = max(self._most, most)
        self.room = self._most + self._most // 8

    def hides(self, id_: bytes, consumer: int, position: int) -> bool:
        """Record that a known message has arrived; return whether it is to be hidden."""
        known = self.given[id_]
        if not known:
            return True
        _, first, *others = known
        if position != first and position not in others and len(others) < COPIES_MAX:
            others.append(position)
        self.given[id_] = (consumer, first, *others)
        return known[:2] != (consumer, position)

    def is_settled(self, id_: bytes) -> bool:
        return self.given.get(id_) == SETTLED

    def forget_oldest(self) -> None:
        """Forget all but the newest `most`, in one batch, since finding the oldest entries of a dict is slow."""
        for id_ in list(islice(self.given, len(self.given) - self._most)):
            del self.given[id_]

    def settle(self, id_: bytes, position: int) -> Given:
        """Record that the application has settled a message; return its positions, none if it was settled before."""
        known = self.given.get(id_)
        if known is None:
            return (position,)
        if not known:
            return ()
        self.given[id_] = SETTLED
        positions = known[1:]
        return positions if position in positions else (*positions, position)

    def wants_again(self, id_: bytes) -> None:
        """Forget a message that the application wants to receive again."""
        self.given.pop(id_, None)
