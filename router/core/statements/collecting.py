"""R2, R4: predicates too large to be accepted at once, until each can be held.

Law: a collected predicate is held only when it is complete and its digest agrees: until then the old entry stays, and
the collection may be dropped at any time. Pieces are joined by the ids of their filters, independent of their order,
sender and number. All long work is done in slices.

    none --first piece, or a large whole--> incomplete --complete, digest agrees--> comparing --> held
                                                '--> none: a fresher version is held or arrives, the neighbours that
                                                     sent it are gone or silent, it is too large, or the digest is wrong
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from tamis.protocol.wire import numbers
from tamis.protocol.wire.routing_bodies import AdvertisedFilter
from tamis.router.core.statements.freshness import Version
from tamis.router.core.statements.rib import AppliedChange, HeldPredicate
from tamis.router.core.statements.shared_numbers import shared
from tamis.router.core.statements.sizes import size_of

COMPARED_PER_SLICE: Final = 4_000
"""Filters compared with the held predicate in one slice: a few milliseconds."""


@dataclass(slots=True)
class IncomingPredicate:
    """The received part of one version of one issuer's predicate."""

    version: Version
    digest: bytes
    total: int
    rest: tuple[bytes, ...] = ()
    """Fields of a later version of the wire in the entry that the predicate arrives in."""
    filters: dict[int, bytes] = field(default_factory=dict)
    size: int = 0
    said_by: set[int] = field(default_factory=set)
    """The neighbours that send it."""
    waiting: deque[Iterator[list[AdvertisedFilter]]] = field(default_factory=deque)
    """The bodies that arrived whole: the rest of each, cut into slices."""
    changes: list[AppliedChange] = field(default_factory=list)
    """The changes of the table by this predicate, as far as it has been compared."""
    _weight: int = 0
    _comparing: Iterator[None] | None = None
    _compared_with: Version | None = None

    def take(self, filters: Iterable[AdvertisedFilter]) -> None:
        new = shared((id_, packed) for id_, packed in filters if id_ not in self.filters)
        self._weight += numbers.weight_of(new.items())
        self.size += size_of(new.values())
        self.filters.update(new)

    def take_waiting(self) -> None:
        """Accept a slice of the bodies that arrived whole."""
        some = next(self.waiting[0], None)
        if some is None:
            self.waiting.popleft()
        else:
            self.take(some)

    @property
    def is_there(self) -> bool:
        """Return whether the whole predicate has arrived, valid or not."""
        return not self.waiting and len(self.filters) >= self.total

    @property
    def is_wrong(self) -> bool:
        """Return whether the received filters can never agree with the digest."""
        if len(self.filters) > self.total:
            return True
        return self.is_there and numbers.moved(numbers.NO_DIGEST, self._weight) != self.digest

    def compare(self, held: HeldPredicate | None) -> bool:
        """Compare a slice with the held predicate; return whether the comparison is complete, and `changes` with it."""
        version = held.version if held else None
        if self._comparing is None or version != self._compared_with:
            self.changes, self._compared_with = [], version
            self._comparing = self._compare(held.filters if held else {})
        return next(self._comparing, self) is self

    def _compare(self, old: Mapping[int, bytes]) -> Iterator[None]:
        filters = iter(self.filters.items())
        while some := list(islice(filters, COMPARED_PER_SLICE)):
            if added := {id_: packed for id_, packed in some if old.get(id_) != packed}:
                self.changes.append(AppliedChange(added, ()))
            yield
        ids = iter(list(old))
        while some_ids := list(islice(ids, COMPARED_PER_SLICE)):
            if removed := tuple([id_ for id_ in some_ids if id_ not in self.filters]):
                self.changes.append(AppliedChange({}, removed))
            yield

    def as_held(self) -> HeldPredicate:
        return HeldPredicate(self.version, self.digest, self.filters, self.size, self.rest)
