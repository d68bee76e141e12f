"""R1, R7: this router's own predicate where filters are merged, within a limit of false positives.

Law: a merged filter is stated as if a client wanted it, and is proven to cover its parts, which are set aside under it
(`cover.py`): a proof that fails costs a filter more, and never a message. Its widening (`merge.py`) is at most the
limit. Work is done in slices: one filter is compared with at most ALIKE_MAX others, or one merged filter is computed
again from at most PARTS_MAX parts.

    a filter is advertised       it is merged with the one of those alike that gives the least widening
    a part is no longer wanted   it is held as if it were, and costs nothing if it returns in time (R7)
    the hold of a part ends      the merged filter gives way to a narrower one of the other parts; if only one is left,
                                 or the widening exceeds the limit now, the parts are advertised again

A filter of a worker group is not merged, nor one that is longer than covering examines.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final

from tamis.protocol.covering import covers
from tamis.protocol.covering.merge import Merged, merge
from tamis.protocol.errors import FrameError, NeverMatches
from tamis.protocol.normal import regions_of
from tamis.protocol.wire.packed_filters import decode_filter, encode_filter
from tamis.protocol.wire.routing_bodies import group_of
from tamis.router.core.statements.cover import BYTES_MAX, Cover
from tamis.router.core.statements.merging.alike import AlikeFilters
from tamis.router.core.statements.own_predicate import EXPIRED_PER_SLICE, OwnPredicate

PARTS_MAX: Final = 32
"""The most filters that one merged filter replaces; those that it covers besides are not counted."""
UNDER_MAX: Final = 256
"""The most filters under a merged filter that a narrower one takes over. If there are more, all are advertised
again."""


@dataclass(slots=True)
class _Group:
    """The parts of a merged filter, and its widening."""

    parts: dict[bytes, None]
    widening: float


class MergedPredicate(OwnPredicate):
    """A predicate whose filters are merged where the widening is at most `limit`; with 0.0, nothing new is admitted."""

    def __init__(self, narrow_hold_us: int, cover: Cover, limit: float) -> None:
        super().__init__(narrow_hold_us, cover)
        self._limit = limit
        self._alike = AlikeFilters()
        self._to_merge: dict[bytes, None] = {}
        self._to_narrow: dict[bytes, None] = {}
        self._groups: dict[bytes, _Group] = {}
        """Merged filter -> its parts. It counts as wanted once."""
        self._merged_by: dict[bytes, bytes] = {}
        """Part -> the merged filter. Each part is aside."""
        self._lingering: dict[bytes, int] = {}
        """Filter under a merged one that no client wants -> the time until which it counts as wanted."""
        self._lingering_order: deque[tuple[int, bytes]] = deque()

    @property
    def has_work(self) -> bool:
        return super().has_work or bool(self._to_narrow or self._to_merge)

    @property
    def due_us(self) -> int | None:
        lingering_us = self._lingering_order[0][0] if self._lingering_order else None
        return min((due for due in (super().due_us, lingering_us) if due is not None), default=None)

    @property
    def wanted_count(self) -> int:
        return super().wanted_count - sum(self._wanted[merged] == 1 for merged in self._groups)

    def figures(self) -> dict[str, int]:
        return super().figures() | {"merged": len(self._merged_by)}

    # --- interest of clients

    def _want(self, packed: bytes) -> None:
        if self._lingering.pop(packed, None) is not None:
            return
        is_back = packed in self._leaving
        super()._want(packed)
        if is_back:
            self._examine(packed)

    def _unwant(self, packed: bytes, now_us: int) -> None:
        if self._wanted[packed] == 1 and self.cover.cover_of(packed) in self._groups:
            self._lingering[packed] = now_us + self._hold_us
            self._lingering_order.append((now_us + self._hold_us, packed))
        else:
            self._drop(packed, now_us)

    def _drop(self, packed: bytes, now_us: int) -> None:
        super()._unwant(packed, now_us)
        if packed not in self._wanted:
            self._forget(packed)

    def expire(self, now_us: int) -> None:
        super().expire(now_us)
        for _ in range(EXPIRED_PER_SLICE):
            if not self._lingering_order or self._lingering_order[0][0] > now_us:
                return
            until_us, packed = self._lingering_order.popleft()
            if self._lingering.get(packed) != until_us:
                continue
            del self._lingering[packed]
            merged = self._merged_by.pop(packed, None)
            if merged is not None:
                del self._groups[merged].parts[packed]
                self._to_narrow[merged] = None
            self._drop(packed, now_us - self._hold_us)

    # --- what is advertised

    def _advertise(self, packed: bytes) -> None:
        super()._advertise(packed)
        self._examine(packed)

    def _withdraw(self, packed: bytes) -> None:
        super()._withdraw(packed)
        self._forget(packed)
        if packed in self._groups and packed in self.cover:  # a wider filter has taken its place
            self._end(packed)

    def _examine(self, packed: bytes) -> None:
        if len(packed) <= BYTES_MAX and not group_of(packed):
            self._to_merge[packed] = None

    def _forget(self, packed: bytes) -> None:
        self._to_merge.pop(packed, None)
        self._alike.discard(packed)

    # --- merging, in slices

    def work(self) -> None:
        """Do a slice of covering; when there is none left, make one merged filter narrower, or merge one filter."""
        if super().has_work:
            super().work()
        elif self._to_narrow:
            self._narrow(self._to_narrow.popitem()[0])
        elif self._to_merge:
            packed = next(iter(self._to_merge))
            del self._to_merge[packed]
            self._merge(packed)

    def _merge(self, packed: bytes) -> None:
        """Merge a filter with another one, if a merged filter is within the limit."""
        if self._alike.is_full:
            return
        try:
            filter_ = decode_filter(packed)
            self._alike.add(packed, filter_, regions_of(filter_))
        except (NeverMatches, FrameError):
            return
        best: tuple[Merged, bytes] | None = None
        for other in self._alike.alike(packed):
            if len(self._parts_of(packed)) + len(self._parts_of(other)) > PARTS_MAX:
                continue
            widenings = self._widening_of(packed), self._widening_of(other)
            merged = merge(filter_, self._alike.filter_of(other), widenings)
            if merged.widening <= self._limit and (best is None or merged.widening < best[0].widening):
                best = merged, other
        if best is not None:
            self._state(best[0], (packed, best[1]))

    def _parts_of(self, packed: bytes) -> Collection[bytes]:
        group = self._groups.get(packed)
        return (packed,) if group is None else group.parts.keys()

    def _widening_of(self, packed: bytes) -> float:
        group = self._groups.get(packed)
        return 0.0 if group is None else group.widening

    def _state(self, merged: Merged, originals: tuple[bytes, bytes]) -> None:
        """State a merged filter in place of two filters."""
        packed = encode_filter(merged.filter)
        is_proven = all(covers(merged.filter, self._alike.filter_of(each)) for each in originals)
        if not is_proven or len(packed) > BYTES_MAX or packed in self._wanted or packed in self._leaving:
            return
        parts = dict.fromkeys(part for each in originals for part in self._parts_of(each))
        self._want(packed)
        self.cover.place_under(packed, originals)
        for each in originals:
            self._withdraw(each)
        self._group(packed, parts, merged.widening)

    def _group(self, packed: bytes, parts: dict[bytes, None], widening: float) -> None:
        self._groups[packed] = _Group(parts, widening)
        self._merged_by |= dict.fromkeys(parts, packed)

    def _narrow(self, packed: bytes) -> None:
        """Replace a merged filter by one of the parts that are left."""
        group = self._groups.get(packed)
        if group is None:
            return
        merged = _merged(group.parts)
        if merged is None or merged.widening > self._limit or self._wanted[packed] > 1:
            self._end(packed)
            return
        narrower = encode_filter(merged.filter)
        if narrower == packed:
            group.widening = merged.widening
        elif self._may_replace(packed, narrower):
            self._replace(packed, narrower, merged)
        else:
            self._end(packed)

    def _may_replace(self, packed: bytes, narrower: bytes) -> bool:
        is_known = narrower in self._wanted or narrower in self._leaving
        return len(narrower) <= BYTES_MAX and not is_known and len(self.cover.filters_under(packed)) <= UNDER_MAX

    def _replace(self, packed: bytes, narrower: bytes, merged: Merged) -> None:
        parts = self._groups.pop(packed).parts
        for part in parts:
            del self._merged_by[part]
        under = self.cover.filters_under(packed)
        covered = frozenset(each for each in under if covers(merged.filter, decode_filter(each)))
        del self._wanted[packed]
        self._want(narrower)
        for returned in self.cover.replace(packed, narrower, covered):
            self._advertise(returned)
        self._withdraw(packed)
        self._group(narrower, dict.fromkeys(part for part in parts if part in covered), merged.widening)

    def _end(self, packed: bytes) -> None:
        """End a merged filter: what it alone covers is advertised again, before it goes."""
        for part in self._groups.pop(packed).parts:
            del self._merged_by[part]
        self._drop(packed, -self._hold_us)


def _merged(parts: Iterable[bytes]) -> Merged | None:
    """Return one filter that covers all parts; None if there are fewer than two."""
    filters = [decode_filter(part) for part in parts]
    if len(filters) < 2:
        return None
    merged = Merged(filters[0], 0.0)
    for other in filters[1:]:
        merged = merge(merged.filter, other, (merged.widening, 0.0))
    return merged
