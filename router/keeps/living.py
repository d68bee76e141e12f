"""One keep in this life of the router, and what may be asked of one router.

Law: nothing here outlives the router; what does is in the account, which the records make. The router itself
goes by `KeepLife` and `KeepQuotas`; `LivingKeep` adds what C does there.
"""

from __future__ import annotations

from dataclasses import dataclass

from tamis.protocol.wire.keep_bodies import Keep
from tamis.router.keeps.dispatch import Dispatch
from tamis.router.keeps.ledger import KeepAccount
from tamis.router.keeps.life import KEEP_TABLE, KeepChange, KeepState
from tamis.router.keeps.records import Leaving


@dataclass(frozen=True, slots=True)
class KeepQuotas:
    """What may be asked of one router. `bytes_per_client`: of the bounds of all keeps that one client has made."""

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


class KeepLife:
    """Where a keep is in its life, and since when nobody is attached (steady clock)."""

    __slots__ = ("idle_since_ms", "state")

    def __init__(self, state: KeepState, since_ms: int) -> None:
        self.state, self.idle_since_ms = state, since_ms

    def change(self, change: KeepChange, now_ms: int) -> None:
        self.state = KEEP_TABLE[self.state, change]
        if self.state is KeepState.IDLE:
            self.idle_since_ms = now_ms

    def lease_ends_ms(self, idle_ms: int) -> int | None:
        """Return when the keep is forgotten, if nobody attaches before; None: it is not."""
        return self.idle_since_ms + idle_ms if self.state is KeepState.IDLE and idle_ms else None


class LivingKeep:
    """A keep, and who is attached. `lost`: in all, of what is on disk."""

    def __init__(self, account: KeepAccount, state: KeepState, since_ms: int, recovered_below: int) -> None:
        self.account, self.life = account, KeepLife(state, since_ms)
        self.dispatch = Dispatch(account, recovered_below)
        self.lost: dict[Leaving, int] = {}
