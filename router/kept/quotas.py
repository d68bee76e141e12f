"""Quotas of one router: most durable subscriptions, and most consumers of one."""

from __future__ import annotations

from dataclasses import dataclass

from tamis.protocol.wire.keep_bodies import Keep


@dataclass(frozen=True, slots=True)
class KeepQuotas:
    """`bytes_per_client`: most bytes that the bounds of all subscriptions of one client may add up to."""

    keeps: int = 10_000
    keeps_per_client: int = 100
    bytes_per_client: int = 10 * 2**30
    members_per_keep: int = 10_000

    def exceeded(self, made: int, own: int, own_bytes: int, keep: Keep) -> str:
        """Return which quota `keep` would exceed, "" if none. `made`: subscriptions of the router; `own`, `own_bytes`:
        number and bounds of those of the client."""
        if made >= self.keeps:
            return f"this router keeps for {self.keeps:,} names"
        if own >= self.keeps_per_client:
            return f"a client may make {self.keeps_per_client:,} keeps"
        if own_bytes + keep.terms.bytes > self.bytes_per_client:
            return f"the keeps of a client may have {self.bytes_per_client:,} bytes in all"
        return ""

    def too_many(self, members: int) -> str:
        """Return which quota a consumer besides `members` others would exceed; "" if none."""
        return f"a keep has {self.members_per_keep:,} members at most" if members >= self.members_per_keep else ""
