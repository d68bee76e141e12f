"""What may be asked of one router: how many keeps there may be, and how many members of one."""

from __future__ import annotations

from dataclasses import dataclass

from tamis.protocol.wire.keep_bodies import Keep


@dataclass(frozen=True, slots=True)
class KeepQuotas:
    """`bytes_per_client`: of the bounds of all keeps that one client has made."""

    keeps: int = 10_000
    keeps_per_client: int = 100
    bytes_per_client: int = 10 * 2**30
    members_per_keep: int = 10_000

    def exceeded(self, made: int, own: int, own_bytes: int, keep: Keep) -> str:
        """Return which quota one more keep would exceed where `made` are made, `own` of them with bounds of `own_bytes`
        by the client that asks; empty: none."""
        if made >= self.keeps:
            return f"this router keeps for {self.keeps:,} names"
        if own >= self.keeps_per_client:
            return f"a client may make {self.keeps_per_client:,} keeps"
        if own_bytes + keep.terms.bytes > self.bytes_per_client:
            return f"the keeps of a client may have {self.bytes_per_client:,} bytes in all"
        return ""

    def too_many(self, members: int) -> str:
        """Return which quota one more member beside `members` would exceed; empty: none."""
        return f"a keep has {self.members_per_keep:,} members at most" if members >= self.members_per_keep else ""
