"""The trees of roots, along which messages of classes go (paper 003's rendezvous nodes).

Law: routers with equal topologies have equal forests, each seen from its own position: the roots follow from the set of
reachable routers (`roots.py`), and their trees are the shortest paths from them. A forest never changes; a change of
topology makes a new one.

    a message of class c ──> entry names root R ──> along the tree of R: towards R, and down to interested routers
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
    """Maps a root to its tree: `parent(source)` is the neighbour from which messages of a source arrive along it,
    `parent(root)` the neighbour towards the root, and `below(root)` has each issuer behind another link."""
    roots: tuple[int, ...] = ()
    """The root that messages of each class name, followed by that of messages in no class; 0: they name none yet.
    Empty: no message names a root."""

    def root_of(self, classes: Collection[int]) -> int | None:
        """Return the root that a message in these classes names: that of the first class. None: it names none, and uses
        the tree of its source."""
        return (self.roots[min(classes, default=-1)] or None) if self.roots else None


NO_FOREST: Final = Forest()
