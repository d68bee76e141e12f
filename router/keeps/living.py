"""One keep in this life of the router, and what may be asked of one router.

Law: nothing here outlives the router; what does is in the account, which the records make.
"""

from __future__ import annotations

from dataclasses import dataclass

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


class LivingKeep:
    """The state of a keep, and who is attached. `lost`: in all, of what is on disk."""

    def __init__(self, account: KeepAccount, state: KeepState, since_ms: int, recovered_below: int) -> None:
        self.account, self.state, self.idle_since_ms = account, state, since_ms
        self.dispatch = Dispatch(account, recovered_below)
        self.lost: dict[Leaving, int] = {}

    def change(self, change: KeepChange) -> None:
        self.state = KEEP_TABLE[self.state, change]
