"""What happens to the keeps of a router (`events.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from tamis.native.keep_figures import KeepFigures
    from tamis.protocol.wire.keep_bodies import KeepTerms


class KeepChanged(NamedTuple):
    """The keep `number` was `made`, `found` in the log at the start, with stretches of positions in `doubts`, or
    `forgotten`, for the `cause`."""

    what: Literal["made", "found", "forgotten"]
    number: int
    name: str
    owner: str
    terms: KeepTerms
    doubts: int = 0
    cause: str = ""


class KeepAttended(NamedTuple):
    """A client has attached to a keep, or left it."""

    what: Literal["attached", "detached"]
    number: int
    name: str
    client: str
    connection: int
    attachment: int


class KeepCounted(NamedTuple):
    """How a keep stands has changed within the last second."""

    number: int
    figures: KeepFigures
