"""Events of each second: its number, and the increments of the counters of connections.

Law: a connection is reported in each second in which one of its counters changed, in slices; a report that is not
complete when the next second begins covers both. Only this file reads the counters, because reading resets them, and
only while there is a listener.
"""

from __future__ import annotations

import asyncio
from typing import Final

from tamis.router.connections.connections import Connections
from tamis.router.connections.work import Task
from tamis.router.daemon.events import InterfaceCounted, SecondPassed
from tamis.router.daemon.link_events import UnlinkedCounted

SECOND_S: Final = 1.0


class SecondTicker:
    """Emits the events of each second, from `start` to `stop`."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._timer: asyncio.TimerHandle | None = None
        self._is_telling = False
        self._seconds = 0

    def start(self) -> None:
        self._timer = self._connections.later(SECOND_S, self._next)

    def stop(self) -> None:
        """Stop, and report the last increments."""
        if self._timer is not None:
            self._timer.cancel()
        if self._is_counted():
            for _ in self._counters():
                pass

    def _next(self) -> None:
        self.start()
        self._seconds += 1
        self._connections.events.tell(SecondPassed, self._seconds)
        if self._is_counted() and not self._is_telling:
            self._is_telling = True
            self._connections.work.add(self._counters())

    def _is_counted(self) -> bool:
        return self._connections.events.is_heard(InterfaceCounted)

    def _counters(self) -> Task:
        connections, at, before = self._connections, 0, -1
        while at != before:
            before = at
            gained, at = connections.switch.increments(at)
            for increment in gained:
                connections.events.tell(InterfaceCounted, increment, *connections.behind(increment.connection))
            yield
        while unlinked := connections.network.unlinked():
            for neighbour, messages in unlinked.items():
                connections.events.tell(UnlinkedCounted, neighbour, messages)
        self._is_telling = False
