"""One durable subscription of this router, in little memory: there may be ten thousand.

Law: equal policies are stored once, without their filters: few programs use a policy of their own.
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import replace
from typing import NamedTuple

from tamis.protocol.wire.durable_bodies import DurablePolicy
from tamis.router.durable.catalog import DurableCreated
from tamis.router.durable.life import DurableLife, DurableState


class OwnCopy(NamedTuple):
    """This router's copy of a durable subscription with several homes, and when it was made, Unix milliseconds."""

    homes: tuple[str, ...]
    made_ms: int


class HostedDurable(DurableLife):
    """`n`: number of its catalog record; `first_n`: that of its first one, behind which its messages are; `rest`: its
    policy without the filters, from a SharedPolicy; `made_ms`: when it was made (monotonic), 0 if in an earlier run of
    the router; `copy`: None if this router is its only home. It inherits DurableLife because a second object would take
    40 bytes more."""

    __slots__ = ("copy", "filters", "first_n", "made_ms", "n", "name", "number", "owner", "rest")

    def __init__(
        self,
        number: int,
        n: int,
        made: DurableCreated,
        rest: DurablePolicy,
        state: DurableState,
        since_ms: int,
        unix_ms: int,
    ) -> None:
        super().__init__(state, since_ms)
        self.number, self.n, self.rest = number, n, rest
        self.first_n = n
        self.made_ms = since_ms if state is DurableState.MAKING else 0
        self.copy = OwnCopy(made.homes, unix_ms) if made.homes else None
        self.name, self.owner, self.filters = made.name, sys.intern(made.owner), made.policy.filters

    @property
    def policy(self) -> DurablePolicy:
        """The whole policy with its filters; a new object each time."""
        return replace(self.rest, filters=self.filters)

    @property
    def made(self) -> DurableCreated:
        """The content of its catalog record; a new object each time."""
        return DurableCreated(self.name, self.owner, self.policy, homes=self.homes)

    @property
    def homes(self) -> tuple[str, ...]:
        """Its routers, if there are several."""
        return self.copy.homes if self.copy is not None else ()


class SharedPolicy:
    """Policies without filters, each distinct one stored once while a subscription uses it."""

    def __init__(self) -> None:
        self._known: dict[DurablePolicy, DurablePolicy] = {}
        self._durables: Counter[DurablePolicy] = Counter()

    def share(self, policy: DurablePolicy) -> DurablePolicy:
        """Return the shared object for `policy` without its filters, and count one more user of it."""
        rest = replace(policy, filters=())
        rest = self._known.setdefault(rest, rest)
        self._durables[rest] += 1
        return rest

    def release(self, rest: DurablePolicy) -> None:
        """Count one user of `rest` less, and drop it after the last one."""
        self._durables[rest] -= 1
        if self._durables[rest] == 0:
            del self._durables[rest], self._known[rest]
