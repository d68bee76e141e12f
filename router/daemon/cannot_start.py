"""The errors that prevent the start of a router."""

from __future__ import annotations

from dataclasses import dataclass

from tamis.protocol.errors import TamisError


class CannotStart(TamisError):
    """Raised when the router cannot do what its settings require; the sentence states what to change."""


class CannotStartNow(CannotStart):
    """Raised when the router could start later, without a change of its settings: a port in use may become free."""


Keys = tuple[str, ...]
"""A path in the topology file: below a router, or below the network if the router has no such key. `links` is followed
by the neighbour's id."""


@dataclass(frozen=True, slots=True)
class StartProblem:
    """A reason why a router would not start, and the keys of the file that cause it."""

    what: str
    keys: Keys
