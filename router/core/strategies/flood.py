"""Strategy `flood`: event forwarding, as paper 003 describes it, on any graph.

Law: a router requests one filter that matches everything, whatever its clients want; their own filters are used for
local delivery alone. Messages therefore use the trees of their sources to every router that requests them, and a change
of subscriptions is not advertised. R1 and R7 apply here, too: the filter is advertised once, and is withdrawn after the
hold. Filters of worker groups are stated separately, as in every strategy: a router that chooses a member must know the
members.
"""

from __future__ import annotations

from typing import Final

from tamis.protocol.filters import Filter
from tamis.protocol.wire.packed_filters import encode_filter
from tamis.protocol.wire.routing_bodies import group_of
from tamis.router.core.statements.cover import Cover
from tamis.router.core.statements.own_predicate import OwnPredicate

EVERYTHING: Final = encode_filter(Filter(()))
"""The filter without constraints, packed."""


class Everything(OwnPredicate):
    """A predicate that requests everything while clients want anything (`prune: true`)."""

    def want(self, packed: bytes) -> None:
        super().want(packed if group_of(packed) else EVERYTHING)

    def unwant(self, packed: bytes, now_us: int) -> None:
        super().unwant(packed if group_of(packed) else EVERYTHING, now_us)


class AlwaysEverything(Everything):
    """A predicate that requests everything always (`prune: false`)."""

    def __init__(self, narrow_hold_us: int, cover: Cover) -> None:
        super().__init__(narrow_hold_us, cover)
        OwnPredicate.want(self, EVERYTHING)
