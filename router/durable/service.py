"""The durable subscriptions of one router, assembled: log, registry, requests, replays, alarms and figures.

Law: the service is made after the switch; replays are closed before the switch, the log after it.
"""

from __future__ import annotations

from tamis.protocol.wire.custody_bodies import LogLife
from tamis.router.clients.clients import Clients
from tamis.router.daemon.events import SecondPassed
from tamis.router.durable.alarms import DurableAlarms
from tamis.router.durable.chain_alarms import ChainAlarms
from tamis.router.durable.chains import CustodyBounds, DurableChains
from tamis.router.durable.counting import DurableCounts
from tamis.router.durable.elsewhere import Elsewhere
from tamis.router.durable.guards import DurableGuards
from tamis.router.durable.homes import DurableHomes
from tamis.router.durable.hosted import HostedDurable
from tamis.router.durable.log_watch import LogWatch
from tamis.router.durable.open_log import OpenedLog
from tamis.router.durable.registry import DurableRegistry
from tamis.router.durable.replays import Replays
from tamis.router.durable.requests import DurableRequests
from tamis.router.durable.rights import Rights
from tamis.router.durable.shares import LogShares
from tamis.router.durable.starts import Starts
from tamis.router.durable.waiting import Look, look


class DurableService:
    """The component of a router that stores messages."""

    def __init__(self, clients: Clients, opened: OpenedLog) -> None:
        """Serve `clients` from a log, which the service owns from here on, also if this raises."""
        connections = clients.connections
        assert connections.settings.durable is not None  # noqa: S101 - built only with `durable` settings
        settings = self._stored = connections.settings.durable
        self.log, self.bounds = opened.log, opened.bounds
        try:
            rights = Rights(lambda: clients.tokens)
            guards = DurableGuards(clients.access)
            narrow = guards.announced if clients.access is not None else None
            self.registry = DurableRegistry(connections, self.log, clients.new_interest(narrow), rights, guards)
        except BaseException:
            self.log.close()
            raise
        self._clients = clients
        self.shares: LogShares | None = None
        if clients.access is not None:
            self.shares = LogShares(clients.access, self.registry.durables, self.registry.owners, self.bounds.bytes_max)
            self.registry.new_owner = self.shares.bound
            clients.access.changed = self._rules_changed
        self._share()
        self.replays = Replays(connections.switch, self.log, settings)
        self._elsewhere = Elsewhere(self.registry, self.registry.missed)
        self._starts = Starts(self.registry, self.replays)
        self._alarms = DurableAlarms(self.registry, connections.health)
        self._chain_alarms = ChainAlarms(connections.health)
        self._watch = LogWatch(
            *(self.log, settings.folder or "", self.bounds.segment_bytes, connections.health),
            refused=lambda: self.registry.all_figures().refused,
        )
        self._watch.look()
        self._counts = DurableCounts(self.registry)
        self.homes = DurableHomes(
            *(self.registry, connections.network.homes, connections.settings.others, connections.health),
            *(connections.network.reaches, self._make_chains),
        )
        self._requests = DurableRequests(self.registry, self.log, self.replays, self._elsewhere, self.homes)
        clients.durables = self._requests
        connections.events.listen(SecondPassed, self._each_second)
        if clients.access is None:
            rights.tell()

    def begin_in_network(self, noticed_within_ms: int) -> None:
        """Start to record unknown ranges and what other routers state, because this router has links; call this before
        any message can be stored. A loss is noticed within `noticed_within_ms`."""
        self.homes.start()
        self._elsewhere.start(noticed_within_ms, self.homes.has_all_chains)

    @property
    def share_bytes(self) -> int:
        """The bytes of the log that the subscriptions of one owner may hold while space is short; 0 if shares are not
        enforced, because names are unproven."""
        tokens = self._clients.tokens
        are_proven = self._clients.access is not None or (tokens is not None and not tokens.has_token_of_anybody)
        return int(self._stored.share * self.bounds.bytes_max) if are_proven else 0

    def _make_chains(self, written: LogLife) -> DurableChains:
        connections, custody = self._clients.connections, self._stored.custody
        for_all, refuses = int(custody.share * self.bounds.bytes_max), custody.overflow == "refuse"
        bounds = CustodyBounds(custody.bytes, for_all, custody.window, 1_000 * custody.age, refuses)
        names, homes = (connections.settings.id, connections.settings.others), connections.network.homes
        told, reaches = self._elsewhere, connections.network.reaches
        begins = told.chains_begin, told.missing
        return DurableChains(*names, written, self.registry, homes, *begins, told.chain_began, bounds, reaches)

    def _share(self) -> None:
        self.registry.durables.share(self.share_bytes)

    def _rules_changed(self) -> None:
        if self.shares is not None:
            self.shares.changed()
        self.registry.durables.look_again()
        self.registry.announced.restate()

    def used_bytes(self) -> int:
        """Return the bytes of the log's segments, without spare files."""
        state = self.log.state()
        return state["disk_bytes"] - state["spare"] * self.bounds.segment_bytes

    async def look(self, held: HostedDurable, after: int, limit: int, dead_of: HostedDurable | None) -> Look:
        """Return the messages that wait in a durable subscription after position `after`. `dead_of`: only dead letters
        of that subscription."""
        died = dead_of.number if dead_of is not None else None
        return await self.replays.aside(lambda: look(self.log, held.number, after, limit, died))

    def close_replays(self) -> None:
        self._starts.close()
        self.replays.close()

    def close_log(self) -> None:
        """Commit all appended records and close the log. Call this after the switch is closed."""
        self.log.close()

    def _each_second(self, second: SecondPassed) -> None:
        self._share()
        self.registry.end_leases()
        self._elsewhere.each_second()
        self.homes.each_second()
        self._requests.each_second()
        self._alarms.look()
        if self.homes.chains is not None:
            self._chain_alarms.look(self.homes.chains)
        self._watch.look()
        self._counts.each_second(second)
