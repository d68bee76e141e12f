"""R4, R10: what two neighbours compare, and what one of them lacks.

Law: neighbours compare statements about routers that can be reached; about the others the two may know different
things, and nothing is missed. Statements carry their freshness, so an answer that comes late does no harm; an answer
says nothing of an issuer that it does not name. An answer is made body by body, as the link takes them; a predicate too
large for one body comes in pieces, as it was when its first piece was made. Version 1 of the wire has no pieces: its
speakers get whole predicates as large as they take, and larger ones not at all.

    SR(digest)  -->  equal: nothing               SR(vectors) -->  LSAs, then UR, of what is fresher, missing or other;
                     else: SR(vectors) back                        SR(vectors) back if the asker holds fresher things
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
"""The version of the wire from which on there are pieces."""
_WHOLE_BYTES_MAX: Final = ASSEMBLY_BYTES_MAX * 3 // 4
"""Bytes of filters in the largest predicate that is sent whole: they take a little more in a body, and other bodies
need room on the link."""


class Comparison(NamedTuple):
    """What the asked side found in the asker's vectors."""

    states: tuple[LinkState, ...]
    """Link states that are fresher than the asker's, or as fresh and different: then the asker tells the issuer."""
    entries: tuple[int, ...]
    """The issuers of predicates that are fresher than the asker's, or as fresh and different."""
    lacks: bool
    """Whether the asker holds something fresher."""


class Exchange:
    def __init__(self, rib: Rib, topology: KnownLinks) -> None:
        self._rib, self._topology = rib, topology
        self.reachable: frozenset[int] = frozenset()
        self.is_epoch_valid: Callable[[int, int], bool] = lambda issuer, epoch: True  # noqa: ARG005
        """(issuer, epoch): whether that epoch of a router is believed; a statement that would be refused counts for
        nothing."""
        self._tables = NO_TABLES
        self._made_of = (b"", self.reachable)

    def digest(self) -> bytes:
        """Return the digest of all that is known of routers that can be reached: that of everything, less the few out
        of reach."""
        return numbers.add(self._entries_digest(), self._states_digest())

    def tables(self) -> HeldTables:
        """Return the digest over what routers in reach want, and which these are. It is made again only after a
        change."""
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
        """Find what the asker lacks, and whether it holds something that is lacking here."""
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
        """Give the bodies of the answer to a peer that speaks `version`: at least one, which may be empty. None: this
        has taken long enough, go on later."""
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
        """Give the entry of an issuer, if there still is one, in the form that a peer that speaks `version` takes."""
        held = self._rib.entries.get(issuer)
        if held is None:
            return
        if held.is_large and version >= PIECES_SINCE:
            yield from held.as_pieces(issuer)
        elif fits_whole(held):
            yield held.as_entry(issuer)


def fits_whole(held: HeldPredicate) -> bool:
    """Does one body have room for this predicate?"""
    return len(held.filters) <= ENTRIES_MAX and held.size <= _WHOLE_BYTES_MAX
