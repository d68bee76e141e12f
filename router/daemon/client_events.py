"""Events of the subscriptions of clients (`events.py`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from tamis.native.subscribe_frame import SubscribeFrame


class SubscriptionsAdded(NamedTuple):
    """The subscriptions `ids` of a frame are in force."""

    client: str
    connection: int
    ids: list[int]
    frame: SubscribeFrame

    @property
    def filters(self) -> Mapping[int, tuple[bytes, ...]]:
        """The packed filters by subscription. They are unpacked at the first access."""
        filters = self.frame.filters
        return {id_: filters[id_] for id_ in self.ids}


class SubscriptionRemoved(NamedTuple):
    """A client has removed a subscription."""

    client: str
    connection: int
    subscription: int
