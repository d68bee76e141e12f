"""A subscriber: what a router keeps for a client that was let in, apart from the connection by which it came.

Law: it is in the switch under its interface, which is the table's, from the client's admission until its last filter is
forgotten. What is said to it and heard of it goes by its client, the other end of the connection that serves it; it is
without one where that has ended.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Protocol

from tamis.native import Admission, Switch
from tamis.protocol.errors import FrameError
from tamis.router.clients.grants import Grant
from tamis.router.clients.wishes import ClientWishes


class Serving(Protocol):
    """The other end of the connection that serves a subscriber."""

    def fail(self, error: FrameError, kind: int = 0) -> None:
        """It has to go, and is told why."""


class Subscriber:
    """`interface` is its number in the switch; `client` serves it, while one does."""

    __slots__ = (
        *("_make_wishes", "_switch", "_wishes", "client", "filters_max", "grant", "interface", "name"),
        *("table_bytes_max", "wants_since_s"),
    )

    def __init__(
        self,
        *,
        switch: Switch,
        interface: int,
        name: str,
        admission: Admission,
        grant: Grant,
        client: Serving,
        make_wishes: Callable[[], ClientWishes],
    ) -> None:
        self._switch, self._make_wishes = switch, make_wishes
        self._wishes: ClientWishes | None = None
        self.interface, self.name, self.grant = interface, name, grant
        self.filters_max, self.table_bytes_max = admission.filters_max, admission.table_bytes_max
        self.client: Serving | None = client
        self.wants_since_s: float | None = None
        """When it had its first subscription."""

    @property
    def wishes(self) -> ClientWishes:
        """What it asks of the network."""
        self._wishes = self._wishes or self._make_wishes()
        return self._wishes

    def clear_wishes(self) -> Generator[None, None, None]:
        """It asks nothing of the network any more: told in slices."""
        if self._wishes is not None:
            yield from self._wishes.clear()

    @property
    def subscriptions(self) -> int:
        """How many it has."""
        return self._switch.subscriber(self.interface).subscriptions

    def wanted_before(self, at_s: float) -> bool:
        """It had a subscription then, and has one."""
        return self.wants_since_s is not None and self.wants_since_s <= at_s and self.subscriptions > 0
