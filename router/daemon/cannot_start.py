"""What prevents the start of a router, and which keys of the file cause it."""

from __future__ import annotations

from dataclasses import dataclass

Keys = tuple[str, ...]
"""A path in the topology file: below a router, or below the network if the router has no such key. `links` is followed
by the neighbour's id."""


@dataclass(frozen=True, slots=True)
class StartProblem:
    """A reason why a router would not start, and the keys of the file that cause it."""

    what: str
    keys: Keys
