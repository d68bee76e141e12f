"""Tables of answers about a network that never was, with something in each: a link down, a crash, every verdict.

Law: names hold what HTML must escape.
"""

from __future__ import annotations

from typing import Any, Final

START_US: Final = 1_700_000_000_000_000
SECOND_US: Final = 1_000_000
ODD: Final = '<b>&"'
"""The name of a router, and of a client."""
Rows = list[dict[str, Any]]

_LIFE = {"sampling": "all", "engine": "tamis", "strategy": "advertise", "broadcast": "source-trees", "version": "1.0"}


def at(second: float) -> int:
    return START_US + round(second * SECOND_US)


def life(router: str, end: str, last_s: int) -> dict[str, Any]:
    return {"router": router, "epoch": 1, "first_us": START_US, "last_us": at(last_s), "end": end, **_LIFE}


def lines(**counts: int) -> dict[str, Any]:
    return {"family": "messages", "lines": 100, "broken": 0, "newer": 0, "versions": [1]} | counts


LOGS: Final[dict[str, Rows]] = {
    "logs/lines": [lines()],
    "logs/lives": [life("a", "stopped", 120), life(ODD, "broke off", 70)],
    "logs/holes": [],
    "logs/clocks": [{"router": "a", "reference": "a", "offset_us": 0, "error_us": 0}],
    "logs/changes": [
        {"at_us": at(0), "router": "a", "what": "router started", "neighbour": None, "reason": None},
        {"at_us": at(70), "router": "a", "what": "link down", "neighbour": ODD, "reason": "closed"},
    ],
}
DELIVERY: Final[dict[str, Rows]] = {
    "delivery/counts": [
        {"verdict": verdict, "reason": reason, "deliveries": count, "due": count}
        for verdict, reason, count in (
            ("delivered", None, 90),
            ("missing", None, 2),
            ("stray", None, 1),
            ("dropped", None, 3),
            ("undecided", "the router was unreachable", 4),
        )
    ],
    "delivery/by_client": [
        {"router": "a", "client": ODD, "delivered": 90, "missing": 2, "duplicate": 0, "stray": 0, "dropped": 3}
    ],
    "delivery/faults": [
        {
            "verdict": "missing",
            "origin": "0f",
            "number": 1_700_000_000_005,
            "at_us": at(5),
            "source": "a",
            "router": ODD,
            "epoch": 7,
            "connection": 3,
            "client": ODD,
            "times": None,
            "attributes": '{"to": "<i>"}',
            "seen_at": ["a", ODD],
        }
    ]
    * 30,
    "delivery/in_vain": [{"router": "a", "from_neighbour": ODD, "frames": 40, "in_vain": 10, "bytes_in_vain": 4_321}],
    "delivery/undecidable": [
        {"from_us": at(65), "to_us": at(80), "whats": ["a link down", "b link down", "a life"], "ways": 2, "of": 4}
    ],
}
TRAFFIC: Final[dict[str, Rows]] = {
    "traffic/by_link": [
        {"router": one, "neighbour": other, "messages_in": 5, "messages_out": out, "bytes_in": 9, "bytes_out": 99_000}
        for one, other, out in (("a", ODD, 240), (ODD, "a", 60))
    ],
    "traffic/by_router": [{"router": name, "messages_in": 30, "queued_bytes_max": None} for name in ("a", ODD)],
    "traffic/by_source": [{"source": "a", "published": 12_345, "bytes": 7}],
    "traffic/drops": [
        {"router": "a", "neighbour": ODD, "client": None, "what": "dropped", "reason": "queue full", "messages": 3}
    ],
    "traffic/over_time": [
        {"router": name, "from_us": at(10 * k), "to_us": at(10 * k + 10), "messages_in": 50 * k, "bytes_out": 7_000}
        for name in ("a", ODD)
        for k in range(12)
        if k != 4
    ],
}
OTHERS: Final[dict[str, Rows]] = {
    "latency/by_length": [
        {"hop": hop, "messages": 5, "p50_us": 155 * hop, "p90_us": 300, "p99_us": 627, "max_us": 2_600}
        for hop in (1, 2)
    ],
    "latency/by_link": [],
    "latency/matching": [
        {"filters_from": 2**k, "messages": 9, "match_ns_mean": 400.5 * k, "match_ns_max": 900} for k in (3, 6, 9)
    ],
    "control/statements": [
        {"what": what, "issuer": ODD, "seq": k, "from_us": at(20 * k), "spread_us": 4_648, "bytes": 22}
        for what in ("LSA", "RA")
        for k in range(5)
    ],
    "control/convergence": [{"from_us": at(65), "to_us": at(80), "took_us": 3_609_673}],
    "content/filters": [
        {"filter": k, "form": f'[["price", "<", {k}], ["to", "=", "<i>"]]', "matches": 9 - k, "selectivity": 0.0456}
        for k in range(5)
    ],
}
ALL: Final = LOGS | DELIVERY | TRAFFIC | OTHERS
