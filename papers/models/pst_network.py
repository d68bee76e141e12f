"""The parallel search tree of paper 002 at every broker of a network at once: the steps of chart 2.

    position   a link of a broker under one spanning tree, or one of its clients: a bit of a long number
    node       `yes`: positions that surely get the event below it, `maybe`: those that may
    broker     its positions are a mask of that number; what it refines are these bits alone

Law: brokers hold the same subscriptions, so they share one tree and differ in positions alone. Steps and answers are
those of `pst.py`, whose trits of each broker are the bits of its mask; a test holds it to that, tree by tree. The text
does not say where the annotation of a child is looked at, so both readings are here (`Annotation`): they give one
answer, and count other steps.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

Event = Sequence[int]
"""The value of each attribute, in the order of the schema."""
Wanted = Mapping[int, int]
"""Value by the number of the attribute, of those that a subscription cares about."""


class Annotation(enum.Enum):
    """Where a search looks at the annotation of a child."""

    AT_THE_CHILD = "in a visit"
    """It visits each child that the test leads to: a step also where the child is No for all that is asked."""
    AT_THE_PARENT = "before a visit"
    """It visits no child that is No for all that is asked."""


@dataclass(slots=True)
class BitNode:
    """A test of the attribute at `level`, or a leaf. `yes` is a part of `maybe`."""

    level: int
    values: dict[int, BitNode] = field(default_factory=dict)
    star: BitNode | None = None
    yes: int = 0
    maybe: int = 0


class BitTree:
    """Subscriptions, with the positions that lead to each; the first `factored` of the attributes are an index."""

    def __init__(
        self, attributes: int, values: int, factored: int, subscriptions: Iterable[tuple[Wanted, int]]
    ) -> None:
        self._attributes, self._factored = attributes, factored
        self._roots: dict[tuple[int, ...], BitNode] = {}
        domain = range(values)
        for wanted, positions in subscriptions:
            keys: list[tuple[int, ...]] = [()]
            for attribute in range(factored):
                allowed = (wanted[attribute],) if attribute in wanted else domain
                keys = [(*key, value) for key in keys for value in allowed]
            for key in keys:
                self._insert(self._roots.setdefault(key, BitNode(factored)), wanted, positions)
        self._roots = {key: _shortened(root) for key, root in self._roots.items()}
        for root in self._roots.values():
            _annotate(root, attributes)

    def _insert(self, node: BitNode, wanted: Wanted, positions: int) -> None:
        for level in range(self._factored, self._attributes):
            if level in wanted:
                node = node.values.setdefault(wanted[level], BitNode(level + 1))
            else:
                node.star = node.star or BitNode(level + 1)
                node = node.star
        node.yes |= positions

    def match(self, event: Event) -> tuple[int, int]:
        """The positions of all subscriptions that the event satisfies, and the steps of centralized matching."""
        root = self._roots.get(tuple(event[: self._factored]))
        return self._follow(root, event) if root is not None else (0, 0)

    def _follow(self, node: BitNode, event: Event) -> tuple[int, int]:
        if node.level == self._attributes:
            return node.yes, 1
        found, steps = 0, 1
        for child in (node.values.get(event[node.level]), node.star):
            if child is not None:
                below, more = self._follow(child, event)
                found, steps = found | below, steps + more
        return found, steps

    def match_links(self, event: Event, mask: int, annotation: Annotation = Annotation.AT_THE_CHILD) -> tuple[int, int]:
        """Link matching: the positions of the initialization mask that get the event, and the steps."""
        root = self._roots.get(tuple(event[: self._factored]))
        return self._refine(root, event, mask, annotation) if root is not None else (0, 0)

    def _refine(self, node: BitNode, event: Event, asked: int, annotation: Annotation) -> tuple[int, int]:
        """`asked` are the positions that are Maybe so far; returns those of them that are Yes."""
        yes = asked & node.yes
        left = asked & node.maybe & ~yes
        steps = 1
        if node.level < self._attributes:
            for child in (node.values.get(event[node.level]), node.star):
                if child is None:
                    continue
                if not left:
                    break
                if annotation is Annotation.AT_THE_PARENT and not left & child.maybe:
                    continue
                below, more = self._refine(child, event, left, annotation)
                yes, left, steps = yes | below, left & ~below, steps + more
        return yes, steps


def _shortened(node: BitNode) -> BitNode:
    """Elimination of trivial tests."""
    while node.star is not None and not node.values:
        node = node.star
    node.values = {value: _shortened(child) for value, child in node.values.items()}
    node.star = node.star and _shortened(node.star)
    return node


def _annotate(node: BitNode, attributes: int) -> None:
    """Alternative combine over values and none of them, parallel combine with the *-branch."""
    if node.level == attributes:
        node.maybe = node.yes
        return
    star_yes = star_maybe = 0
    if node.star is not None:
        _annotate(node.star, attributes)
        star_yes, star_maybe = node.star.yes, node.star.maybe
    taken_yes, taken_maybe = star_yes, star_maybe
    for child in node.values.values():
        _annotate(child, attributes)
        taken_yes &= child.yes
        taken_maybe |= child.maybe
    node.yes, node.maybe = taken_yes | star_yes, taken_maybe | star_maybe
