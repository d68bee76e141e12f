"""R4, R10: the comparison of two neighbours, and the statements that one of them lacks.

Law: neighbours compare statements about reachable routers; about others they may hold different statements, which does
no harm. Statements carry their freshness, which makes a late reply harmless; a reply implies nothing about an issuer
that it does not name. A reply is made body by body, as the link accepts them; a predicate that exceeds one body is sent
in pieces, as it was when its first piece was made. Version 1 of the wire has no pieces: its speakers receive whole
predicates up to the size that they accept, and larger ones not at all.

    SR(digest)  -->  equal: nothing               SR(vectors) -->  LSAs, then UR, of fresher, missing or other state;
                     else: SR(vectors) back                        SR(vectors) back if the requester holds fresher state
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from tamis.protocol.limits import ASSEMBLY_BYTES_MAX, ENTRIES_MAX
from tamis.protocol.wire import numbers
from tamis.protocol.wire.routing_bodies import Entry, Known, LinkState, SenderRequest, UpdateReply
from tamis.router.core.routing.reuse import NO_TABLES, HeldTables
from tamis.router.core.statements.rib import HeldPredicate, Rib
from tamis.router.core.statements.sizes import is_large, listed_size
from tamis.router.core.statements.topology import KnownLinks, LinkStateHeld

PIECES_SINCE: Final = 2
"""The first version of the wire that has pieces."""
_WHOLE_BYTES_MAX: Final = ASSEMBLY_BYTES_MAX * 3 // 4
"""Bytes of filters in the largest predicate that is sent whole: they take a little more in a body, and other bodies
need room on the link."""


class Comparison(NamedTuple):
    """The result of comparing the requester's vectors with the own state."""

    states: tuple[LinkState, ...]
    """Link states that are fresher than the requester's, or equally fresh and different: in that case the requester
    informs the issuer."""
    entries: tuple[int, ...]
    """The issuers of predicates that are fresher than the requester's, or equally fresh and different."""
    lacks: bool
    """Whether the requester holds something fresher."""


class Exchange:
    def __init__(self, rib: Rib, topology: KnownLinks) -> None:
        self._rib, self._topology = rib, topology
        self.reachable: frozenset[int] = frozenset()
        self.is_epoch_valid: Callable[[int, int], bool] = lambda issuer, epoch: True  # noqa: ARG005
        """(issuer, epoch): whether that epoch of a router is valid; a statement with another epoch is ignored in a
        comparison."""
        self._tables = NO_TABLES
        self._made_of = (b"", self.reachable)

    def digest(self) -> bytes:
        """Return the digest of all statements about reachable routers: that of everything, less the few unreachable
        ones."""
        return numbers.add(self._entries_digest(), self._states_digest())

    def tables(self) -> HeldTables:
        """Return the digest over the predicates of reachable routers, and the routers that it covers. It is made again
        only after a change."""
        made_of = (self._rib.digest, self.reachable)
        if made_of[0] != self._made_of[0] or made_of[1] is not self._made_of[1]:
            self._made_of = made_of
            self._tables = HeldTables(self._entries_digest(), tuple(sorted(self._rib.entries.keys() & self.reachable)))
        return self._tables

    def _entries_digest(self) -> bytes:
        out_of_reach = self._rib.entries.keys() - self.reachable
        return numbers.subtract(self._rib.digest, *map(self._rib.weight, out_of_reach))

    def _states_digest(self) -> bytes:
        out_of_reach = self._topology.states.keys() - self.reachable
        return numbers.subtract(self._topology.digest, *map(self._topology.weight, out_of_reach))

    def vectors(self) -> tuple[tuple[Known, ...], tuple[Known, ...]]:
        return tuple(self._known_entries()), tuple(self._known_states())

    def _known_entries(self) -> Iterator[Known]:
        for issuer, held in self._rib.entries.items():
            if issuer in self.reachable:
                yield Known(issuer, *held.version, held.digest)

    def _known_states(self) -> Iterator[Known]:
        for issuer, state in self._topology.states.items():
            if issuer in self.reachable:
                yield Known(issuer, *state.version, state.digest)

    def compare(self, request: SenderRequest) -> Comparison:
        """Find what the requester lacks, and whether it holds something that is lacking here."""
        fresher, lacks = self._against(request.known, self._rib.entries)
        fresher_states, lacks_states = self._against(request.topology, self._topology.states)
        bodies = tuple(self._topology.states[issuer].body for issuer in fresher_states)
        return Comparison(bodies, tuple(fresher), lacks or lacks_states)

    def _against(
        self, theirs: Iterable[Known], ours: Mapping[int, HeldPredicate | LinkStateHeld]
    ) -> tuple[list[int], bool]:
        fresher, lacks, named = [], False, set()
        for issuer, epoch, seq, digest in theirs:
            named.add(issuer)
            held = ours.get(issuer)
            if held is None or (epoch, seq) > held.version:
                is_epoch_valid = self.is_epoch_valid(issuer, epoch)
                lacks |= is_epoch_valid
                fresher += [] if is_epoch_valid or held is None else [issuer]
            elif (epoch, seq) < held.version or digest != held.digest:
                fresher.append(issuer)
        missing = [issuer for issuer in ours if issuer not in named and issuer in self.reachable]
        return [*fresher, *missing], lacks

    def replies(self, request: SenderRequest, issuers: Iterable[int], version: int) -> Iterator[UpdateReply | None]:
        """Yield the bodies of the reply to a peer that speaks `version`: at least one, which may be empty. None: the
        caller should continue later, as this slice took long enough."""
        batch: list[Entry] = []
        size = 0
        for issuer in issuers:
            for entry in self._entries(issuer, version):
                if entry is None:
                    yield None
                    continue
                size += listed_size(entry.filters)
                if batch and is_large(size):
                    yield UpdateReply(*request.ticket, tuple(batch), more=True)
                    batch, size = [], listed_size(entry.filters)
                batch.append(entry)
        yield UpdateReply(*request.ticket, tuple(batch))

    def _entries(self, issuer: int, version: int) -> Iterator[Entry | None]:
        """Yield the entry of an issuer, if one is still held, in the form that a peer that speaks `version` accepts."""
        held = self._rib.entries.get(issuer)
        if held is None:
            return
        if held.is_large and version >= PIECES_SINCE:
            yield from held.as_pieces(issuer)
        elif fits_whole(held):
            yield held.as_entry(issuer)


def fits_whole(held: HeldPredicate) -> bool:
    """Return whether this predicate fits one body."""
    return len(held.filters) <= ENTRIES_MAX and held.size <= _WHOLE_BYTES_MAX
