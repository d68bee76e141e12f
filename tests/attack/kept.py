"""Kept messages: memory of the router and room of its log that one client takes from the others."""

from __future__ import annotations

import time
from pathlib import Path

from tests.attack.figure import Figure
from tests.stranger import frames
from tests.stranger.client import Stranger
from tests.stranger.frames import frame
from tests.stranger.predicates import packed
from tests.stranger.routers import Network, Router

KEPT = "kept: {bytes: 268435456, segment_bytes: 16777216}"
MIB = 1 << 20
KEEP, ATTACH, FORGET, REPLAY, REPLAY_END = 0x25, 0x26, 0x28, 0x29, 0x2A
OF_KEEP, OF_REPLAY = 5, 9
EVERYTHING = [packed([])]
DROP_OLDEST, REFUSE = 0, 1


def keep(client: Stranger, name: str, filters: list[bytes], size: int, overflow: int) -> None:
    """Make a keep of at most `size` bytes."""
    request = client.request()
    terms = [filters, 0, size, 0, overflow]
    client.send(frame(KEEP, [request, name, terms]))
    assert client.answered(OF_KEEP, request, [0]) == {}, name


def replays(client: Stranger, ids: range, credit: int) -> None:
    for id_ in ids:
        request = client.request()
        client.send(frame(REPLAY, [request, id_, EVERYTHING, 0, 2**63, credit]))
        assert client.answered(OF_REPLAY, request, [id_]) == {}


def resident_mb(router: Router) -> float:
    assert router.process is not None
    status = Path(f"/proc/{router.process.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def idle_replays(folder: Path, scale: float) -> list[Figure]:
    """300 clients with four replays each, of which half have no credit, and half credit for one message."""
    with Network(folder, "r", keys=KEPT) as net, Stranger(*net["r"].clients, "publisher") as publisher:
        keep(publisher, "all", EVERYTHING, 128 * MIB, DROP_OLDEST)
        for n in range(3_000):
            publisher.publish({"n": n}, b"x" * 1_000, flags=frames.CONFIRM)
        publisher.confirmation(publisher.counter)
        clients = [Stranger(*net["r"].clients, f"idle-{at}") for at in range(max(60, int(300 * scale)))]
        time.sleep(1)
        before_mb = resident_mb(net["r"])
        for client in clients:
            replays(client, range(1, 3), 0)
            replays(client, range(3, 5), 1)
        for client in clients:
            for _ in range(2):
                client.message()
        time.sleep(1)
        grown_mb = resident_mb(net["r"]) - before_mb
        began_s = time.monotonic()
        replays(publisher, range(9, 10), 5_000)
        seen = sum(publisher.message().attributes["n"] == n for n in range(3_000))
        took_s = time.monotonic() - began_s
        for client in clients:
            client.close()
        assert net["r"].tracebacks == 0, net["r"].first_traceback
    shape = f"{4 * len(clients):,} replays that wait"
    return [
        Figure(shape, "MB of memory more", "910 (600 replays)", grown_mb, 80.0),
        Figure(shape, "of 3,000 messages that another replay gives", "3,000", seen, 3_000, is_least=True),
        Figure(shape, "s that it takes", "-", took_s, 10.0),
    ]
