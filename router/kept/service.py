"""The durable subscriptions of one router, assembled: log, registry, requests, replays, alarms and figures.

Law: the service is made after the switch; replays are closed before the switch, the log after it.
"""

from __future__ import annotations

from tamis.router.clients.clients import Clients
from tamis.router.daemon.events import SecondPassed
from tamis.router.kept.alarms import KeptAlarms
from tamis.router.kept.counting import KeepCounts
from tamis.router.kept.elsewhere import Elsewhere
from tamis.router.kept.held import HeldKeep
from tamis.router.kept.keeper import KeepHost
from tamis.router.kept.log_watch import LogWatch
from tamis.router.kept.open_log import OpenedLog
from tamis.router.kept.replays import Replays
from tamis.router.kept.requests import KeepRequests
from tamis.router.kept.rights import Rights
from tamis.router.kept.starts import Starts
from tamis.router.kept.waiting import Look, look


class KeptService:
    """The component of a router that stores messages."""

    def __init__(self, clients: Clients, opened: OpenedLog) -> None:
        """Serve `clients` from a log, which the service owns from here on, also if this raises."""
        connections = clients.connections
        assert connections.settings.kept is not None  # noqa: S101 - built only with `kept` settings
        settings = self._kept = connections.settings.kept
        self.log, self.bounds = opened.log, opened.bounds
        try:
            rights = Rights(lambda: clients.tokens)
            self.keeper = KeepHost(connections, self.log, clients.new_interest(), rights)
        except BaseException:
            self.log.close()
            raise
        self._clients = clients
        self._share()
        self.replays = Replays(connections.switch, self.log, settings)
        self._elsewhere = Elsewhere(self.keeper, self.keeper.missed)
        self.keeper.known = self._elsewhere.known
        self._starts = Starts(self.keeper, self.replays)
        self._alarms = KeptAlarms(self.keeper, connections.health)
        self._watch = LogWatch(
            *(self.log, settings.folder or "", self.bounds.segment_bytes, connections.health),
            refused=lambda: self.keeper.all_figures().refused,
        )
        self._watch.look()
        self._counts = KeepCounts(self.keeper)
        clients.keeping = KeepRequests(self.keeper, self.log, self.replays, self._elsewhere)
        connections.events.listen(SecondPassed, self._each_second)
        rights.tell()

    def begin_in_network(self, noticed_within_ms: int) -> None:
        """Start to record unknown ranges, because this router has links; call this before any message can be stored. A
        loss is noticed within `noticed_within_ms`."""
        self._elsewhere.start(noticed_within_ms)

    @property
    def share_bytes(self) -> int:
        """The bytes of the log that the subscriptions of one owner may hold while space is short; 0 if shares are not
        enforced, because names are unproven."""
        tokens = self._clients.tokens
        return int(self._kept.share * self.bounds.bytes_max) if tokens and not tokens.has_token_of_anybody else 0

    def _share(self) -> None:
        self.keeper.keeps.share(self.share_bytes)

    def used_bytes(self) -> int:
        """Return the bytes of the log's segments, without spare files."""
        state = self.log.state()
        return state["disk_bytes"] - state["spare"] * self.bounds.segment_bytes

    async def look(self, held: HeldKeep, after: int, limit: int, dead_of: HeldKeep | None) -> Look:
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
        self.keeper.end_leases()
        self._elsewhere.each_second()
        self._alarms.look()
        self._watch.look()
        self._counts.each_second(second)
