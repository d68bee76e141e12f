"""Filters and control bodies, written short."""

from __future__ import annotations

from tamis.protocol.filters import Constraint, Filter, Op
from tamis.protocol.wire.numbers import NO_DIGEST, predicate_digest, stable_number
from tamis.protocol.wire.packed_filters import encode_filter
from tamis.protocol.wire.routing_bodies import (
    Adjacency,
    AdvertisedFilter,
    Entry,
    LinkState,
    ReceiverAdvertisement,
    Scope,
    SenderRequest,
)

Filters = dict[int, bytes]


def less(bound: int, name: str = "x") -> bytes:
    """The filter `x < bound`, packed."""
    return encode_filter(Filter((Constraint(name, Op.LT, (bound,)),)))


def state(issuer: str, seq: int, *neighbours: str, epoch: int = 1, cost: int = 1) -> LinkState:
    return LinkState(issuer, epoch, seq, tuple(Adjacency(stable_number(name), 1, cost) for name in neighbours))


def whole(issuer: str, seq: int, filters: Filters, epoch: int = 1, confirm: bool = False) -> ReceiverAdvertisement:
    added, digest = _listed(filters), predicate_digest(filters.items())
    return ReceiverAdvertisement(stable_number(issuer), epoch, seq, True, 0, added, (), digest, len(filters), confirm)


def change(
    issuer: str, base: int, seq: int, before: Filters, after: Filters, epoch: int = 1, confirm: bool = False
) -> ReceiverAdvertisement:
    added = _listed({id_: packed for id_, packed in after.items() if id_ not in before})
    removed = tuple(id_ for id_ in before if id_ not in after)
    digest = predicate_digest(after.items())
    number = stable_number(issuer)
    return ReceiverAdvertisement(number, epoch, seq, False, base, added, removed, digest, len(after), confirm)


def entry(issuer: str, seq: int, filters: Filters, epoch: int = 1) -> Entry:
    return Entry(stable_number(issuer), epoch, seq, predicate_digest(filters.items()), _listed(filters))


def digest_of(requester: str, digest: bytes = b"?" * len(NO_DIGEST)) -> SenderRequest:
    """A neighbour says over what it knows: something else than anybody knows here, unless told."""
    return SenderRequest(stable_number(requester), 1, 1, Scope.NEIGHBOUR, digest, ())


def _listed(filters: Filters) -> tuple[AdvertisedFilter, ...]:
    return tuple(AdvertisedFilter(*filter_) for filter_ in filters.items())
