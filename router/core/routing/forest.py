"""The trees of roots, along which messages of classes go (paper 003's rendezvous nodes).

Law: routers with the same topology have the same forest, but for where each stands in it: which roots there are follows
from who is in reach (`roots.py`), and their trees are the shortest paths from them. A forest never changes; a change of
topology makes a new one.

    a message of class c ──> entry names root R ──> along the tree of R: towards R, and down to those who want it
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final

from tamis.router.core.routing.trees import Trees


@dataclass(frozen=True, slots=True)
class Forest:
    """The forest of one topology, as seen from one router."""

    trees: Mapping[int, Trees] = field(default_factory=dict)
    """root -> its tree: `parent(source)` is where messages of a source come from along it, `parent(root)` the way up,
    and `below(root)` has each issuer behind another link."""
    roots: tuple[int, ...] = ()
    """The root that messages of each class name, and behind them that of messages in no class; 0: they name none yet;
    no roots at all: as if each were 0."""

    def root_of(self, classes: Collection[int]) -> int | None:
        """Return the root that a message names which is in these classes: the first one's. None: it names none, and
        goes by the tree of its source."""
        return (self.roots[min(classes, default=-1)] or None) if self.roots else None


NO_FOREST: Final = Forest()
