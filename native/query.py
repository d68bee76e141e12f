"""The query of a match and the memory for its answer, as structs of C.

Law: a query keeps alive the arrays that C borrows from it; the rows of an answer are valid until the next match.
"""

from __future__ import annotations

import enum
from array import array
from collections.abc import Iterable, Sequence
from typing import Any, Final, Protocol, Self

from tamis.native._tm import ffi, lib
from tamis.native.results import check

_BITS = 64
_NO_GROUP: Final = 0xFFFF_FFFF

Candidates = Iterable[int] | bytes
"""The groups that an answer may have: their ids, or a bitset of them (bit i % 8 of byte i // 8)."""

Grouping = Sequence[int | None]
"""Interface to group; an interface with None or past the end belongs to no group."""

_Cdata = Any  # cffi's types exist only at run time


class Mode(enum.IntEnum):
    """What a match returns: interfaces, one filter for each interface, all filters, or some for each interface."""

    INTERFACES = lib.TM_MATCH_INTERFACES
    WHICH = lib.TM_MATCH_WHICH
    ALL = lib.TM_MATCH_ALL
    LIMITED = lib.TM_MATCH_LIMITED


class _Owner(Protocol):
    """The part of a table that a view uses."""

    @property
    def c(self) -> _Cdata: ...

    @property
    def is_closed(self) -> bool: ...


class TableView:
    """A grouping registered with one table for any number of matches; it ends with the table."""

    def __init__(self, owner: _Owner, grouping: Grouping) -> None:
        groups = array("I", (_NO_GROUP if group is None else group for group in grouping))
        made = ffi.new("uint32_t *")
        check(lib.tm_table_view(owner.c, ffi.from_buffer("uint32_t[]", groups), len(groups), made))
        self._owner = owner
        self.id = int(made[0])
        self.group_count = 1 + max((group for group in grouping if group is not None), default=-1)

    def close(self) -> None:
        """Drop the grouping; closing twice is allowed."""
        if self.id and not self._owner.is_closed:
            check(lib.tm_table_drop_view(self._owner.c, self.id))
        self.id = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class Query:
    """The query of a match. `interface_count`: bound of the groups without a view."""

    def __init__(self, interface_count: int, candidates: Candidates | None, view: TableView | None) -> None:
        self.c = ffi.new("tm_query *")
        self.group_count = interface_count
        if view is not None:
            self.group_count = view.group_count
            self.c.view = view.id
        if candidates is not None:
            self.c.candidates = self._candidates = ffi.from_buffer("uint64_t[]", _bitset(candidates, self.group_count))
        self.c.group_count = self.group_count

    def ask(self, mode: Mode) -> _Cdata:
        """Return the struct for C, with `mode` set."""
        self.c.mode = mode
        return self.c


class Rows:
    """Memory for a list of groups and their handles."""

    def __init__(self) -> None:
        self.c = ffi.new("tm_hits *")
        self._groups = self._handles = ffi.NULL

    def ask(self, capacity: int, with_handles: bool = False) -> _Cdata:
        """Return the struct for C, with room for at least `capacity` rows; the memory is reused."""
        if self.c.capacity < capacity:
            room = max(capacity, 2 * self.c.capacity)
            self._groups, self._handles = ffi.new("uint32_t[]", room), ffi.NULL
            self.c.capacity = room
        if with_handles and self._handles == ffi.NULL:
            self._handles = ffi.new("uint32_t[]", self.c.capacity)
        self.c.groups = self._groups
        self.c.handles = self._handles if with_handles else ffi.NULL
        return self.c

    def groups(self, start: int, end: int) -> list[int]:
        found: list[int] = ffi.unpack(self._groups + start, end - start) if end > start else []
        return found

    def pairs(self, most: int | None = None) -> list[tuple[int, int]]:
        """Return (group, handle) of each row, or of the first `most` rows."""
        count = self.c.count if most is None else min(self.c.count, most)
        return list(zip(self.groups(0, count), ffi.unpack(self._handles, count), strict=True)) if count else []


def _bitset(candidates: Candidates, group_count: int) -> bytearray:
    """Return the candidates as bits in whole words for all groups, without candidates past the last group."""
    words = bytearray((group_count + _BITS - 1) // _BITS * (_BITS // 8))
    if isinstance(candidates, bytes):
        known = candidates[: len(words)]
        words[: len(known)] = known
        return words
    for group in candidates:
        if 0 <= group < group_count:
            words[group >> 3] |= 1 << (group & 7)
    return words
