"""R4, R10: what two neighbours compare, and what one of them lacks.

Law: compared is what concerns routers that can be reached: of the others each side may know something else and nothing
is missed. Statements carry their freshness, so an answer that comes late does no harm, and of an issuer that is not
named nothing is said.

    SR(digest)  -->  equal: nothing               SR(vectors) -->  LSAs, then UR, of what is fresher, missing or other;
                     else: SR(vectors) back                        SR(vectors) back if the asker holds fresher things
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from tamis.protocol.wire import numbers
from tamis.protocol.wire.routing_bodies import Entry, Known, LinkState, SenderRequest, UpdateReply
from tamis.router.core.rib import Held, Rib
from tamis.router.core.topology import State, Topology

REPLY_BYTES: Final = 1_048_576
"""A reply is closed once its filters have so many bytes, so that the next one may be applied while more are made."""


class Comparison(NamedTuple):
    """What the asked side found in the asker's vectors."""

    states: tuple[LinkState, ...]
    """Fresher than the asker's, or as fresh and not the same: then the asker tells the issuer."""
    entries: tuple[int, ...]
    """Issuers of such predicates."""
    lacks: bool
    """The asker holds something fresher."""


class Exchange:
    def __init__(self, rib: Rib, topology: Topology) -> None:
        self._rib, self._topology = rib, topology
        self.reachable: frozenset[int] = frozenset()
        self.is_plausible: Callable[[int, int], bool] = lambda issuer, epoch: True  # noqa: ARG005
        """Whether an epoch of a router is believed: what is not would be refused, and counts for nothing."""

    def digest(self) -> bytes:
        """Over all that is known of routers that can be reached: over all that is known, but for those few."""
        return numbers.add(self._entries_digest(), self._states_digest())

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
        """What the asker lacks, and whether it holds something that is lacking here."""
        fresher, lacks = self._against(request.known, self._rib.entries)
        fresher_states, lacks_states = self._against(request.topology, self._topology.states)
        bodies = tuple(self._topology.states[issuer].body for issuer in fresher_states)
        return Comparison(bodies, tuple(fresher), lacks or lacks_states)

    def _against(self, theirs: Iterable[Known], ours: Mapping[int, Held | State]) -> tuple[list[int], bool]:
        fresher, lacks, named = [], False, set()
        for issuer, epoch, seq, digest in theirs:
            named.add(issuer)
            held = ours.get(issuer)
            if held is None or (epoch, seq) > held.version:
                is_plausible = self.is_plausible(issuer, epoch)
                lacks |= is_plausible
                fresher += [] if is_plausible or held is None else [issuer]
            elif (epoch, seq) < held.version or digest != held.digest:
                fresher.append(issuer)
        missing = [issuer for issuer in ours if issuer not in named and issuer in self.reachable]
        return [*fresher, *missing], lacks

    def replies(self, request: SenderRequest, issuers: Iterable[int]) -> list[UpdateReply]:
        """At least one, which may be empty: that is the answer, too."""
        batches: list[list[Entry]] = [[]]
        room = REPLY_BYTES
        for issuer in issuers:
            if room < 0:
                batches.append([])
                room = REPLY_BYTES
            held = self._rib.entries[issuer]
            batches[-1].append(held.as_entry(issuer))
            room -= sum(map(len, held.filters.values()))
        ticket = request.ticket
        return [UpdateReply(*ticket, tuple(batch), batch is not batches[-1]) for batch in batches]
