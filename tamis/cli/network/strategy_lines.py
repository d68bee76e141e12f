"""The strategy of routers in sentences: the one configured, the one in use, its limitations, and the route of a
message.

Law: equal reports of several routers make one sentence; where reports differ, each router is named.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tamis.cli.network.edge_tables import in_words
from tamis.cli.tables import so_many
from tamis.protocol.strategies import DEFAULT

Status = dict[str, Any]


def of_file(summary: Mapping[str, Any]) -> str:
    """Return the strategy of a topology file and its roots, from the summary of the file."""
    roots = [f"{in_words([name])}: {' else '.join(ids) or 'by hash'}" for name, ids in summary["roots"]]
    return f"strategy {summary['strategy']}" + (f" (root of {', '.join(roots)})" if roots else "")


def of_strategies(statuses: Sequence[Status]) -> Iterator[str]:
    """Return the strategies of these routers if one differs from the default; the roots of classes; the savings by
    sets."""
    following = [status for status in statuses if status.get("network") and "strategy" in status]
    by_name: dict[str, list[Status]] = {}
    for status in following:
        by_name.setdefault(status["strategy"], []).append(status)
    if by_name.keys() <= {DEFAULT.name}:
        return
    for name, routers in by_name.items():
        yield f"strategy {name}{_at(routers, following)}"
    by_roots: dict[str, list[Status]] = {}
    for status in following:
        if status["network"].get("roots"):
            by_roots.setdefault(_roots(status["network"]["roots"]), []).append(status)
    for roots, routers in by_roots.items():
        yield f"roots{_at(routers, following)}: {roots}"
    yield from _sets(following)


def _at(routers: Sequence[Status], all_: Sequence[Status]) -> str:
    """Return which routers, unless it is all of them."""
    return "" if len(routers) == len(all_) else f" at {', '.join(status['router'] for status in routers)}"


def _roots(roots: Sequence[dict[str, Any]]) -> str:
    """Return a text such as `b of class orders; c of messages of no class`, and where the file prefers another root."""
    classes: dict[str, list[str | None]] = {}
    for each in roots:
        if each["named"]:
            classes.setdefault(each["root"], []).append(each["class"])
    without = [each["class"] for each in roots if not each["named"]]
    parts = [f"{root} of {in_words(names)}" for root, names in classes.items()]
    parts += [
        f"{each['preferred']}, preferred by the file for {in_words([each['class']])}, is unreachable"
        for each in roots
        if each["named"] and each["preferred"] not in (None, each["root"])
    ]
    if without:
        parts.append(f"none yet for {in_words(without)}, forwarded to all routers")
    return "; ".join(parts)


def _sets(statuses: Sequence[Status]) -> Iterator[str]:
    written, believed, stale = (
        sum(status["sets"][key] for status in statuses) for key in ("written", "believed", "stale")
    )
    if written or believed or stale:
        yield (
            f"sets of routers: {so_many(written, 'message')} with one, used {so_many(believed, 'time')}, "
            f"outdated {so_many(stale, 'time')}"
        )


def strategy_problems(who: str, status: Status) -> Iterator[str]:
    """Return what one router cannot do by its strategy now. A router of an earlier version reports less."""
    network = status.get("network") or {}
    edges = network.get("edges") or {"incomplete": 0}
    if edges["incomplete"]:
        few = f"{edges['incomplete']} of {so_many(edges['heard'], 'edge')}"
        yield f"{who}: the filters of {few} are incomplete: every message is forwarded there"


def message_by_root(by_root: Mapping[str, str | None]) -> str:
    """Return the class of a message, and the route for that class."""
    kind = "no class" if by_root["class"] is None else f"class {by_root['class']}"
    root = by_root["root"]
    return f"the message is of {kind}, {'without a root yet' if root is None else f'forwarded by way of root {root}'}"
