"""The parallel search tree of paper 002, section II and III, to the letter.

    root: a1 ---1--> a2 ---2--> a3 ...        one level for each attribute of the schema, in its order
             |          ---*--> a3 ...        a subscription is a path from the root to a leaf
             ---*--> a2 ...                   trits of a node: one for each link

Law: one event has one value for every attribute of the schema, and a subscription asks for values of some of them, as
in the paper's charts. A *matching step* is the visit of one node, as the paper counts them. Optimizations are the
paper's: *factoring* (the first attributes are an index, with a subtree for each combination of values, in which
subscriptions that do not care are repeated), *elimination of trivial tests* (a node whose only child is behind a
*-branch is left out) and *delayed branching* (a value's branch and the *-branch beside it are followed as one, so that
a step is the visit of at most `delay` nodes of one level together; the result is a graph).

Where the text is silent: of an index lookup no step is counted, and a node that was left out costs none.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Final

Subscription = Mapping[str, object]
"""The value that it wants of each attribute that it cares about."""

Event = Mapping[str, object]


class Trit(enum.Enum):
    NO = "N"
    MAYBE = "M"
    YES = "Y"


_LIBERAL: Final = (Trit.NO, Trit.MAYBE, Trit.YES)

Trits = tuple[Trit, ...]


def alternative(one: Trits, other: Trits) -> Trits:
    """Of branches of which one is taken: the least specific result."""
    return tuple(a if a is b else Trit.MAYBE for a, b in zip(one, other, strict=True))


def parallel(one: Trits, other: Trits) -> Trits:
    """Of branches that are all taken: the most liberal result."""
    return tuple(max(pair, key=_LIBERAL.index) for pair in zip(one, other, strict=True))


@dataclass
class StarNode:
    """A test of the attribute at `level`, or a leaf: as many levels as there are attributes lie above that."""

    level: int
    values: dict[object, StarNode] = field(default_factory=dict)
    star: StarNode | None = None
    links: set[int] = field(default_factory=set)
    trits: Trits = ()


class PaperTree:
    """Subscriptions by link; `domains` are the values of the attributes used for factoring, which come first."""

    def __init__(
        self,
        schema: Sequence[str],
        subscriptions: Iterable[tuple[Subscription, int]],
        links: int,
        domains: Sequence[Sequence[object]] = (),
    ) -> None:
        self.schema, self.links, self.factored = tuple(schema), links, len(domains)
        self.roots = {key: StarNode(self.factored) for key in product(*domains)}
        for wanted, link in subscriptions:
            for key in self._combinations(wanted, domains):
                self._insert(self.roots[key], wanted, link)
        for key, root in self.roots.items():
            self.roots[key] = self._shortened(root)
            self._annotate(self.roots[key])

    # --- building ---------------------------------------------------------------------------------------------------

    def _combinations(self, wanted: Subscription, domains: Sequence[Sequence[object]]) -> Iterable[tuple[object, ...]]:
        """The subtrees of a subscription: those of its values, or of all where it does not care."""
        chosen = (
            [wanted[name]] if name in wanted else domain for name, domain in zip(self.schema, domains, strict=False)
        )
        return product(*chosen)

    def _insert(self, node: StarNode, wanted: Subscription, link: int) -> None:
        for level in range(self.factored, len(self.schema)):
            name = self.schema[level]
            if name in wanted:
                node = node.values.setdefault(wanted[name], StarNode(level + 1))
            else:
                node.star = node.star or StarNode(level + 1)
                node = node.star
        node.links.add(link)

    def _shortened(self, node: StarNode) -> StarNode:
        """Elimination of trivial tests."""
        while node.star is not None and not node.values:
            node = node.star
        node.values = {value: self._shortened(child) for value, child in node.values.items()}
        node.star = node.star and self._shortened(node.star)
        return node

    def _annotate(self, node: StarNode) -> Trits:
        no = (Trit.NO,) * self.links
        if node.level == len(self.schema):
            node.trits = tuple(Trit.YES if link in node.links else Trit.NO for link in range(self.links))
            return node.trits
        star = self._annotate(node.star) if node.star is not None else no
        taken = star
        for child in node.values.values():
            taken = alternative(taken, self._annotate(child))
        node.trits = parallel(taken, star)
        return node.trits

    def nodes(self) -> int:
        def count(node: StarNode) -> int:
            below = [*node.values.values(), *([node.star] if node.star is not None else [])]
            return 1 + sum(map(count, below))

        return sum(map(count, self.roots.values()))

    # --- matching ---------------------------------------------------------------------------------------------------

    def _root(self, event: Event) -> StarNode | None:
        return self.roots.get(tuple(event[name] for name in self.schema[: self.factored]))

    def _children(self, node: StarNode, event: Event) -> list[StarNode]:
        if node.level == len(self.schema):
            return []
        taken = [node.values.get(event[self.schema[node.level]]), node.star]
        return [child for child in taken if child is not None]

    def match(self, event: Event, delay: int = 1) -> tuple[set[int], int]:
        """The links whose subscriptions the event satisfies, and the steps of centralized matching."""
        root = self._root(event)
        return self._follow([root], event, delay) if root is not None else (set(), 0)

    def _follow(self, together: Sequence[StarNode], event: Event, delay: int) -> tuple[set[int], int]:
        """`together` are at most `delay` nodes. Those of the lowest level are tested, the others wait for them."""
        level = min(node.level for node in together)
        if level == len(self.schema):
            return {link for node in together for link in node.links}, 1
        waiting = [node for node in together if node.level > level]
        found, steps = set[int](), 1
        taken = [child for node in together if node.level == level for child in self._children(node, event)]
        pending = [*taken, *waiting]
        for first in range(0, len(pending), delay):
            links, more = self._follow(pending[first : first + delay], event, delay)
            found, steps = found | links, steps + more
        return found, steps

    def match_links(self, event: Event, mask: Iterable[int]) -> tuple[set[int], int]:
        """Link matching: the links of the initialization mask that get the event, and the steps."""
        root = self._root(event)
        start = tuple(Trit.MAYBE if link in set(mask) else Trit.NO for link in range(self.links))
        if root is None:
            return set(), 0
        refined, steps = self._refine(root, event, start)
        return {link for link, trit in enumerate(refined) if trit is Trit.YES}, steps

    def _refine(self, node: StarNode, event: Event, mask: Trits) -> tuple[Trits, int]:
        mask = tuple(own if trit is Trit.MAYBE else trit for trit, own in zip(mask, node.trits, strict=True))
        steps = 1
        for child in self._children(node, event):
            if Trit.MAYBE not in mask:
                return mask, steps
            below, more = self._refine(child, event, mask)
            steps += more
            mask = tuple(
                Trit.YES if trit is Trit.MAYBE and found is Trit.YES else trit
                for trit, found in zip(mask, below, strict=True)
            )
        return tuple(Trit.NO if trit is Trit.MAYBE else trit for trit in mask), steps
