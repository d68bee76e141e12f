"""R19: what this router states of its durable subscriptions, and what it stores of those of others.

Law: a durable subscription is stated once its record is on disk, and until it is forgotten. Its filters are also part
of this router's predicate (`DurableRegistry._interest`), for messages that enter at routers which store nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, Protocol

from tamis.native.log import LogBusy, LogFailed
from tamis.native.results import OutOfMemory
from tamis.protocol.errors import FrameError, Refused
from tamis.protocol.limits import DURABLE_WAIT_ROUTERS_MAX
from tamis.protocol.wire.client_bodies import KnownAt
from tamis.protocol.wire.codes import RefusalCode
from tamis.protocol.wire.custody_bodies import LogLife
from tamis.protocol.wire.durable_bodies import DurablePolicy, Overflow
from tamis.protocol.wire.home_bodies import REFUSES, TAKES_DIRECTED, TAKES_REMOTE, StatedDurable, packed_durable
from tamis.router.connections.wider_network import OtherHomes
from tamis.router.daemon.durable_events import DurableChanged
from tamis.router.durable.chains import DurableChains
from tamis.router.durable.elsewhere import ANSWERED_MS
from tamis.router.durable.home_records import HomeRecords
from tamis.router.durable.hosted import HostedDurable
from tamis.router.durable.refusals import RequestRefused
from tamis.router.durable.registry import DurableRegistry

WAIT_S: Final = ANSWERED_MS / 1_000
"""How long the answer to CREATE_DURABLE waits for routers that have not stored the subscription."""


class AlarmSink(Protocol):
    def alarm(self, text: str) -> None: ...


class DurableHomes:
    """`routers`: the other routers of the topology file; `make_chains` makes the chains of a life of the log."""

    def __init__(
        self,
        registry: DurableRegistry,
        homes: OtherHomes,
        routers: Sequence[str],
        health: AlarmSink,
        make_chains: Callable[[LogLife], DurableChains],
    ) -> None:
        self._registry, self._homes, self._routers, self._health = registry, homes, routers, health
        self._make_chains = make_chains
        state = registry.log.state()
        self._written = LogLife(state["log_id"], state["life"], state["life_before"])
        self.chains: DurableChains | None = None
        """None until `start`."""

    def start(self) -> None:
        """Recall what the log has of others, state what this router has, if it is only a log, and go on with each
        change."""
        found, homes, registry = self._registry.homes_found, self._homes, self._registry
        connections = registry.connections
        chains = self.chains = self._make_chains(self._written)
        known = tuple([each for each in found.statements() if each.name in self._routers])
        for each in known:
            self._want(each.name, each.log, dict(each.added), ())
        records = HomeRecords(registry, found, self._written, connections.work.add, self._want)
        homes.store_in(records.store)  # what it recalls is stored already
        chains.start()
        connections.chains = chains
        if self._written.before:
            homes.recall(self._written, known)
        own = {held.number: self._packed(held.name, held.owner, held.policy) for held in registry.by_number.values()}
        homes.state(self._written.log, {number: packed for number, packed in own.items() if packed})
        registry.connections.events.listen(DurableChanged, self._changed)

    def best_effort(self) -> list[str]:
        """Return the other routers of the topology file that do not store what the durable subscriptions here want."""
        chains = self.chains
        return [router for router in self._routers if chains is None or not chains.comes_from(router)]

    def has_all_chains(self) -> bool:
        """Return whether each other router of the topology file stores what the durable subscriptions here want."""
        return not self.best_effort()

    def when_known(self, answer: Callable[[KnownAt], None]) -> None:
        """Call `answer` with the routers that know what this router has now, and those that do not: others in reach,
        once WAIT_S are over, and those of the topology file that are out of reach."""

        def known(holding: list[str], missing: list[str]) -> None:
            unknown = sorted({*missing, *(each for each in self._routers if each not in holding)})
            most = DURABLE_WAIT_ROUTERS_MAX
            some = tuple(holding[:most]), tuple(unknown[:most])
            is_directed = bool(holding) and not set(holding).intersection(self.best_effort())
            answer(KnownAt(*some, len(holding), len(unknown), is_directed))

        self._homes.when_known(WAIT_S, known)

    def elsewhere(self, name: str) -> RequestRefused | None:
        """Return the refusal of a new durable subscription whose name another router of the topology file has; None if
        none is known to."""
        homes = [home for home, _ in self._homes.at(name) if home in self._routers]
        if not homes:
            return None
        return RequestRefused(
            RefusalCode.DURABLE_ELSEWHERE,
            f"{_routers(homes)} {'has' if len(homes) == 1 else 'have'} a durable subscription {name!r}: consume it, "
            "remove it, or choose another name",
        )

    def _want(self, name: str, log: int, added: Mapping[int, bytes], removed: Iterable[int]) -> None:
        """Store from now on what durable subscriptions of another router want; RequestRefused if that has no room: the
        statement is then not confirmed (C12)."""
        assert self.chains is not None  # noqa: S101 - made by `start`
        try:
            self.chains.state(name, log, added, removed)
        except (FrameError, Refused, OutOfMemory, LogBusy, LogFailed) as error:
            self._health.alarm(f"messages for durable subscriptions of router {name} are not stored: {error}")
            raise RequestRefused(RefusalCode.OUT_OF_MEMORY, str(error)) from error

    def _changed(self, changed: DurableChanged) -> None:
        if changed.what == "forgotten":
            self._homes.state(self._written.log, {}, (changed.number,))
        elif changed.what == "made":
            held = self._registry.by_number[changed.number]
            self._registry.when_on_disk(held.n, lambda error: self.restate(held) if error is None else None)

    def restate(self, held: HostedDurable) -> None:
        """State a durable subscription as it is now, if it is still there."""
        packed = self._packed(held.name, held.owner, held.policy)
        if packed and self._registry.by_number.get(held.number) is held:
            self._homes.state(self._written.log, {held.number: packed})

    def _packed(self, name: str, owner: str, policy: DurablePolicy) -> bytes:
        flags = TAKES_DIRECTED | TAKES_REMOTE | (REFUSES if policy.overflow is Overflow.REFUSE else 0)
        try:
            return packed_durable(StatedDurable(name, owner, policy.filters, flags, policy.for_ms, policy.idle_ms))
        except Refused as error:
            self._health.alarm(f"durable subscription {name} is not stated to other routers: {error}")
            return b""


def _routers(homes: Sequence[str]) -> str:
    return f"router{'' if len(homes) == 1 else 's'} {' and '.join(homes)}"
