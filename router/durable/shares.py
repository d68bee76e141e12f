"""Bounds of rules of access on what durable subscriptions hold of the log: those of an owner, or of all of a role.

Law: a bound binds whether the log is tight or not, only the subscriptions that are charged to it, each by its own
terms. An owner whose roles state none has the common share.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

from tamis.native.durables import SwitchDurables
from tamis.router.access.in_force import AccessInForce
from tamis.router.access.usage import QuotaUse
from tamis.router.durable.owners import Owners

OWNERS_LOOKED_AT: Final = 1_000


class LogShares:
    """The bounds of one router with rules, whose log has at most `log_bytes`."""

    def __init__(self, access: AccessInForce, durables: SwitchDurables, owners: Owners, log_bytes: int) -> None:
        self._access, self._durables, self._owners, self._log_bytes = access, durables, owners, log_bytes
        self.pools: dict[str, int] = {}
        """Roles whose totals limit the log, by the number of their pool."""
        self.changed()

    def changed(self) -> None:
        """Put the bounds of the rules of now in force. Raise OutOfMemory."""
        roles = [role for role in self._access.rules.roles.values() if role.totals.limits_log]
        self.pools = {role.name: number for number, role in enumerate(roles)}
        for owner, _ in self._owners:
            self.bound(owner)
        for role in roles:
            most = 0 if self._access.observes else role.totals.log_bytes_of(self._log_bytes)
            self._durables.bound_pool(self.pools[role.name], most)

    def bound(self, owner: str) -> None:
        """Put the bounds of an owner in force, which has a subscription. Raise OutOfMemory."""
        rights = self._access.rights_of_owner(owner)
        most = 0 if self._access.observes else self.most_of(owner)
        pools = [self.pools[role] for role in rights.names if role in self.pools]
        self._durables.bound(self._owners.of(owner).number, most, pools)

    def uses(self) -> Iterator[QuotaUse]:
        """Yield how much is used of each bound: of roles, and of the first OWNERS_LOOKED_AT owners."""
        for role, pool in self.pools.items():
            most = self._access.rules.roles[role].totals.log_bytes_of(self._log_bytes)
            yield QuotaUse("totals", f"role {role}", "log", self._durables.pool_charge(pool), most)
        for owner, owned in islice(self._owners, OWNERS_LOOKED_AT):
            most = self.most_of(owner)
            if most:
                yield QuotaUse("quotas", owner, "log", self._durables.charge(owned.number), most)

    def most_of(self, owner: str) -> int:
        """Return the bytes that the subscriptions of an owner may hold by its quotas; 0: no bound."""
        return self._access.rights_of_owner(owner).quota.log_bytes_of(self._log_bytes)
