"""Kept messages: memory of the router and room of its log that one client takes from the others."""

from __future__ import annotations

import contextlib
import statistics
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from tests.attack.figure import Figure
from tests.stranger import frames
from tests.stranger.client import Refused, Stranger
from tests.stranger.frames import frame
from tests.stranger.predicates import packed
from tests.stranger.routers import Network, Router

DURABLE_KEYS = "durable: {bytes: 268435456, segment_bytes: 16777216}"
MIB = 1 << 20
CREATE_DURABLE, CONSUME, REMOVE_DURABLE, REPLAY, REPLAY_END = 0x25, 0x26, 0x28, 0x29, 0x2A
OF_DURABLE, OF_REPLAY = 5, 9
EVERYTHING = [packed([])]
DROP_OLDEST, REFUSE = 0, 1


def create_durable(client: Stranger, name: str, filters: list[bytes], size: int, overflow: int, count: int = 0) -> None:
    """Create a durable subscription of at most `size` bytes and `count` messages; 0: no limit."""
    request = client.request()
    policy = [filters, 0, size, count, overflow]
    client.send(frame(CREATE_DURABLE, [request, name, policy]))
    assert client.answered(OF_DURABLE, request, [0]) == {}, name


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
    with Network(folder, "r", keys=DURABLE_KEYS) as net, Stranger(*net["r"].clients, "publisher") as publisher:
        create_durable(publisher, "all", EVERYTHING, 128 * MIB, DROP_OLDEST)
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


SHARED = f"tokens: tokens\nkept: {{bytes: {256 * MIB}, segment_bytes: {4 * MIB}, share: 0.25}}"
FILL_BYTES = 60_000
ROUNDS = 5
"""The best counts: a machine that is busy with something else does not."""


def a_full_share(folder: Path, scale: float) -> list[Figure]:
    """A client has everything stored for itself, more than the log holds, and consumes none of it, while others publish
    messages that are stored for them: with a subscription that drops its oldest, and with one that refuses."""
    figures: list[Figure] = []
    for word, overflow in (("drops", DROP_OLDEST), ("refuses", REFUSE)):
        place = folder / word
        place.mkdir()
        tokens = place / "tokens"
        tokens.touch(mode=0o600)
        tokens.write_text("honest abc\nfiller def\n")
        with Network(place, "r", keys=SHARED) as net:
            figures += _fill(net["r"], word, overflow, max(100, int(1_000 * scale)))
            assert net["r"].tracebacks == 0, net["r"].first_traceback
    return figures


def _fill(router: Router, word: str, overflow: int, count: int) -> list[Figure]:
    honest, filler = Stranger(*router.clients, "honest", "abc"), Stranger(*router.clients, "filler", "def")
    with honest, filler:
        create_durable(honest, "jobs", [packed([["job", frames.GE, 0]])], 8 * MIB, DROP_OLDEST)
        wanted = EVERYTHING if overflow == DROP_OLDEST else [packed([["x", frames.GE, 0]])]
        create_durable(filler, "hoard", wanted, 2**30, overflow)
        own_ms = min(_stored_ms(honest, count)[0] for _ in range(ROUNDS))
        _fill_up(filler, 260 * MIB // FILL_BYTES)
        with _filling(filler):
            runs = [_stored_ms(honest, count) for _ in range(ROUNDS)]
        waiting = {each["keep"]: each for each in router.page("/durables")["durables"]}
    shape = f"a durable subscription of 1 GiB that {word}, {waiting['hoard']['bytes'] // MIB:,} MiB of it used"
    depth, refused = waiting["jobs"]["depth"], sum(each for _, each in runs)
    ms, asked = min(each for each, _ in runs), ROUNDS * count
    return [
        Figure(shape, f"of {asked} stored messages of another client refused", "all", refused, 0),
        Figure(shape, "of these and those before, lost", "-", 2 * asked - depth, 0),
        Figure(
            *(shape, f"p50 of another client, in multiples of its own {own_ms:.2f} ms", "never", ms / own_ms, 2.0),
            is_time=True,
        ),
    ]


def _stored_ms(client: Stranger, count: int) -> tuple[float, int]:
    """Return the median time of a stored message, and how many were refused."""
    took_ms, refused = [], 0
    for n in range(count):
        began_s = time.monotonic()
        counter = client.publish({"job": n}, b"y" * 200, flags=frames.CONFIRM | frames.DURABLE)
        try:
            client.confirmation(counter)
        except Refused:
            refused += 1
        took_ms.append((time.monotonic() - began_s) * 1e3)
    return statistics.median(took_ms), refused


def _fill_up(client: Stranger, count: int) -> None:
    """Publish `count` messages, a few ahead; the router accepts or refuses them."""
    for at in range(count):
        is_asked = at % 40 == 0
        counter = client.publish(
            {"x": at}, b"z" * FILL_BYTES, flags=frames.CONFIRM | frames.DURABLE if is_asked else frames.DURABLE
        )
        if is_asked:
            with contextlib.suppress(Refused):
                client.confirmation(counter)


@contextlib.contextmanager
def _filling(client: Stranger) -> Iterator[None]:
    """It goes on: fifty messages a second."""
    ended = threading.Event()

    def go_on() -> None:
        while not ended.wait(0.02):
            client.publish({"x": -1}, b"z" * FILL_BYTES, flags=frames.DURABLE)

    thread = threading.Thread(target=go_on)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
