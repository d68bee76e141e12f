"""The rates between two samples of routers.

Law: a rate is of one router process and one connection; if either was restarted between the samples, it counts from 0.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from tamis.cli.network.status import lost
from tamis.cli.reach.admin import AdminTarget, NoAnswer
from tamis.protocol.old_names import with_old

CONNECTIONS_MAX: Final = 2_000
"""The most connections of each router in one sample."""

View = dict[str, list[dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class Sample:
    """One sample of one router. No `status`: it did not answer."""

    name: str
    at_s: float
    status: dict[str, Any] | None = None
    connections: dict[tuple[int, str], dict[str, Any]] = field(default_factory=dict)
    problem: str = ""
    """Why the router did not answer."""


def sampled(router: AdminTarget) -> Sample:
    try:
        status = router.ask("/status")
        found = router.items("/connections", CONNECTIONS_MAX)
        connections = {(item["interface"], item["client"]): item for item in found}
    except NoAnswer as error:
        return Sample(router.name, time.monotonic(), problem=str(error))
    return Sample(router.name, time.monotonic(), status, connections)


_MOST: Final[dict[str, Callable[[dict[str, Any]], float]]] = {
    "in": lambda row: row.get("in_s", 0),
    "out": lambda row: row.get("out_s", 0),
    "fwd": lambda row: row.get("forwarded_s", 0),
    "lost": lambda row: row.get("lost_s", row.get("dropped", 0)),
    "waiting": lambda row: row.get("queued_bytes", 0),
}


def view(before: Sequence[Sample], now: Sequence[Sample], connections_max: int, by: str = "busy") -> View:
    """Return the rates between two samples: of all routers, and of the busiest connections, in the order that `by`
    names."""
    pairs = list(zip(before, now, strict=True))
    connections = [row for pair in pairs for row in _connection_rows(*pair)]
    connections.sort(key=lambda row: (-row["in_s"] - row["out_s"], -row["queued_bytes"], row["router"], row["client"]))
    routers, most = [_router_row(*pair) for pair in pairs], _MOST.get(by)
    if most is not None:
        connections.sort(key=most, reverse=True)
        routers.sort(key=most, reverse=True)
    elif by == "name":
        connections.sort(key=lambda row: (row["router"], row["client"]))
        routers.sort(key=lambda row: str(row["router"]))
    return {"routers": routers, "connections": connections[:connections_max]}


def _router_row(before: Sample, now: Sample) -> dict[str, Any]:
    status = now.status
    if status is None:
        return {"router": now.name, "state": "no answer"}
    old = _comparable(before, now)
    seconds = _seconds(before, now)
    network = (status.get("network") or {}).get("links")
    timed = status["matches_timed"] - old.get("matches_timed", 0)
    match_ns = status["match_ns_sum"] - old.get("match_ns_sum", 0)
    return {
        "router": status["router"],
        **{key: status[key] for key in ("state", "clients", "connections", "filters", "queued_bytes", "memory_bytes")},
        "in_s": (status["messages_in"] - old.get("messages_in", 0)) / seconds,
        "out_s": (status["deliveries"] - old.get("deliveries", 0)) / seconds,
        "forwarded_s": (status.get("forwarded", 0) - old.get("forwarded", 0)) / seconds,
        "links": None if network is None else [sum(link["state"] == "up" for link in network), len(network)],
        "bytes_in_s": (status["bytes_in"] - old.get("bytes_in", 0)) / seconds,
        "bytes_out_s": (status["bytes_out"] - old.get("bytes_out", 0)) / seconds,
        "lost_s": (lost(status) - lost(old)) / seconds,
        "sets_s": _sets_s(status.get("sets"), old.get("sets", {}), seconds),
        "match_us": match_ns / timed / 1000 if timed > 0 else None,
        "longest_stall_ms": status["longest_stall_ms"],
        "durable": _durable(status, old, seconds),
    }


def _durable(status: dict[str, Any], old: dict[str, Any], seconds: float) -> dict[str, Any] | None:
    """Return the depth and rates of durable subscriptions; None if the router has none."""
    now, before = status.get("durable"), old.get("durable") or {}
    if not now:
        return None
    form = {
        **{key: now[key] for key in ("subscriptions", "depth", "unacked", "ready", "lag_s")},
        "stored_s": (now["stored"] - before.get("stored", 0)) / seconds,
        "commit_ms": now["commit_ms"],
        "log_bytes": now["log"]["bytes"],
    }
    return with_old(form, keeps="subscriptions", kept_s="stored_s")


def _sets_s(sets: dict[str, int] | None, old: dict[str, int], seconds: float) -> dict[str, float] | None:
    """Return how many messages a second received a set of routers, were forwarded by theirs, or were matched again;
    None if all counts are 0."""
    if not sets or not any(sets.values()):
        return None
    return {key: (count - old.get(key, 0)) / seconds for key, count in sets.items()}


def _connection_rows(before: Sample, now: Sample) -> list[dict[str, Any]]:
    seconds = _seconds(before, now)
    router = now.status["router"] if now.status else now.name
    known = before.connections if _comparable(before, now) else {}
    rows = []
    for key, item in now.connections.items():
        old = known.get(key, {})
        if item["messages_in"] < old.get("messages_in", 0) or item["deliveries"] < old.get("deliveries", 0):
            old = {}  # a new connection with the number and name of an old one
        rows.append(
            {"router": router}
            | {key: item[key] for key in ("client", "peer", "interface", "state", "filters", "is_blocked")}
            | {key: item[key] for key in ("queued_bytes", "queued_peak", "dropped")}
            | {"in_s": (item["messages_in"] - old.get("messages_in", 0)) / seconds}
            | {"out_s": (item["deliveries"] - old.get("deliveries", 0)) / seconds}
        )
    return rows


def _comparable(before: Sample, now: Sample) -> dict[str, Any]:
    """Return the earlier status if it is of this process."""
    is_same = before.status and now.status and before.status["epoch"] == now.status["epoch"]
    return before.status if is_same and before.status else {}


def _seconds(before: Sample, now: Sample) -> float:
    return max(now.at_s - before.at_s, 1e-3)
