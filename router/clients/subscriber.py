"""A subscriber: the state of an admitted client apart from its connection.

Law: a subscriber is in the switch under its interface, a number of the table, from the client's admission until its
last filter is removed. Its client, the peer of its connection, receives and sends all frames for it; a subscriber has
no client once that connection has ended.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Protocol

from tamis.native.switch_figures import SubscriberFigures
from tamis.native.switch_values import Admission
from tamis.protocol.errors import FrameError
from tamis.router.access.admitted import Admitted
from tamis.router.clients.interest import LocalInterest


class Serving(Protocol):
    """The peer of the connection that serves a subscriber."""

    def fail(self, error: FrameError, kind: int = 0) -> None:
        """Send the client the error, and end its connection if the error is fatal."""


class SubscribedSwitch(Protocol):
    """The part of the switch that a subscriber uses."""

    def subscriber(self, subscriber: int) -> SubscriberFigures: ...

    def filters_of(self, subscriber: int) -> int: ...


class Subscriber:
    """One subscriber. `interface`: its number in the switch; `client`: serves it, or None once that has ended."""

    __slots__ = (
        *("_make_interest", "_switch", "_interest", "client", "filters_max", "admitted", "groups", "interface", "name"),
        *("answers_id", "table_bytes_max", "unindexed_max", "wants_since_s"),
    )

    def __init__(
        self,
        *,
        switch: SubscribedSwitch,
        interface: int,
        name: str,
        admission: Admission,
        admitted: Admitted,
        client: Serving,
        make_interest: Callable[[], LocalInterest],
    ) -> None:
        self._switch, self._make_interest = switch, make_interest
        self._interest: LocalInterest | None = None
        self.interface, self.name, self.admitted = interface, name, admitted
        self.filters_max, self.table_bytes_max = admission.filters_max, admission.table_bytes_max
        self.unindexed_max = admission.unindexed_max
        self.client: Serving | None = client
        self.answers_id = 0
        """The id of its subscription to answers that only its right to ask allows; 0: it has none."""
        self.groups: dict[int, str] = {}
        """Subscription id to worker group, for subscriptions in a group."""
        self.wants_since_s: float | None = None
        """When it made its first subscription (monotonic); None if it made none."""

    @property
    def interest(self) -> LocalInterest:
        """The interest of the client, made at the first use."""
        self._interest = self._interest or self._make_interest()
        return self._interest

    def clear_interest(self) -> Generator[None, None, None]:
        """Withdraw all interest of the client from the network, in slices."""
        if self._interest is not None:
            yield from self._interest.clear()

    def restate_interest(self) -> Generator[None, None, None]:
        """Announce what the rules of access leave of its interest now, in slices."""
        if self._interest is not None:
            yield from self._interest.restate()

    @property
    def subscriptions(self) -> int:
        """The number of its subscriptions."""
        return self._switch.subscriber(self.interface).subscriptions

    @property
    def filters(self) -> int:
        """The number of its filters."""
        return self._switch.filters_of(self.interface)

    def wanted_before(self, at_s: float) -> bool:
        """Return whether it has a subscription, and had made one by `at_s` (monotonic)."""
        return self.wants_since_s is not None and self.wants_since_s <= at_s and self.subscriptions > 0
