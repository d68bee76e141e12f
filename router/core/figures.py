"""The figures of a core, for a simulator's judge, a benchmark or a command.

Law: figures are plain values, made when they are asked for; reading them changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Figures(NamedTuple):
    digest: bytes
    """Digest of all statements about routers that can be reached; neighbours at rest have equal digests."""
    known: frozenset[int]
    """The routers of which anything is kept."""
    unfinished: Mapping[str, int]
    """Kind of work -> how much of it is under way for routers in reach; kinds without any are left out."""
