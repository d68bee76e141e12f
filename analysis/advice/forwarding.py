"""The choice of trees, and of the precision of the filters behind a link.

Law: a message needs the links that join its source with the routers that delivered it, each once. Further frames were
unneeded, or took a longer route.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tamis.analysis.advice.graph import links_needed, parents
from tamis.analysis.advice.wording import Advice, Evidence
from tamis.configs import Topology
from tamis.configs.edit import Path, Value
from tamis.protocol.strategies import Asks

WASTE_MIN: Final = 0.1
"""The share of unneeded frames at which a change is advised: a change of the network or of a filter causes some with
any strategy."""
FIGURE: Final = "frames between routers a message"
TREES: Final = "source-trees"
EXACT: Final = "exact"


def trees(evidence: Evidence) -> Iterator[Advice]:
    topology = evidence.topology
    now = f"{topology.broadcast}, predicates {topology.strategy.predicates}"
    messages = sum(row["messages"] for row in evidence.reach)
    problem = _nothing_to_say(topology, messages)
    if problem:
        yield Advice("strategy", "strategy", "nothing to change", now, problem)
        return
    frames = sum(row["frames"] for row in evidence.reach) / messages
    needed = _needed(evidence) / messages
    told = f"{messages:,} recorded messages took {frames:.3g} frames between routers each, where {needed:.3g} "
    told += "suffice to reach all routers that delivered them"
    edits: dict[Path, Value | None] = {}
    if topology.broadcast != TREES:
        edits["broadcast",] = TREES
    if topology.strategy.predicates != EXACT:
        edits["strategy", "predicates"] = EXACT
    if frames - needed < WASTE_MIN * frames or not edits:
        why = told if frames - needed < WASTE_MIN * frames else f"{told}; the file already has the most exact setting"
        yield Advice("strategy", "strategy", "nothing to change", now, why, None, None, FIGURE, frames)
        return
    promise = f"frames between routers a message {frames:.3g} -> {needed:.3g}"
    then = f"{TREES}, predicates {EXACT}"
    yield Advice("strategy", "strategy", "change", now, told, then, promise, FIGURE, frames, needed, edits)


def _nothing_to_say(topology: Topology, messages: int) -> str:
    """Return why frames give no evidence about the trees; empty if they do."""
    if len(topology.routers) == 1:
        return "there is one router"
    facts = topology.strategy.facts
    if facts.has_roots:
        return f"with strategy {facts.key} messages pass the root of their class, as designed"
    if facts.asks is Asks.BY_EDGES:
        return f"with strategy {facts.key} messages follow one tree, whose paths may be longer than the shortest"
    if facts.asks is not Asks.WANTED:
        return f"with strategy {facts.key} messages also reach routers without a matching subscription, as designed"
    return "" if messages else "no messages were recorded"


def _needed(evidence: Evidence) -> int:
    topology = evidence.topology
    neighbours = {router: topology.neighbours(router) for router in topology.routers}
    ways = {
        source: parents(neighbours, source) for source in {row["source"] for row in evidence.reach} & set(neighbours)
    }
    return sum(
        row["messages"] * links_needed(ways[row["source"]], row["wanted_at"])
        for row in evidence.reach
        if row["source"] in ways
    )
