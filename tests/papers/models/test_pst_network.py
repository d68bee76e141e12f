"""The tree of all brokers takes the steps of the paper's tree of each, and gives its answers."""

from __future__ import annotations

import random

from tamis.papers.models.pst import PaperTree
from tamis.papers.models.pst_network import BitTree

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
                assert ({link for link in range(4) if yes >> 4 * broker + link & 1}, steps) == paper.match_links(
                    by_name, asked
                )
                found, steps = tree.match(event)
                assert ({link for link in range(4) if found >> 4 * broker + link & 1}, steps) == paper.match(by_name)
