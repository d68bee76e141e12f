"""Clients that wait for reports on their messages, by trace id.

Law: reports are sent to the router where the message entered, which alone has the client. It remembers ASKED_MAX traces
and forgets the oldest first; a report for a forgotten trace or a closed client is dropped.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final, Protocol

from tamis.protocol.wire.report_bodies import Report

ASKED_MAX: Final = 4_096
"""Most traces remembered, a few hundred KiB."""


class Asker(Protocol):
    """A client that waits for reports on a message."""

    def report(self, report: Report) -> None: ...


class TraceAskers:
    """Trace id to the client that waits for reports on it."""

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
