"""Quotas of one router: most durable subscriptions, and most consumers of one."""

from __future__ import annotations

from dataclasses import dataclass

from tamis.protocol.wire.durable_bodies import CreateDurable


@dataclass(frozen=True, slots=True)
class DurableQuotas:
    """`bytes_per_client`: most bytes that the bounds of all subscriptions of one client may add up to."""

    durables: int = 10_000
    subscriptions_per_client: int = 100
    bytes_per_client: int = 10 * 2**30
    consumers_per_subscription: int = 10_000

    def exceeded(self, made: int, own: int, own_bytes: int, durable: CreateDurable) -> str:
        """Return which quota `durable` would exceed, "" if none. `made`: subscriptions of the router; `own` and
        `own_bytes`: number and bounds of those of the client."""
        if made >= self.durables:
            return f"this router has {self.durables:,} durable subscriptions, its limit"
        if own >= self.subscriptions_per_client:
            return f"a client may have at most {self.subscriptions_per_client:,} durable subscriptions"
        if own_bytes + durable.policy.bytes > self.bytes_per_client:
            return f"a client's durable subscriptions may have at most {self.bytes_per_client:,} bytes in total"
        return ""

    def too_many(self, consumers: int) -> str:
        """Return which quota a consumer besides `consumers` others would exceed; "" if none."""
        return (
            f"a durable subscription may have at most {self.consumers_per_subscription:,} consumers"
            if consumers >= self.consumers_per_subscription
            else ""
        )
