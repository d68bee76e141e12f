"""Which client asks what became of a message.

Law: reports come to the router where the message entered, which alone knows the client that asked. It remembers
ASKED_MAX askers and forgets the oldest first; a report for a client that is forgotten or gone is dropped.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final, Protocol

from tamis.protocol.wire.report_bodies import Report

ASKED_MAX: Final = 4_096
"""Askers remembered: far more than people look at, and a few hundred KiB."""


class Asker(Protocol):
    """A client that has sent a message and asks what becomes of it."""

    def report(self, report: Report) -> None: ...


class TraceAskers:
    """Trace id -> the client that asks about it."""

    def __init__(self) -> None:
        self._clients: OrderedDict[int, Asker] = OrderedDict()

    def asks(self, client: Asker, trace: int) -> None:
        self._clients[trace] = client
        self._clients.move_to_end(trace)
        if len(self._clients) > ASKED_MAX:
            self._clients.popitem(last=False)

    def bring(self, report: Report) -> None:
        client = self._clients.get(report.trace)
        if client is not None:
            client.report(report)
