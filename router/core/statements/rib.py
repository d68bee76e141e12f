"""R2, R8: the predicate of every router, whole, each in the newest version that is known here; of durable subscriptions
(R19), their packed bytes instead of filters.

Law: only a strictly newer entry replaces an entry, and a change is applied only to its base, and only if the digest
afterwards is the one that it promises; else the old entry stays and the missing part is requested. The caller that
passes a whole predicate has checked its digest. A large predicate that is no longer held is emptied in slices (`tidy`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, NamedTuple, cast

from tamis.protocol.limits import PENDING_BYTES_MAX
from tamis.protocol.wire import numbers
from tamis.protocol.wire.home_bodies import DurablesStatement
from tamis.protocol.wire.routing_bodies import AdvertisedFilter, Entry, ReceiverAdvertisement
from tamis.router.core.statements.freshness import Verdict, Version, judge
from tamis.router.core.statements.shared_numbers import shared
from tamis.router.core.statements.sizes import cut, is_large, listed_size, size_of

PENDING_MAX: Final = 1_024
"""Changes of one issuer that wait for their base, within PENDING_BYTES_MAX. The base may be large and in transit."""
LISTED_PER_SLICE: Final = 200_000
"""Filters that are listed in one slice, ids and bytes together: about 20 ms."""
EMPTIED_PER_SLICE: Final = 10_000
"""Filters that are released in one slice: a millisecond or two."""


_advertised = cast("Callable[[tuple[int, bytes]], AdvertisedFilter]", partial(tuple.__new__, AdvertisedFilter))


def advertised(filters: Mapping[int, bytes]) -> tuple[AdvertisedFilter, ...]:
    """Return `filters` as a body lists them. There may be a hundred thousand; each is therefore made without a Python
    call."""
    return tuple(map(_advertised, filters.items()))


@dataclass(slots=True)
class HeldPredicate:
    """The predicate of one issuer. `size` is the size of its filters (`sizes.py`)."""

    version: Version
    digest: bytes
    filters: MutableMapping[int, bytes]
    size: int = 0
    rest: tuple[bytes, ...] = ()
    """Fields of a later version of the wire in the entry that it arrived in, for as long as this version of it is
    held."""

    @property
    def is_large(self) -> bool:
        return is_large(self.size)

    def as_entry(self, issuer: int) -> Entry:
        return Entry(issuer, *self.version, self.digest, advertised(self.filters), rest=self.rest)

    def as_news(self, issuer: int) -> Entry:
        """Return an entry that announces this version: a piece without filters."""
        return Entry(issuer, *self.version, self.digest, (), 0, len(self.filters), self.rest)

    def as_pieces(self, issuer: int) -> Iterator[Entry | None]:
        """Yield the predicate as it is at the first piece, unaffected by later changes; each piece is made on demand.
        None: the caller should continue later, as this slice took long enough."""
        ids, listed = list(self.filters), self.version
        if len(ids) > LISTED_PER_SLICE:
            yield None
            ids = ids if listed == self.version else list(self.filters)
        packed = list(self.filters.values())
        if len(packed) != len(ids):
            return  # no longer held, and being emptied
        version, digest, total, rest = self.version, self.digest, len(ids), self.rest
        first = 0
        for some in cut(zip(ids, packed, strict=True)):
            yield Entry(issuer, *version, digest, tuple(map(_advertised, some)), first, total, rest)
            first += len(some)


class AppliedChange(NamedTuple):
    """The change of the table by an accepted statement. An added id may be in the table already, with another
    filter."""

    added: Mapping[int, bytes]
    removed: tuple[int, ...]


class MissingBase(Exception):
    """Raised for a change whose base is not held, or whose digest does not agree."""


Change = ReceiverAdvertisement | DurablesStatement


class Rib:
    def __init__(self) -> None:
        self.entries: dict[int, HeldPredicate] = {}
        """Maps an issuer to its predicate; read by all parts, written here alone."""
        self.digest = numbers.NO_DIGEST
        """The sum over all entries, updated with every change: a comparison with a neighbour need not add up all
        entries."""
        self._pending: dict[int, list[Change]] = {}
        self._pending_bytes = 0
        self._scraps: deque[dict[int, bytes]] = deque()

    def version(self, issuer: int) -> Version | None:
        held = self.entries.get(issuer)
        return held.version if held else None

    def judge(self, issuer: int, version: Version, digest: bytes) -> Verdict:
        held = self.entries.get(issuer)
        return judge(version, digest, self.version(issuer), held.digest if held else b"")

    def replace(
        self, issuer: int, version: Version, digest: bytes, filters: dict[int, bytes], rest: tuple[bytes, ...] = ()
    ) -> AppliedChange:
        """Hold a whole predicate that is newer than the one held, and return what changes. The Rib keeps `filters` and
        changes it later."""
        old = self.filters(issuer)
        self.put(issuer, HeldPredicate(version, digest, filters, size_of(filters.values()), rest))
        added = {id_: packed for id_, packed in filters.items() if old.get(id_) != packed}
        return AppliedChange(added, tuple([id_ for id_ in old if id_ not in filters]))

    def put(self, issuer: int, new: HeldPredicate) -> None:
        """Replace the predicate held of `issuer` by `new`."""
        held, before = self.entries.get(issuer), self.weight(issuer)
        self.entries[issuer] = new
        self.digest = numbers.exchange(self.digest, before, self.weight(issuer))
        if held is not None and held.is_large:
            self.scrap(held.filters)

    def filters(self, issuer: int) -> Mapping[int, bytes]:
        """Return the filters held of an issuer."""
        held = self.entries.get(issuer)
        return held.filters if held else {}

    def restate(self, issuer: int, version: Version, digest: bytes, size: int) -> None:
        """Set version, digest and size of an entry whose filters have changed in place."""
        held, before = self.entries[issuer], self.weight(issuer)
        held.version, held.digest, held.size, held.rest = version, digest, size, ()
        self.digest = numbers.exchange(self.digest, before, self.weight(issuer))

    def weight(self, issuer: int) -> bytes:
        """Return the share of the entry of an issuer in the sum."""
        held = self.entries.get(issuer)
        return numbers.entry_digest(issuer, *held.version, held.digest) if held else numbers.NO_DIGEST

    def apply(self, change: Change) -> AppliedChange:
        """Apply a change to its base, which must be held, and return the change of the table. MissingBase: nothing was
        changed."""
        held = self.entries.get(change.issuer)
        if held is None or held.version != (change.epoch, change.base_seq):
            raise MissingBase
        added = shared(change.added)
        gone = {id_: held.filters[id_] for id_ in change.removed if id_ in held.filters}
        if len(added) != len(change.added) or len(gone) != len(change.removed):
            raise MissingBase  # an id is listed twice, or a removed id is not held
        if any(id_ in held.filters for id_ in added):
            raise MissingBase
        weight = numbers.weight_of(added.items()) - numbers.weight_of(gone.items())
        digest = numbers.moved(held.digest, weight)
        if digest != change.digest or len(held.filters) + len(added) - len(gone) != change.count:
            raise MissingBase
        held.filters.update(added)
        for id_ in gone:
            del held.filters[id_]
        size = held.size + size_of(added.values()) - size_of(gone.values())
        self.restate(change.issuer, Version(change.epoch, change.seq), digest, size)
        return AppliedChange(added, change.removed)

    # --- changes that arrived before their base

    def put_off(self, change: Change) -> None:
        waiting = self._pending.get(change.issuer, [])
        size = _size(change)
        if change in waiting or self._pending_bytes + size > PENDING_BYTES_MAX:
            return
        self._pending[change.issuer] = waiting
        self._pending_bytes += size
        waiting.append(replace(change))  # without the bytes in which it arrived
        waiting.sort(key=lambda other: (other.epoch, other.seq))
        for late in waiting[PENDING_MAX:]:
            self._pending_bytes -= _size(late)
        del waiting[PENDING_MAX:]

    def next_pending(self, issuer: int) -> Change | None:
        """Remove and return a change whose base is held by now, and drop changes that are too old. None: there is
        none."""
        version = self.version(issuer)
        before = self._pending.pop(issuer, [])
        waiting = [change for change in before if version is None or (change.epoch, change.seq) > version]
        found = next((change for change in waiting if version == (change.epoch, change.base_seq)), None)
        rest = [change for change in waiting if change is not found]
        self._pending_bytes -= sum(map(_size, before)) - sum(map(_size, rest))
        if rest:
            self._pending[issuer] = rest
        return found

    def newest_pending(self, issuer: int) -> Change | None:
        return max(self._pending.get(issuer, ()), key=lambda change: (change.epoch, change.seq), default=None)

    def waits(self, issuer: int) -> bool:
        return issuer in self._pending

    def drop_pending(self, issuer: int) -> None:
        self._pending_bytes -= sum(map(_size, self._pending.pop(issuer, ())))

    def forget(self, issuer: int) -> tuple[int, ...]:
        """Forget what is held of `issuer`; return the ids of its filters."""
        self.drop_pending(issuer)
        self.digest = numbers.subtract(self.digest, self.weight(issuer))
        held = self.entries.pop(issuer, None)
        gone = tuple(held.filters) if held else ()
        if held is not None and held.is_large:
            self.scrap(held.filters)
        return gone

    # --- predicates that are no longer held

    def scrap(self, filters: MutableMapping[int, bytes]) -> None:
        """Queue `filters` to be emptied in slices. Those in pages are few objects, and go at once."""
        if isinstance(filters, dict):
            self._scraps.append(filters)

    @property
    def has_scraps(self) -> bool:
        return bool(self._scraps)

    def tidy(self) -> None:
        """Empty a slice of the queued filters."""
        filters = self._scraps[0]
        for _ in range(min(EMPTIED_PER_SLICE, len(filters))):
            filters.popitem()
        if not filters:
            self._scraps.popleft()


def _size(change: Change) -> int:
    """Return the size of a change (`sizes.py`); an id that is removed counts as 16 bytes."""
    return listed_size(change.added) + 16 * len(change.removed)
