"""Clients that have metrics of their own.

Law: the first `limits.client_series` clients in order of admission have their own metrics; each of the others is
counted under OTHERS for its whole session. A client never changes between both, and the counters of OTHERS never
decrease when a client leaves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Protocol

from tamis.native.results import Gone
from tamis.native.switch_figures import ConnectionFigures

OTHERS: Final = "others"
"""Name of the series for all other clients; a client of this name has no metrics of its own."""


class CountingSwitch(Protocol):
    """A switch with counters of its clients."""

    def connection(self, connection: int) -> ConnectionFigures:
        """Return the figures of one connection; raise Gone if it has ended."""

    def clients(self) -> ConnectionFigures:
        """Return the sums over all clients whose connections have not ended."""


@dataclass(frozen=True, slots=True)
class ClientCounts:
    """Messages and deliveries of clients, and their present queues and filters."""

    messages_in: int = 0
    deliveries: int = 0
    dropped: int = 0
    queued_bytes: int = 0
    filters: int = 0

    @staticmethod
    def of(figures: ConnectionFigures) -> ClientCounts:
        return ClientCounts(
            figures.messages_in, figures.deliveries, figures.dropped, figures.queued_bytes, figures.filters
        )

    def but(self, other: ClientCounts) -> ClientCounts:
        """Return these counts minus those of `other`."""
        return ClientCounts(
            self.messages_in - other.messages_in,
            self.deliveries - other.deliveries,
            self.dropped - other.dropped,
            self.queued_bytes - other.queued_bytes,
            self.filters - other.filters,
        )


class ClientSeries:
    """The clients with metrics of their own, by name, and the sums of the other clients that have left."""

    def __init__(self, switch: CountingSwitch) -> None:
        self._switch = switch
        self._named: dict[str, int] = {}
        self._left = ClientCounts()
        self._told = ClientCounts()

    def came(self, name: str, connection: int, limit: int) -> None:
        """Add a client that was admitted. `limit`: most clients with metrics of their own; a client that reconnects
        while its old connection exists replaces it."""
        if name in self._named or (len(self._named) < limit and name != OTHERS):
            self._named[name] = connection

    def went(self, name: str, connection: int) -> None:
        """Remove a connection that has ended and whose counters the switch still has."""
        if self._named.get(name) == connection:
            del self._named[name]
        elif name not in self._named:
            at_its_end = ClientCounts.of(self._switch.connection(connection))
            self._left = ClientCounts(
                self._left.messages_in + at_its_end.messages_in,
                self._left.deliveries + at_its_end.deliveries,
                self._left.dropped + at_its_end.dropped,
            )

    def counts(self) -> Iterator[tuple[str, ClientCounts]]:
        """Yield the counts of each client with metrics of its own, then the sum of all others."""
        others = ClientCounts.of(self._switch.clients())
        for name, connection in self._named.items():
            try:
                own = ClientCounts.of(self._switch.connection(connection))
            except Gone:
                continue
            others = others.but(own)
            yield name, own
        left, told = self._left, self._told
        # A connection that has ended is in neither sum until its end is handled.
        self._told = ClientCounts(
            max(told.messages_in, others.messages_in + left.messages_in),
            max(told.deliveries, others.deliveries + left.deliveries),
            max(told.dropped, others.dropped + left.dropped),
            others.queued_bytes,
            others.filters,
        )
        yield OTHERS, self._told
