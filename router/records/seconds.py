"""What is told each second: counters of interfaces, the tables, and neighbours' clocks.

Law: an interface is told of in each second in which one of its counters moved, in slices; the tables when they have
changed, and each minute; a clock when a session's first heartbeat is answered, and then every CLOCK_S.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from tamis.native import Gone
from tamis.router.connections.work import Task
from tamis.router.daemon.process import resident_bytes
from tamis.router.daemon.stalls import StallWatch
from tamis.router.records.recorder import Recorder

if TYPE_CHECKING:
    from tamis.router.connections.plane import Plane
    from tamis.router.links.link import Link

SECOND_S: Final = 1.0
CLOCK_S: Final = 10
TABLE_S: Final = 60


class Seconds:
    """It runs from `start` to `stop`."""

    def __init__(self, plane: Plane, recorder: Recorder, stalls: StallWatch) -> None:
        self._plane, self._recorder, self._stalls = plane, recorder, stalls
        self._timer: asyncio.TimerHandle | None = None
        self._is_telling = False
        self._seconds = 0
        self._table: dict[str, object] = {}
        self._table_told = 0
        self._clock_told: dict[int, int] = {}

    def start(self) -> None:
        self._timer = self._plane.later(SECOND_S, self._next)

    def stop(self) -> None:
        """The last counters are told."""
        if self._timer is not None:
            self._timer.cancel()
        for _ in self._interfaces():
            pass

    def _next(self) -> None:
        self.start()
        self._seconds += 1
        self._tell_table()
        self._tell_clocks()
        if not self._is_telling:
            self._is_telling = True
            self._plane.work.add(self._interfaces())

    # --- interfaces --------------------------------------------------------------------------------------------------

    def _interfaces(self) -> Task:
        at, before = 0, -1
        while at != before:
            before = at
            gained, at = self._plane.switch.increments(at)
            for increment in gained:
                self._recorder.interface(increment, *self._plane.behind(increment.connection))
            yield
        self._tell_unlinked()
        self._is_telling = False

    def _tell_unlinked(self) -> None:
        """Neighbours without a link have no interface, and lose messages all the same."""
        plane = self._plane
        while plane.network is not None and (unlinked := plane.switch.unlinked()):
            for number, messages in unlinked.items():
                self._recorder.note(
                    "interface", neighbour=plane.network.neighbours.name_of(number), dropped={"no_link": messages}
                )

    # --- tables ------------------------------------------------------------------------------------------------------

    def _tell_table(self) -> None:
        plane = self._plane
        tables = [table.stats() for table in plane.tables]
        now: dict[str, object] = {
            "filters": tables[0].filters,
            "remote_filters": sum(table.filters for table in tables[1:]),
            "constraints": sum(table.constraints for table in tables),
            "table_bytes": sum(table.memory_bytes for table in tables),
            "clients": len(plane.names),
        }
        if now == self._table and self._seconds - self._table_told < TABLE_S:
            return
        self._table, self._table_told = now, self._seconds
        stall_us = round(self._stalls.taken_held_s() * 1e6)
        self._recorder.note("table", **now, memory_bytes=resident_bytes(), stall_us=stall_us)

    # --- clocks ------------------------------------------------------------------------------------------------------

    def _tell_clocks(self) -> None:
        links = self._plane.network.neighbours.links if self._plane.network is not None else []
        sessions = {link.session: link for link in links}
        self._clock_told = {session: at for session, at in self._clock_told.items() if session in sessions}
        for session, link in sessions.items():
            told = self._clock_told.get(session)
            if (told is None or self._seconds - told >= CLOCK_S) and self._tell_clock(link):
                self._clock_told[session] = self._seconds

    def _tell_clock(self, link: Link) -> bool:
        try:
            clock = self._plane.switch.clock(link.connection)
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
