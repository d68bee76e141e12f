"""The figures of a core, for the simulator, a benchmark or a command.

Law: figures are plain values, computed on request; reading them changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Figures(NamedTuple):
    digest: bytes
    """Digest of all statements about reachable routers; quiescent neighbours have equal digests."""
    known: frozenset[int]
    """The routers about which a statement or its version is held."""
    unfinished: Mapping[str, int]
    """Maps each kind of work to its pending amount for reachable routers; kinds without pending work are left out."""
