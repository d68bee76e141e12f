"""What a core says of itself to those that watch it: a simulator's judge, a benchmark, a command.

Law: plain values, made when they are asked for; looking changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Figures(NamedTuple):
    digest: bytes
    """Over all that is known of routers that can be reached: neighbours at rest have the same."""
    known: frozenset[int]
    """The routers of which anything is kept."""
    unfinished: Mapping[str, int]
    """What is under way about those in reach, by kind; nothing at rest."""
