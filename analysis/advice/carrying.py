"""The strategy with the fewest bytes on the links: control frames about filters, and data frames.

Law: a network whose routers state the filters of their clients is compared with its form under other strategies. What
is measured is what it has; of another strategy a statement crosses other links, in proportion, and a message needs each
link of its way once. Filters that other routers' filters cover are left out, so strategies that state filters by edges
state no more than this. They are left out where links fail and there is more than one route: then edges are stated
again.

                  links that a statement crosses              links that a message needs
    as it is      both ways of each, once to each router      as measured
    flood         none                                        all of a tree
    profile       those of one tree                           of that tree those between source and receivers
    rendezvous    the way to the root                         of the root's tree those from source and receivers to it
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from tamis.analysis.advice.graph import depths, links_between, links_needed, parents
from tamis.analysis.advice.wording import GAIN_MIN, Advice, Evidence
from tamis.configs import Topology
from tamis.configs.edit import Path, Value
from tamis.protocol.strategies import BY_NAME, STRATEGIES, Asks, takes
from tamis.protocol.wire.numbers import stable_number

FIGURE: Final = "bytes between routers a message"
FLOOD: Final = BY_NAME["flood"].key
PROFILE: Final = BY_NAME["profile"].key
RENDEZVOUS: Final = BY_NAME["rendezvous"].key
PRICES: Final[Mapping[str, str]] = {
    FLOOD: "",
    PROFILE: "; routes follow one tree, and a failed link on a cycle makes routers state edges again",
    RENDEZVOUS: "; all messages pass the root; if it fails, they are flooded for some seconds",
}
ROOTS_TRIED: Final = 16
"""Roots to try, those in the middle first."""
ROOTS_NAMED: Final = 2
"""The best root, and a second one for its failure."""


@dataclass(frozen=True, slots=True)
class _Carried:
    """The bytes that cross the links for each message under a strategy."""

    key: str
    bytes: float
    roots: tuple[str, ...] = ()


def carrying(evidence: Evidence) -> Iterator[Advice]:
    topology = evidence.topology
    messages = sum(row["messages"] for row in evidence.reach)
    total = evidence.totals[0] if evidence.totals else None
    is_of_wanted = topology.strategy.facts.asks is Asks.WANTED and len(topology.routers) > 1
    if not is_of_wanted or not messages or total is None or not total["published"] or not total["frame_bytes"]:
        return
    said, frame = total["control_bytes"] / total["published"], total["frame_bytes"]
    frames = sum(row["frames"] for row in evidence.reach) / messages
    before = said + frames * frame
    found = sorted(_others(evidence, said, frame), key=lambda each: each.bytes)
    told = f"per message routers sent {said:,.4g} bytes about filters and {frames:.3g} frames of {frame:,.4g} bytes"
    told += f", together {before:,.4g}, where " + ", ".join(f"{each.key} takes {each.bytes:,.4g}" for each in found)
    if total["links_lost"] and _has_cycles(topology):
        told += f"; profile and rendezvous are left out, as links failed {total['links_lost']:,} times"
    best = found[0]
    now = topology.strategy.facts.name
    if best.bytes > (1 - GAIN_MIN) * before:
        yield Advice("bytes", "strategy.name", "nothing to change", now, told, None, None, FIGURE, before)
        return
    then = best.key + (f" with roots {' and '.join(best.roots)}" if best.roots else "")
    promise = f"{FIGURE} {before:,.4g} -> {best.bytes:,.4g}"
    edits = _edits(topology, best)
    told += PRICES[best.key]
    yield Advice("bytes", "strategy.name", "change", now, told, then, promise, FIGURE, before, best.bytes, edits)


def _others(evidence: Evidence, said: float, frame: float) -> Iterator[_Carried]:
    """Yield the other strategies. `said` is the bytes of control per message now, `frame` the bytes of a data frame."""
    topology = evidence.topology
    neighbours = {router: topology.neighbours(router) for router in topology.routers}
    rows = [row for row in evidence.reach if row["source"] in neighbours]
    messages = sum(row["messages"] for row in rows) or 1
    of_tree = len(topology.routers) - 1
    a_link = said / (2 * len(topology.links) - of_tree)
    yield _Carried(FLOOD, of_tree * frame)
    if evidence.totals[0]["links_lost"] and _has_cycles(topology):
        return
    shared = parents(neighbours, min(topology.routers, key=stable_number))
    links = sum(row["messages"] * links_between(shared, _ends(row)) for row in rows) / messages
    yield _Carried(PROFILE, a_link * of_tree + links * frame)
    trees = {root: parents(neighbours, root) for root in topology.routers}
    deep = {root: sum(depths(tree).values()) / len(topology.routers) for root, tree in trees.items()}
    costs = {}
    for root in sorted(deep, key=lambda root: deep[root])[:ROOTS_TRIED]:
        links = sum(row["messages"] * links_needed(trees[root], _ends(row)) for row in rows) / messages
        costs[root] = a_link * deep[root] + links * frame
    roots = sorted(costs, key=lambda root: costs[root])
    yield _Carried(RENDEZVOUS, costs[roots[0]], tuple(roots[:ROOTS_NAMED]))


def _ends(row: Mapping[str, Any]) -> list[str]:
    return [row["source"], *row["wanted_at"]]


def _has_cycles(topology: Topology) -> bool:
    return len(topology.links) > len(topology.routers) - 1


def _edits(topology: Topology, wanted: _Carried) -> dict[Path, Value | None]:
    """Return edits that choose a strategy, and remove options of others that this one does not accept."""
    of_others = {each for facts in STRATEGIES for each in (*facts.options, *facts.keys) if not takes(wanted.key, each)}
    drops = sorted(of_others & topology.strategy.model_fields_set)
    edits: dict[Path, Value | None] = {("strategy", "name"): wanted.key} | {("strategy", each): None for each in drops}
    if wanted.roots:
        edits["strategy", "others"] = list(wanted.roots)
    if BY_NAME[wanted.key].layer is not None and "broadcast" in topology.model_fields_set:
        edits["broadcast",] = None
    return edits
