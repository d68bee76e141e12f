"""The tree of all brokers takes the steps of the paper's tree of each, and gives its answers."""

from __future__ import annotations

import random

from tamis.papers.models.pst import PaperTree, StarNode, Trit
from tamis.papers.models.pst_network import Annotation, BitTree

SCHEMA = [f"a{k}" for k in range(5)]
VALUES = 3


def test_each_broker_sees_the_tree_of_the_paper() -> None:
    dice = random.Random(7)
    for factored in (0, 2):
        subscriptions = [
            {k: dice.randrange(VALUES) for k in range(5) if dice.random() < 0.6} for _ in range(dice.randrange(1, 60))
        ]
        links = [
            [dice.randrange(4) for _ in subscriptions] for _broker in range(3)
        ]  # of each broker: behind which link
        positions = [
            sum(1 << 4 * broker + links[broker][number] for broker in range(3)) for number in range(len(subscriptions))
        ]
        tree = BitTree(5, VALUES, factored, zip(subscriptions, positions, strict=True))
        domains = [range(VALUES)] * factored
        for broker in range(3):
            named = [{SCHEMA[k]: value for k, value in wanted.items()} for wanted in subscriptions]
            paper = PaperTree(SCHEMA, list(zip(named, links[broker], strict=True)), 4, domains)
            for _ in range(60):
                event = [dice.randrange(VALUES) for _ in SCHEMA]
                by_name = dict(zip(SCHEMA, event, strict=True))
                asked = {link for link in range(4) if dice.random() < 0.7}
                mask = sum(1 << 4 * broker + link for link in asked)
                yes, steps = tree.match_links(event, mask)
                got = {link for link in range(4) if yes >> 4 * broker + link & 1}
                assert (got, steps) == paper.match_links(by_name, asked)
                root = paper.roots[tuple(event[:factored])]
                seen, visits = tree.match_links(event, mask, Annotation.AT_THE_PARENT)
                assert (seen, visits) == (yes, len(visited(root, event, asked)[1]))
                assert visits <= steps
                found, steps = tree.match(event)
                assert ({link for link in range(4) if found >> 4 * broker + link & 1}, steps) == paper.match(by_name)


def visited(node: StarNode, event: list[int], asked: set[int]) -> tuple[set[int], list[StarNode]]:
    """The links that get the event, and the nodes that are visited where a parent looks at its children's trits."""
    found = {link for link in asked if node.trits[link] is Trit.YES}
    open_ = {link for link in asked if node.trits[link] is Trit.MAYBE}
    nodes = [node]
    for child in (node.values.get(event[node.level]), node.star) if node.level < len(SCHEMA) else ():
        if child is not None and any(child.trits[link] is not Trit.NO for link in open_):
            below, more = visited(child, event, open_)
            found, open_, nodes = found | below, open_ - below, nodes + more
    return found, nodes
