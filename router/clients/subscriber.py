"""A subscriber: what a router keeps for a client that was let in, apart from the connection by which it came.

Law: a subscriber is in the switch under its interface, which is the table's, from the client's admission until its last
filter is forgotten. Frames reach it and come from it through its client, the other end of the connection that serves
it; it has no client once that connection has ended.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Protocol

from tamis.native.switch_figures import SubscriberFigures
from tamis.native.switch_values import Admission
from tamis.protocol.errors import FrameError
from tamis.router.clients.grants import Grant
from tamis.router.clients.interest import LocalInterest


class Serving(Protocol):
    """The other end of the connection that serves a subscriber."""

    def fail(self, error: FrameError, kind: int = 0) -> None:
        """Tell the client what was wrong, and end its connection if the error is fatal."""


class SubscribedSwitch(Protocol):
    """The switch that a subscriber is in."""

    def subscriber(self, subscriber: int) -> SubscriberFigures: ...


class Subscriber:
    """One subscriber. `interface` is its number in the switch; `client` serves it, or is None once that has gone."""

    __slots__ = (
        *("_make_interest", "_switch", "_interest", "client", "filters_max", "grant", "groups", "interface", "name"),
        *("table_bytes_max", "wants_since_s"),
    )

    def __init__(
        self,
        *,
        switch: SubscribedSwitch,
        interface: int,
        name: str,
        admission: Admission,
        grant: Grant,
        client: Serving,
        make_interest: Callable[[], LocalInterest],
    ) -> None:
        self._switch, self._make_interest = switch, make_interest
        self._interest: LocalInterest | None = None
        self.interface, self.name, self.grant = interface, name, grant
        self.filters_max, self.table_bytes_max = admission.filters_max, admission.table_bytes_max
        self.client: Serving | None = client
        self.groups: dict[int, str] = {}
        """The worker group of each subscription that is in one, by the id of the subscription."""
        self.wants_since_s: float | None = None
        """When it had its first subscription (monotonic); None: it had none."""

    @property
    def interest(self) -> LocalInterest:
        """What the client asks of the network."""
        self._interest = self._interest or self._make_interest()
        return self._interest

    def clear_interest(self) -> Generator[None, None, None]:
        """Take back, in slices, all that the client asks of the network."""
        if self._interest is not None:
            yield from self._interest.clear()

    @property
    def subscriptions(self) -> int:
        """How many subscriptions it has."""
        return self._switch.subscriber(self.interface).subscriptions

    def wanted_before(self, at_s: float) -> bool:
        """Had it a subscription at `at_s` (monotonic), and has it one now?"""
        return self.wants_since_s is not None and self.wants_since_s <= at_s and self.subscriptions > 0
