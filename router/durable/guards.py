"""Guards of durable subscriptions and their consumers in the switch; without rules of access there are none.

Law: a subscription is guarded from before its first message to the end of its last filter.
"""

from __future__ import annotations

from tamis.router.access.in_force import AccessInForce
from tamis.router.durable.catalog import DurableCreated
from tamis.router.durable.consumers import Consumer


class DurableGuards:
    """`access`: the rules in force; None if there are none."""

    def __init__(self, access: AccessInForce | None) -> None:
        self._access = access
        self._subscribers: dict[int, int] = {}
        self._roles: dict[int, frozenset[str]] = {}

    def begin(self, number: int, subscriber: int, made: DurableCreated) -> None:
        """Let durable subscription `number`, `subscriber` in the switch, store only what its owner may have. Raise
        OutOfMemory, or Refused beyond a limit."""
        if self._access is not None:
            filters = len(made.policy.filters)
            self._access.guard_durable(subscriber, made.name, made.owner, filters, made.roles)
            self._subscribers[number] = subscriber
            if made.roles:
                self._roles[number] = made.roles

    def roles_of(self, number: int) -> frozenset[str]:
        """Return the roles that the owner had, if the rules did not list it."""
        return self._roles.get(number, frozenset())

    def give(self, number: int, name: str, owner: str, filters: int) -> None:
        """Let a durable subscription store what another owner may have. Raise OutOfMemory, or Refused beyond a limit;
        then nothing has changed."""
        if self._access is not None:
            self._access.guard_durable(self._subscribers[number], name, owner, filters)
            self._roles.pop(number, None)

    def announced(self, number: int, filters: tuple[bytes, ...]) -> tuple[bytes, ...]:
        """Return what rules leave of the filters of a durable subscription, to state to neighbours."""
        subscriber = self._subscribers.get(number)
        if self._access is None or subscriber is None:
            return filters
        return self._access.announced(subscriber, 0, filters)

    def end(self, number: int) -> None:
        """Release the guard of a durable subscription that the switch has forgotten."""
        self._roles.pop(number, None)
        subscriber = self._subscribers.pop(number, None)
        if self._access is not None and subscriber is not None:
            self._access.gone(subscriber)

    def consumer_gone(self, consumer: Consumer) -> None:
        """Release the guard of a consumer."""
        if self._access is not None:
            self._access.consumer_gone(consumer)
