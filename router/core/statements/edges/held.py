"""E3, E4: the statement of a neighbour about the routers behind it.

Law: a held statement is reliable while it is *complete*: the neighbour stated so, in the session that is up, and no
part was lost. An edge that is not complete counts as everything. The last complete statement stays until the full
statement has been sent again, and is then replaced at once: until then no filter of it is withdrawn from the routers to
which it was forwarded.

    unknown --full--> receiving --complete--> complete
                          '---- a part is missing, or the session ended ----'
                                               v
            unreliable, the last statement stays --full--> receiving beside it --complete--> complete
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
"""Ids of filters of neighbours lie below; those above are this router's own, for filters that match everything."""
COMPARED_PER_SLICE: Final = 4_000
"""Filters of a full statement that are compared with the last one in one slice: a few milliseconds."""
WAITING_BYTES_MAX: Final = 8 * STATEMENT_BYTES_MAX
"""The bytes of one edge's statements that may wait while the full statement before them is compared; beyond that the
full statement is requested again."""
EMPTY_BYTES: Final = 256
"""The bytes that a statement counts for while it waits, besides its filters."""


class Missed(Exception):
    """Raised for a statement that does not follow from what is held: the full statement is needed."""


class TooMuch(Exception):
    """Raised for a statement that would exceed EDGES_BYTES_MAX, with the statements held of all other edges."""


class EdgeChange(NamedTuple):
    """A change of the filters held of an edge."""

    added: Mapping[int, bytes]
    removed: Mapping[int, bytes]


class HeldEdge:
    """The statement held of one edge. Edges that it feeds read `filters`."""

    def __init__(self, place: EdgePlace) -> None:
        self.place = place
        self.number: Final = place.number
        self.filters: dict[int, bytes] = {}
        self.session = 0
        """The session of the neighbour's statements; 0: the link is down."""
        self.is_complete = False
        self.is_answered = False
        """Whether the full statement was sent, or is being sent, in this session."""
        self.guard: int | None = None
        """The id under which the table has the filter for everything for this edge; None: it has none."""
        self.tries = 0
        """The number of requests for the full statement since a part of it arrived."""
        self.seq = 0
        self.epoch = 0
        self.digest = numbers.NO_DIGEST
        self._size = 0
        """The size of `filters` (`sizes.py`)."""
        self._beside: dict[int, bytes] | None = None
        """The received part of a new full statement, beside the last one."""
        self._beside_size = 0
        self._comparing: Iterator[EdgeChange] | None = None
        """The remaining changes by which the new full statement replaces the last one."""
        self._changes: list[EdgeChange] = []
        """The changes found by the comparison until now."""
        self.whole_by: EdgeStatement | None = None
        """The body that completed the full statement that is being compared, or was compared last."""
        self._waiting: deque[EdgeStatement] = deque()
        self._waiting_size = 0

    @property
    def size(self) -> int:
        """The bytes of all that is held of the edge: the last statement, a new one beside it, and waiting bodies."""
        return self._size + self._beside_size + self._waiting_size

    def is_said_in(self, session: int) -> bool:
        """E4: return whether the full statement was sent, or is being sent, in `session`, and no part was missed."""
        return self.session == session and self.is_answered

    def unknown(self) -> None:
        """Count what is held as unreliable until the full statement is sent again."""
        self.is_complete = self.is_answered = False
        self._drop_new()

    def forget(self) -> EdgeChange:
        """Forget all that is held, as there is no room for it, and return the removed filters."""
        self.unknown()
        gone, self.filters, self._size = self.filters, {}, 0
        return EdgeChange({}, gone)

    def _drop_new(self) -> None:
        self._beside = self._comparing = None
        self._changes = []
        self._waiting.clear()
        self._beside_size = self._waiting_size = 0

    # --- statements

    def hear(self, body: EdgeStatement, room: int) -> list[EdgeChange] | None:
        """Apply a statement, and return its changes; None: it waits, as the full statement before it is still compared.
        Raise Missed if it does not follow from those before, or if too much waits; TooMuch if it takes more bytes than
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
        """Apply a statement whose turn it is, as `hear` does. None: a long full statement replaces the last one in
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
        """Remove and return the statement that has waited longest."""
        body = self._waiting.popleft()
        self._waiting_size -= _size_of(body)
        return body

    def _change(self, body: EdgeStatement, room: int) -> EdgeChange:
        """Apply the change of `body` to the statement that is being received."""
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

    # --- replacing the last statement

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
        """Compare a slice. Return the changes once the new full statement has replaced the last one; None: it has not
        yet."""
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
        """Yield the changes from `old` to `new` in slices: all additions first, which leaves no filter missing in
        between."""
        filters = iter(new.items())
        while some := dict(islice(filters, COMPARED_PER_SLICE)):
            yield EdgeChange({id_: packed for id_, packed in some.items() if old.get(id_) != packed}, {})
        filters = iter(old.items())
        while some := dict(islice(filters, COMPARED_PER_SLICE)):
            yield EdgeChange({}, {id_: packed for id_, packed in some.items() if new.get(id_) != packed})


def _size_of(body: EdgeStatement) -> int:
    return EMPTY_BYTES + size_of([each.filter for each in body.added]) + 8 * len(body.removed)
