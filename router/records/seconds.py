"""Records made each second: the tables, and the clocks of neighbours.

Law: the tables are recorded when they have changed, and each TABLE_S; a clock when the first heartbeat of a session is
answered, and then every CLOCK_S. While records cannot be written the router reports a problem.
"""

from __future__ import annotations

from typing import Final

from tamis.native.results import Gone
from tamis.router.clients.clients import Clients
from tamis.router.connections.wider_network import LinkSession
from tamis.router.daemon.events import EventBus, SecondPassed
from tamis.router.daemon.process import resident_bytes
from tamis.router.daemon.stalls import StallWatch
from tamis.router.records.recorder import Recorder

CLOCK_S: Final = 10
TABLE_S: Final = 60
TROUBLE: Final = "records"
"""Name of the problem that records cannot be written, for Health."""


class SecondRecords:
    """Reads figures of `clients` and their connections, and adds records to `recorder`."""

    def __init__(self, clients: Clients, recorder: Recorder, stalls: StallWatch) -> None:
        self._clients, self._connections, self._recorder, self._stalls = clients, clients.connections, recorder, stalls
        self._seconds = 0
        self._table: dict[str, object] = {}
        self._table_told = 0
        self._clock_told: dict[int, int] = {}

    def listen(self, events: EventBus) -> None:
        """Start to record each second."""
        events.listen(SecondPassed, self._passed)

    def _passed(self, second: SecondPassed) -> None:
        self._seconds = second.number
        self._tell_table()
        self._tell_clocks()
        self._look_at_writer()

    # --- tables ------------------------------------------------------------------------------------------------------

    def _tell_table(self) -> None:
        connections = self._connections
        tables = [table.stats() for table in connections.tables]
        now: dict[str, object] = {
            "filters": tables[0].filters,
            "remote_filters": sum(table.filters for table in tables[1:]),
            "constraints": sum(table.constraints for table in tables),
            "table_bytes": sum(table.memory_bytes for table in tables),
            "clients": len(self._clients.names),
        }
        if now == self._table and self._seconds - self._table_told < TABLE_S:
            return
        self._table, self._table_told = now, self._seconds
        stall_us = round(self._stalls.taken_held_s() * 1e6)
        self._recorder.note("table", **now, memory_bytes=resident_bytes(), stall_us=stall_us)

    # --- clocks ------------------------------------------------------------------------------------------------------

    def _look_at_writer(self) -> None:
        """Report a problem while records cannot be written; the router stays ready."""
        health, trouble = self._connections.health, self._recorder.trouble
        if trouble:
            health.problem(TROUBLE, f"{trouble}; messages are still delivered", is_ready=True)
        else:
            health.mended(TROUBLE)

    def _tell_clocks(self) -> None:
        sessions = {link.session: link for link in self._connections.network.links}
        self._clock_told = {session: at for session, at in self._clock_told.items() if session in sessions}
        for session, link in sessions.items():
            told = self._clock_told.get(session)
            if (told is None or self._seconds - told >= CLOCK_S) and self._tell_clock(link):
                self._clock_told[session] = self._seconds

    def _tell_clock(self, link: LinkSession) -> bool:
        try:
            clock = self._connections.switch.clock(link.connection)
        except Gone:
            return False
        if clock is not None:
            self._recorder.note(
                "clock",
                neighbour=link.name,
                offset_us=clock.offset_us,
                error_us=(clock.round_trip_us + 1) // 2,
                round_trip_us=clock.round_trip_us,
            )
        return clock is not None
