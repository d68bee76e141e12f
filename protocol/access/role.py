"""A role: the rights of all principals that have it.

Law: a role is data; rights.py decides by it. A right that is not stated is not given.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from tamis.protocol.access.patterns import NamePattern
from tamis.protocol.access.rule import NAME, AccessRule
from tamis.protocol.values import Value

DAY_S: Final = 86_400
IDLE_MAX_S: Final = 30 * DAY_S
"""The longest time without a consumer that a durable subscription may ask for, unless its right states another."""


class AdminLevel(enum.IntEnum):
    """Levels of administration; each includes those below it."""

    VIEWER = 1
    """Status, connections, metrics."""
    OPERATOR = 2
    """Also filters of others, traces, dry runs, unmatched messages, spaces."""
    ADMIN = 3
    """Also what changes rights: reload, giving durable subscriptions away, purging."""


@dataclass(frozen=True, slots=True)
class Permission:
    """Messages that are allowed, without those that are denied; None is no message."""

    allow: AccessRule | None = None
    deny: AccessRule | None = None


@dataclass(frozen=True, slots=True)
class Rate:
    """Limits of publishing, of one connection name; None is no limit. `burst`: messages that may come at once."""

    messages_s: int | None = None
    burst: int | None = None
    bytes_s: int | None = None


@dataclass(frozen=True, slots=True)
class DurableRight:
    """Durable subscriptions that may be made. `of`: the messages that they may have; None: what `subscribe` allows.
    `refuse`: the messages that they may turn away when they are full; None: none. `idle_max_s` 0: for ever."""

    names: tuple[NamePattern, ...]
    of: AccessRule | None = None
    bytes: int | None = None
    refuse: AccessRule | None = None
    idle_max_s: int = IDLE_MAX_S


@dataclass(frozen=True, slots=True)
class ConsumeRight:
    """Durable subscriptions of others that may be consumed; `skip`: also moved past what waits in them."""

    names: tuple[NamePattern, ...]
    skip: bool = False


@dataclass(frozen=True, slots=True)
class Quota:
    """How much one name may have, or all that have a role together; None is no limit. `log`: part of the log, and
    `log_bytes`: bytes of it, of which the larger counts."""

    connections: int | None = None
    durables: int | None = None
    filters: int | None = None
    log: float | None = None
    log_bytes: int | None = None

    def log_bytes_of(self, log_bytes: int) -> int:
        """Return the bytes that a log with this limit gives; 0: no limit."""
        return max(1, int((self.log or 0) * log_bytes), self.log_bytes or 0) if self.limits_log else 0

    @property
    def limits_log(self) -> bool:
        """Whether there is a limit of the log."""
        return self.log is not None or self.log_bytes is not None


@dataclass(frozen=True, slots=True)
class AccessRole:
    """What a role may do. `stamp`: attributes that its messages get where they enter. `quotas` are of each name,
    `totals` of all names that have the role."""

    name: str
    publish: Permission = Permission()
    stamp: Mapping[str, Value] = field(default_factory=dict)
    rate: Rate | None = None
    subscribe: Permission = Permission()
    groups: tuple[NamePattern, ...] = ()
    requests: bool = False
    durable: DurableRight | None = None
    consume: ConsumeRight | None = None
    inspect: tuple[NamePattern, ...] = ()
    remove: tuple[NamePattern, ...] = ()
    replay: Permission = Permission()
    replay_since_s: int | None = None
    admin: AdminLevel | None = None
    quotas: Quota = Quota()
    totals: Quota = Quota()

    @property
    def asks_name(self) -> bool:
        """Whether a decision may depend on the name of a connection."""
        rules = [rule for part in (self.publish, self.subscribe, self.replay) for rule in (part.allow, part.deny)]
        patterns = [*self.groups, *self.inspect, *self.remove]
        if self.durable is not None:
            rules += [self.durable.of, self.durable.refuse]
            patterns += self.durable.names
        if self.consume is not None:
            patterns += self.consume.names
        return (
            any(rule is not None and rule.asks_name for rule in rules)
            or any(NAME in pattern.text for pattern in patterns)
            or NAME in self.stamp.values()
        )
