"""Events of the durable subscriptions of a router (`events.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from tamis.native.keep_figures import KeepFigures
    from tamis.protocol.wire.keep_bodies import KeepTerms


class KeepChanged(NamedTuple):
    """The durable subscription `number` was `made`, `found` in the log at the start, with `doubts` ranges of unknown
    state, or `forgotten`, for the `cause`."""

    what: Literal["made", "found", "forgotten"]
    number: int
    name: str
    owner: str
    terms: KeepTerms
    doubts: int = 0
    cause: str = ""


class KeepAttended(NamedTuple):
    """A consumer has attached to a durable subscription, or detached from it."""

    what: Literal["attached", "detached"]
    number: int
    name: str
    client: str
    connection: int
    attachment: int


class KeepCounted(NamedTuple):
    """The figures of a durable subscription have changed within the last second."""

    number: int
    figures: KeepFigures
