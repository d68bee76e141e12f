"""Bounds of rules of access on what durable subscriptions hold of the log: those of an owner, or of all of a role.

Law: a bound binds whether the log is tight or not, only the subscriptions that are charged to it, each by its own
terms. An owner whose roles state none has the common share.
"""

from __future__ import annotations

from tamis.native.durables import SwitchDurables
from tamis.router.access.in_force import AccessInForce
from tamis.router.durable.owners import Owners


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

    def most_of(self, owner: str) -> int:
        """Return the bytes that the subscriptions of an owner may hold by its quotas; 0: no bound."""
        return self._access.rights_of_owner(owner).quota.log_bytes_of(self._log_bytes)
