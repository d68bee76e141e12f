"""What the papers' arithmetic says: how many copies of the events cross links, and how many masks a router has.

Law: a message goes to a set of routers by the tree of its source, one copy on each link under which one of them lies.
Which routers these are, the strategy says (`protocol/strategies.py`): those that want the message, all with a client,
or all. A mask (paper 002) is the part of a tree that a router looks at: behind which link each other router lies.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from tamis.bench.networks.strategies.wants import Wants
from tamis.protocol.strategies import Asks, StrategyFacts
from tamis.router.core.routing.forest import Forest
from tamis.router.core.routing.trees import Trees
from tamis.router.links.routes import towards


def copies(trees: Sequence[Trees], forests: Sequence[Forest], wants: Wants, facts: StrategyFacts) -> int:
    """Return how many copies of all events cross links; `trees` and `forests` are those of each router by its index.
    What names a root goes to it besides, and every way is that on the root's tree."""
    place = {each.me: index for index, each in enumerate(trees)}
    count = 0
    for number, wanting in enumerate(wants.wanting):
        entry = number % len(trees)
        root = forests[entry].root_of(())
        links: set[tuple[int, int]] = set()
        for target in {*_targets(wanting, wants, facts), *(() if root is None else (place[root],))}:
            at = entry
            while at != target:
                to = trees[target].me
                onward = trees[at].below(trees[entry].me)[to] if root is None else towards(forests[at].trees[root])[to]
                links.add((at, place[onward]))
                at = place[onward]
        count += len(links)
    return count


def _targets(wanting: frozenset[int], wants: Wants, facts: StrategyFacts) -> Collection[int]:
    if facts.asks is Asks.EVERYTHING:
        return range(len(wants.filters))
    if facts.asks is Asks.EVERYTHING_FOR_CLIENTS:
        return [router for router, filters in enumerate(wants.filters) if filters]
    return wanting


def masks(trees: Trees) -> int:
    """Return how many different masks the trees of all sources give at one router."""
    return len({frozenset(trees.below(source).items()) for source in trees.routers})
