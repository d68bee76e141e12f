"""Attacks of a local process, or of a page in a browser, on the administration."""

from __future__ import annotations

import contextlib
import json
import socket
import time
from pathlib import Path

from tests.attack.figure import Figure, Meter, hold
from tests.stranger.client import Stranger
from tests.stranger.frames import IN
from tests.stranger.routers import Network, Router

PAGE_BYTES_MAX = 256 * 1024


def pages_of_filters(folder: Path, scale: float) -> list[Figure]:
    """182 filters of 49 kB, and `GET /filters?limit=500`, page after page."""
    count = max(40, int(182 * scale))
    with Network(folder, "ab", ["ab"]) as net:
        net.until_linked()
        client = Stranger(*net["a"].clients, "large", patience_s=60)
        operands = ["\x01" * 200 + str(j) for j in range(15)]
        for i in range(count):
            assert not client.subscribe(
                {i: [[[f"n{k}", IN, *(f"{each}-{i}" for each in operands)] for k in range(16)]]}
            )
        sessions = _sessions(net["a"])
        largest, seen, cursor, pages = 0, 0, 0, 0
        with Meter(net["a"]) as run:
            while cursor is not None and pages < 2_000:
                status, body = net["a"].ask(f"/filters?limit=500&cursor={cursor}")
                assert status == 200, body[:200]
                page = json.loads(body)
                largest, seen, cursor, pages = (
                    max(largest, len(body)),
                    seen + len(page["filters"]),
                    page["next"],
                    pages + 1,
                )
        cuts = _sessions(net["a"]) - sessions
        client.close()
    assert seen == count
    return [
        Figure("GET /filters?limit=500", "bytes of the largest page", "122,000,000", largest, PAGE_BYTES_MAX),
        hold("GET /filters?limit=500", "longest hold, ms", "4,400 (182 filters)", run.hold_ms),
        Figure("GET /filters?limit=500", "links cut", "1", cuts, 0),
    ]


def _sessions(router: Router) -> float:
    return router.metric("tamis_link_sessions_total")


def slow_requests(folder: Path, _scale: float) -> list[Figure]:
    """32 connections that send a line each and wait."""
    with Network(folder, "r") as net:
        slow = []
        for _ in range(32):
            slow.append(socket.create_connection(net["r"].admin, 5))
            slow[-1].sendall(b"GET /status HTTP/1.1\r\n")
        time.sleep(0.2)
        answered = []
        for path in ("/healthz", "/readyz", "/metrics"):
            began_s = time.monotonic()
            with contextlib.suppress(OSError):
                status, _ = net["r"].ask(path)
                answered.append(status == 200 and time.monotonic() - began_s < 2)
        for each in slow:
            each.close()
    return [Figure("32 slow requests", "health pages answered", "0 of 3", sum(answered), 2, is_least=True)]


def foreign_pages(folder: Path, _scale: float) -> list[Figure]:
    """What a page of another site makes a browser ask."""
    with Network(folder, "ab", ["ab"]) as net:
        net.until_linked()
        answers = [
            net["a"].ask("/filters", Host="evil.example"),
            net["a"].ask("/status", Origin="http://evil.example"),
            net["a"].ask("/audit", "POST", b"", Origin="http://evil.example"),
            net["a"].ask("/explain", "POST", b"{}", Host="evil.example:80"),
        ]
        assert net["a"].ask("/status")[0] == 200
    taken = sum(status == 200 for status, _ in answers)
    return [Figure("another site's page", "requests answered, of 4", "4", taken, 0)]
