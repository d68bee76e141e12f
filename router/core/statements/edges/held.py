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

from collections import deque
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Final, NamedTuple

from tamis.protocol.limits import STATEMENT_BYTES_MAX
from tamis.protocol.wire import numbers
from tamis.protocol.wire.edge_bodies import EdgeStatement
from tamis.router.core.statements.edges.places import EdgePlace
from tamis.router.core.statements.sizes import size_of

IDS_END: Final = 1 << 63
"""Ids of filters that neighbours say lie below; those above are this router's own, for filters that match all."""
COMPARED_PER_SLICE: Final = 4_000
"""Filters of a whole that are compared with the last word in one slice: a few milliseconds."""
WAITING_BYTES_MAX: Final = 8 * STATEMENT_BYTES_MAX
"""What waits, of one edge, until the whole before it is compared; with more of it the whole is asked for again."""
EMPTY_BYTES: Final = 256
"""What a statement without filters counts for among those that wait."""


class Missed(Exception):
    """A statement does not follow from what is held: the whole must be said again."""


class TooMuch(Exception):
    """What is said of an edge would pass EDGES_BYTES_MAX, with what is held of all others: there is no room for it."""


class EdgeChange(NamedTuple):
    """How what is held of an edge has changed."""

    added: Mapping[int, bytes]
    removed: Mapping[int, bytes]


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
        """That of `filters` (`sizes.py`)."""
        self._beside: dict[int, bytes] | None = None
        """What has been said of a new whole, while another is the last word."""
        self._beside_size = 0
        self._comparing: Iterator[EdgeChange] | None = None
        """The rest of what it changes that the new whole takes the place of the last word."""
        self._changes: list[EdgeChange] = []
        """What it changes, as far as both have been compared."""
        self.whole_by: EdgeStatement | None = None
        """The statement that made the whole complete which is compared, or was the last time."""
        self._waiting: deque[EdgeStatement] = deque()
        self._waiting_size = 0

    @property
    def size(self) -> int:
        """The bytes of all that is held of the edge: the last word, a new whole beside it, and what waits."""
        return self._size + self._beside_size + self._waiting_size

    def is_said_in(self, session: int) -> bool:
        """E4: return whether the whole was said, or is being said, in `session`, and nothing of it was missed."""
        return self.session == session and self.is_answered

    def doubt(self) -> None:
        """Rely on what is held no longer, until the whole is said again."""
        self.is_complete = self.is_answered = False
        self._drop_new()

    def forget(self) -> EdgeChange:
        """Forget all that is held, as there is no room for it, and return what goes."""
        self.doubt()
        gone, self.filters, self._size = self.filters, {}, 0
        return EdgeChange({}, gone)

    def _drop_new(self) -> None:
        self._beside = self._comparing = None
        self._changes = []
        self._waiting.clear()
        self._beside_size = self._waiting_size = 0

    # --- statements

    def hear(self, body: EdgeStatement, room: int) -> list[EdgeChange] | None:
        """Take a statement, and return what it changes; None: it waits, as the whole before it is still compared. Raise
        Missed if it does not follow from those before, or if too much waits; TooMuch if it takes more bytes than
        `room`."""
        if body.full or not self.has_work:
            return self.take(body, room)
        size = _size_of(body)
        if self._waiting_size + size > WAITING_BYTES_MAX:
            raise Missed
        if size > room:
            raise TooMuch
        self._waiting_size += size
        self._waiting.append(body)
        return None

    def take(self, body: EdgeStatement, room: int) -> list[EdgeChange] | None:
        """Do as `hear` does with a statement whose turn it is. None: a long whole takes the place of the last word in
        slices (`work`)."""
        if body.full:
            self._drop_new()
            self._beside = {} if self.filters else None
            self.digest, self.is_complete = numbers.NO_DIGEST, False
        elif not self.is_answered or (body.base_seq, body.epoch) != (self.seq, self.epoch):
            raise Missed
        change = self._change(body, room)
        self.seq, self.epoch, self.digest, self.is_answered = body.seq, body.epoch, body.digest, True
        self.tries = 0
        if self._beside is None:
            self.is_complete = body.complete
            return [change]
        return self._begin_to_compare(body) if body.complete else []

    def next_waiting(self) -> EdgeStatement:
        """Take the statement that has waited longest."""
        body = self._waiting.popleft()
        self._waiting_size -= _size_of(body)
        return body

    def _change(self, body: EdgeStatement, room: int) -> EdgeChange:
        """Apply the change that `body` says to what is being said."""
        filters = self.filters if self._beside is None else self._beside
        added = {id_: packed for id_, packed, _ in body.added}
        gone = {id_: filters[id_] for id_ in body.removed if id_ in filters}
        is_sound = len(added) == len(body.added) and len(gone) == len(body.removed)
        if not is_sound or not added.keys().isdisjoint(filters) or max(added, default=0) >= IDS_END:
            raise Missed
        weight = numbers.weight_of(added.items()) - numbers.weight_of(gone.items())
        count = len(filters) + len(added) - len(gone)
        if (numbers.moved(self.digest, weight), count) != (body.digest, body.count):
            raise Missed
        more = size_of(added.values()) - size_of(gone.values())
        if more > room:
            raise TooMuch
        if self._beside is None:
            self._size += more
        else:
            self._beside_size += more
        filters.update(added)
        for id_ in gone:
            del filters[id_]
        return EdgeChange(added, gone)

    # --- a new whole takes the place of the last word

    @property
    def is_comparing(self) -> bool:
        return self._comparing is not None

    @property
    def has_work(self) -> bool:
        return self.is_comparing or bool(self._waiting)

    def _begin_to_compare(self, body: EdgeStatement) -> list[EdgeChange] | None:
        new = self._beside or {}
        self.whole_by, self._comparing = body, self._compare(self.filters, new)
        changes = self.work()
        while changes is None and len(self.filters) + len(new) <= COMPARED_PER_SLICE:
            changes = self.work()
        return changes

    def work(self) -> list[EdgeChange] | None:
        """Compare a slice. Return what changes as the new whole becomes the last word; None: it has not yet."""
        change = next(self._comparing, None) if self._comparing is not None else None
        if change is not None:
            self._changes.append(change)
            return None
        changes, self._changes = self._changes, []
        self.filters, self._beside, self._comparing = self._beside or {}, None, None
        self._size, self._beside_size = self._beside_size, 0
        self.is_complete = True
        return changes

    @staticmethod
    def _compare(old: Mapping[int, bytes], new: Mapping[int, bytes]) -> Iterator[EdgeChange]:
        """Yield the changes from `old` to `new`, a slice each: first all that is added, so that nothing is missing."""
        filters = iter(new.items())
        while some := dict(islice(filters, COMPARED_PER_SLICE)):
            yield EdgeChange({id_: packed for id_, packed in some.items() if old.get(id_) != packed}, {})
        filters = iter(old.items())
        while some := dict(islice(filters, COMPARED_PER_SLICE)):
            yield EdgeChange({}, {id_: packed for id_, packed in some.items() if new.get(id_) != packed})


def _size_of(body: EdgeStatement) -> int:
    return EMPTY_BYTES + size_of([each.filter for each in body.added]) + 8 * len(body.removed)
