"""Events of the durable subscriptions of a router (`events.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from tamis.native.durable_figures import DurableFigures
    from tamis.protocol.wire.durable_bodies import DurablePolicy


class DurableChanged(NamedTuple):
    """The durable subscription `number` was `made`, `found` in the log at the start, with `unknowns` ranges of unknown
    state, or `forgotten`, for the `cause`."""

    what: Literal["made", "found", "forgotten"]
    number: int
    name: str
    owner: str
    policy: DurablePolicy
    unknowns: int = 0
    cause: str = ""


class DurableConsumed(NamedTuple):
    """A consumer has attached to a durable subscription, or detached from it."""

    what: Literal["attached", "detached"]
    number: int
    name: str
    client: str
    connection: int
    consumer: int


class DurableCounted(NamedTuple):
    """The figures of a durable subscription have changed within the last second."""

    number: int
    figures: DurableFigures
