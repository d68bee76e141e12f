"""R2, R8: what every router asks for, whole, each in the version that is newest here.

Law: an entry gives way to a strictly newer one only, and a change is applied to its base only, with the digest it
promises afterwards; else the old entry stays and what is missing is asked for. Whoever hands in a whole predicate has
checked its digest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple, cast

from tamis.protocol.wire import numbers
from tamis.protocol.wire.routing_bodies import AdvertisedFilter, Entry, ReceiverAdvertisement
from tamis.router.core.freshness import Verdict, Version, judge

PENDING_MAX: Final = 16
"""Changes of one issuer that wait for their base. More than that are worth a whole predicate."""


_advertised = cast("Callable[[tuple[int, bytes]], AdvertisedFilter]", partial(tuple.__new__, AdvertisedFilter))


def advertised(filters: Mapping[int, bytes]) -> tuple[AdvertisedFilter, ...]:
    """As a body lists them. There may be a hundred thousand, so each is made without a call of Python."""
    return tuple(map(_advertised, filters.items()))


@dataclass(slots=True)
class Held:
    """The predicate of one issuer."""

    version: Version
    digest: bytes
    filters: dict[int, bytes]

    def as_entry(self, issuer: int) -> Entry:
        return Entry(issuer, *self.version, self.digest, advertised(self.filters))


class Change(NamedTuple):
    """What an accepted statement does to the table. An id that is added may be there already, with another filter."""

    added: Mapping[int, bytes]
    removed: tuple[int, ...]


class Gap(Exception):
    """A change whose base is not here, or whose digest does not agree."""


class Rib:
    def __init__(self) -> None:
        self.entries: dict[int, Held] = {}
        """Read by all, written here."""
        self.digest = numbers.NO_DIGEST
        """The sum of all entries, kept with every change, so that two neighbours that compare do not add it all up."""
        self._pending: dict[int, list[ReceiverAdvertisement]] = {}

    def version(self, issuer: int) -> Version | None:
        held = self.entries.get(issuer)
        return held.version if held else None

    def judge(self, issuer: int, version: Version, digest: bytes) -> Verdict:
        held = self.entries.get(issuer)
        return judge(version, digest, self.version(issuer), held.digest if held else b"")

    def replace(self, issuer: int, version: Version, digest: bytes, filters: dict[int, bytes]) -> Change:
        """A whole predicate that is newer than what is held. `filters` is kept, and changes later."""
        held = self.entries.get(issuer)
        old: Mapping[int, bytes] = held.filters if held else {}
        before = self.weight(issuer)
        self.entries[issuer] = Held(version, digest, filters)
        self.digest = numbers.exchange(self.digest, before, self.weight(issuer))
        added = {id_: packed for id_, packed in filters.items() if old.get(id_) != packed}
        return Change(added, tuple([id_ for id_ in old if id_ not in filters]))

    def restate(self, issuer: int, version: Version, digest: bytes) -> None:
        """The filters of an entry have changed, in place."""
        held, before = self.entries[issuer], self.weight(issuer)
        held.version, held.digest = version, digest
        self.digest = numbers.exchange(self.digest, before, self.weight(issuer))

    def weight(self, issuer: int) -> bytes:
        """What the entry of an issuer adds to the sum."""
        held = self.entries.get(issuer)
        return numbers.entry_digest(issuer, *held.version, held.digest) if held else numbers.NO_DIGEST

    def apply(self, change: ReceiverAdvertisement) -> Change:
        """A change of what is held. Gap: nothing was done."""
        held = self.entries.get(change.issuer)
        if held is None or held.version != (change.epoch, change.base_seq):
            raise Gap
        added = dict(change.added)
        gone = {id_: held.filters[id_] for id_ in change.removed if id_ in held.filters}
        if len(added) != len(change.added) or len(gone) != len(change.removed):
            raise Gap  # an id is named twice, or one is removed that is not there
        if not added.keys().isdisjoint(held.filters):
            raise Gap
        digest = numbers.add(held.digest, *(numbers.filter_digest(*filter_) for filter_ in added.items()))
        digest = numbers.subtract(digest, *(numbers.filter_digest(*filter_) for filter_ in gone.items()))
        if digest != change.digest or len(held.filters) + len(added) - len(gone) != change.count:
            raise Gap
        held.filters.update(added)
        for id_ in gone:
            del held.filters[id_]
        self.restate(change.issuer, Version(change.epoch, change.seq), digest)
        return Change(added, change.removed)

    # --- changes that came before their base

    def put_off(self, change: ReceiverAdvertisement) -> None:
        waiting = self._pending.setdefault(change.issuer, [])
        if change in waiting:
            return
        waiting.append(change)
        waiting.sort(key=lambda other: (other.epoch, other.seq))
        del waiting[PENDING_MAX:]

    def next_pending(self, issuer: int) -> ReceiverAdvertisement | None:
        """A change whose base is here by now, taken out; those that are too old are dropped."""
        version = self.version(issuer)
        waiting = [c for c in self._pending.pop(issuer, ()) if version is None or (c.epoch, c.seq) > version]
        found = next((change for change in waiting if version == (change.epoch, change.base_seq)), None)
        if waiting and (rest := [change for change in waiting if change is not found]):
            self._pending[issuer] = rest
        return found

    def newest_pending(self, issuer: int) -> ReceiverAdvertisement | None:
        return max(self._pending.get(issuer, ()), key=lambda change: (change.epoch, change.seq), default=None)

    def waits(self, issuer: int) -> bool:
        return issuer in self._pending

    def forget(self, issuer: int) -> tuple[int, ...]:
        """The ids of the filters that are gone with it."""
        self._pending.pop(issuer, None)
        self.digest = numbers.subtract(self.digest, self.weight(issuer))
        held = self.entries.pop(issuer, None)
        return tuple(held.filters) if held else ()
