"""Why a router does not start."""

from __future__ import annotations

from dataclasses import dataclass

from tamis.protocol.errors import TamisError


class CannotStart(TamisError):
    """Raised when the router cannot do what its settings ask; the sentence says what to change."""


class CannotStartNow(CannotStart):
    """Raised when the router could start later, without a change of its settings: a port that is taken may be free."""


Keys = tuple[str, ...]
"""A path in the topology file: below a router, or below the network where the router has none. `links` is followed by
the neighbour's id."""


@dataclass(frozen=True, slots=True)
class StartProblem:
    """Why a router would not start, and the keys of the file that say so."""

    what: str
    keys: Keys
