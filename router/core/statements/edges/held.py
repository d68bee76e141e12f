"""E3, E4: what a neighbour has said of the routers behind it.

Law: what is held is relied on while it is *complete*: the neighbour said so, in the session that is up, and nothing of
it was lost. Whatever is not complete counts as everything. What was held before stays as it was until the whole has
been said again, and changes to that at once (the last word): nobody who was told of it is told that it shrank.

    unknown --full--> hearing --complete--> complete
                         '---- something is missing, or the session ended ----'
                                              v
                  doubted, the last word stays --full--> hearing beside it --complete--> complete
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from tamis.protocol.limits import COLLECTED_BYTES_MAX
from tamis.protocol.wire import numbers
from tamis.protocol.wire.edge_bodies import EdgeStatement
from tamis.router.core.statements.edges.places import EdgePlace
from tamis.router.core.statements.sizes import size_of

IDS_END: Final = 1 << 63
"""Ids of filters that neighbours say lie below; those above are this router's own, for filters that match all."""


class Missed(Exception):
    """A statement does not follow from what is held: the whole must be said again."""


class TooMuch(Exception):
    """What is said of an edge would pass COLLECTED_BYTES_MAX: it goes on counting as everything."""


class EdgeChange(NamedTuple):
    """How what is held of an edge has changed."""

    added: Mapping[int, bytes]
    removed: Mapping[int, bytes]


NO_CHANGE: Final = EdgeChange({}, {})


class HeldEdge:
    """What is held of one edge. `filters` is read by whoever passes it on."""

    def __init__(self, place: EdgePlace) -> None:
        self.place = place
        self.number: Final = place.number
        self.filters: dict[int, bytes] = {}
        self.session = 0
        """The session in which the edge is spoken of; 0: the link is down."""
        self.is_complete = False
        self.is_answered = False
        """Whether the whole was said, or is being said, in this session."""
        self.guard: int | None = None
        """The id under which the table has everything for this edge; None: it has not."""
        self.tries = 0
        """How often the whole was asked for since something of it came."""
        self.seq = 0
        self.epoch = 0
        self.digest = numbers.NO_DIGEST
        self._size = 0
        """The size of what is being said (`sizes.py`)."""
        self._beside: dict[int, bytes] | None = None
        """What has been said of a new whole, while another is the last word."""

    def is_said_in(self, session: int) -> bool:
        """E4: return whether the whole was said, or is being said, in `session`, and nothing of it was missed."""
        return self.session == session and self.is_answered

    def doubt(self) -> None:
        """Rely on what is held no longer, until the whole is said again."""
        self.is_complete = self.is_answered = False
        self._beside = None

    def hear(self, body: EdgeStatement) -> EdgeChange:
        """Take a statement, and return what it changes; Missed if it does not follow from those before, TooMuch if it
        is more than is kept of an edge."""
        if body.full:
            self._beside = {} if self.filters else None
            self.digest, self.is_complete, self._size = numbers.NO_DIGEST, False, 0
        elif not self.is_answered or (body.base_seq, body.epoch) != (self.seq, self.epoch):
            raise Missed
        change = self._change(self.filters if self._beside is None else self._beside, body)
        self.seq, self.epoch, self.digest, self.is_answered = body.seq, body.epoch, body.digest, True
        self.tries = 0
        self.is_complete = body.complete
        if self._beside is None:
            return change
        return self._swap() if body.complete else NO_CHANGE

    def _change(self, filters: dict[int, bytes], body: EdgeStatement) -> EdgeChange:
        """Apply the change that `body` says to `filters`."""
        added = {id_: packed for id_, packed, _ in body.added}
        gone = {id_: filters[id_] for id_ in body.removed if id_ in filters}
        is_sound = len(added) == len(body.added) and len(gone) == len(body.removed)
        if not is_sound or not added.keys().isdisjoint(filters) or max(added, default=0) >= IDS_END:
            raise Missed
        weight = numbers.weight_of(added.items()) - numbers.weight_of(gone.items())
        count = len(filters) + len(added) - len(gone)
        if (numbers.moved(self.digest, weight), count) != (body.digest, body.count):
            raise Missed
        size = self._size + size_of(added.values()) - size_of(gone.values())
        if size > COLLECTED_BYTES_MAX:
            raise TooMuch
        self._size = size
        filters.update(added)
        for id_ in gone:
            del filters[id_]
        return EdgeChange(added, gone)

    def _swap(self) -> EdgeChange:
        """Let the whole that was said anew take the place of the last word."""
        before, self.filters, self._beside = self.filters, self._beside or {}, None
        added = {id_: packed for id_, packed in self.filters.items() if before.get(id_) != packed}
        return EdgeChange(added, {id_: packed for id_, packed in before.items() if self.filters.get(id_) != packed})
