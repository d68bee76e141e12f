"""R1, R7: this router's own predicate: the filters of its clients, each once, without those that others cover.

Law: every filter that a client wants is advertised or covered by an advertised one. A new filter is advertised at once;
one that no client wants any longer stays for the hold, which makes a client that returns in time cost nothing. Filters
are named by a counter that never goes back, and never by their content, which could be forged to collide. One issue
fits one body (`sizes.py`): new filters go first, in the order of ids, and removals follow when no new filter is left.

    unknown --want--> fresh --issue--> advertised --unwant--> leaving --hold--> gone --issue--> unknown
                        |                  |                     '--want--> advertised
                        '-----cover--------'--> aside (see cover.py), and fresh again when its cover leaves

A filter of a worker group passes through these states by itself, is never set aside, and is replaced where its members
change (see members.py).
"""

from __future__ import annotations

from collections import deque
from typing import Final, NamedTuple

from tamis.protocol.wire import numbers
from tamis.protocol.wire.routing_bodies import group_of
from tamis.router.core.statements.cover import Cover
from tamis.router.core.statements.members import Members, Restated
from tamis.router.core.statements.shards import Shards
from tamis.router.core.statements.sizes import FILTERS_MAX, first_of, is_large, size_of

EXPIRED_PER_SLICE: Final = 4_000
"""Holds that end in one slice: a few milliseconds."""


class Issue(NamedTuple):
    """A change of the advertised filters, and their digest afterwards."""

    added: dict[int, bytes]
    removed: dict[int, bytes]
    digest: bytes


class OwnPredicate:
    def __init__(self, narrow_hold_us: int, cover: Cover) -> None:
        self._hold_us = narrow_hold_us
        self.cover = cover
        self._members = Members()
        self._wanted: Shards[int] = Shards()
        self._ids: Shards[int] = Shards()  # ids of fresh, advertised and leaving filters
        self._fresh: dict[int, bytes] = {}
        self._gone: list[int] = []
        self._leaving: dict[bytes, int] = {}  # filter -> the time until which it is still advertised
        self._leaving_order: deque[tuple[int, bytes]] = deque()
        self._next_id = 1
        self.issued: dict[int, bytes] = {}
        self.size = 0
        """The size of the advertised filters (`sizes.py`)."""
        self.digest = numbers.NO_DIGEST

    @property
    def widens(self) -> bool:
        """Return whether the next issue adds a filter."""
        return bool(self._fresh)

    @property
    def has_changes(self) -> bool:
        return bool(self._fresh or self._gone)

    @property
    def is_large(self) -> bool:
        """Return whether the advertised filters exceed one body."""
        return is_large(self.size)

    @property
    def next_id(self) -> int:
        """The id of the next filter: every filter wanted now has a lower id, or is covered by a filter with one."""
        return self._next_id

    @property
    def issued_below(self) -> int:
        """An id below which every filter has been issued."""
        return next(iter(self._fresh), self._next_id)

    @property
    def wanted_count(self) -> int:
        """The number of wanted filters, including covered ones."""
        return len(self._wanted)

    @property
    def has_work(self) -> bool:
        return self.cover.has_work

    @property
    def due_us(self) -> int | None:
        """The time at which the next hold ends; None: no filter is held."""
        return self._leaving_order[0][0] if self._leaving_order else None

    def figures(self) -> dict[str, int]:
        return {
            "wanted": self.wanted_count,
            "advertised": len(self.issued),
            "covered": len(self.cover),
            "leaving": len(self._leaving),
        }

    # --- interest of clients

    def want(self, packed: bytes) -> None:
        if group_of(packed):
            self._restate(self._members.join(packed))
        else:
            self._want(packed)

    def unwant(self, packed: bytes, now_us: int) -> None:
        """Remove one client's interest in a filter. KeyError: no client wants it."""
        if not group_of(packed):
            self._unwant(packed, now_us)
            return
        change = self._members.leave(packed)
        if change.after is None and change.before is not None:
            self._unwant(change.before, now_us)
        else:
            self._restate(change)

    def _restate(self, change: Restated) -> None:
        """State a filter of a group with other members: the new statement is issued before the old one is withdrawn."""
        if change.before == change.after or change.after is None:
            return
        self._want(change.after)
        if change.before is not None:
            del self._wanted[change.before]
            self._withdraw(change.before)

    def _want(self, packed: bytes) -> None:
        self._wanted[packed] = self._wanted.get(packed, 0) + 1
        if self._wanted[packed] > 1:
            return
        if self._leaving.pop(packed, None) is not None:
            self.cover.add(packed)
        else:
            self._advertise(packed)

    def _unwant(self, packed: bytes, now_us: int) -> None:
        self._wanted[packed] -= 1
        if self._wanted[packed]:
            return
        del self._wanted[packed]
        if packed in self.cover:
            self.cover.drop(packed)
            return
        for uncovered in self.cover.drop(packed):
            self._advertise(uncovered)
        if self._ids[packed] in self._fresh and not self.cover.is_above(packed):
            self._withdraw(packed)
        else:
            self._leave(packed, now_us)

    # --- timers and slices

    def expire(self, now_us: int) -> None:
        """Withdraw filters whose hold has ended, at most one slice."""
        for _ in range(EXPIRED_PER_SLICE):
            if not self._leaving_order or self._leaving_order[0][0] > now_us:
                return
            until_us, packed = self._leaving_order.popleft()
            if self._leaving.get(packed) != until_us:
                continue
            del self._leaving[packed]
            if self.cover.is_above(packed):
                self._leave(packed, now_us)
            else:
                self._withdraw(packed)

    def _leave(self, packed: bytes, now_us: int) -> None:
        self._leaving[packed] = now_us + self._hold_us
        self._leaving_order.append((now_us + self._hold_us, packed))

    def work(self) -> None:
        """Do a slice of covering, with filters that have lost their cover first."""
        if uncovered := self.cover.uncover():
            for packed in uncovered:
                self._advertise(packed)
            return
        for _ in range(self.cover.looks_per_slice):
            if not self.cover.has_looks:
                return
            for covered in self.cover.look():
                self._withdraw(covered)

    def issue(self) -> Issue:
        """Return the next changes, as many as fit one body, and count them as advertised."""
        added = dict(first_of(self._fresh.items()))
        if len(added) == len(self._fresh):
            self._fresh = {}
        else:
            for id_ in added:
                del self._fresh[id_]
        removed = {} if self._fresh else dict(first_of((id_, self.issued[id_]) for id_ in self._gone[:FILTERS_MAX]))
        del self._gone[: len(removed)]
        self.issued.update(added)
        for id_ in removed:
            del self.issued[id_]
        self.size += size_of(added.values()) - size_of(removed.values())
        weight = numbers.weight_of(added.items()) - numbers.weight_of(removed.items())
        self.digest = numbers.moved(self.digest, weight)
        return Issue(added, removed, self.digest)

    def _advertise(self, packed: bytes) -> None:
        self._ids[packed] = self._next_id
        self._fresh[self._next_id] = packed
        self._next_id += 1
        self.cover.add(packed)

    def _withdraw(self, packed: bytes) -> None:
        if group_of(packed):
            self._members.forget(packed)
        id_ = self._ids.pop(packed)
        if self._fresh.pop(id_, None) is None:
            self._gone.append(id_)
