"""Full stores: a durable subscription that refuses, and the log of a router. Neither may lose messages of others."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

from tests.attack.durable import DROP_OLDEST, EVERYTHING, REFUSE, create_durable
from tests.attack.figure import Figure
from tests.stranger import frames
from tests.stranger.client import Refused, Stranger
from tests.stranger.routers import Network, Router

LOG_FULL = 23
LOG_BYTES = 268_435_456
STORED = frames.CONFIRM | frames.DURABLE
PLAIN, CONFIRMED = 20, 10
MIB = 1 << 20
GIB = 1 << 30


def refusing_durable(folder: Path, _scale: float) -> list[Figure]:
    """A client stores everything, at most one message, and refuses the rest; others publish, also after a start."""
    figures = []
    with Network(folder, "r", keys=f"durable: {{bytes: {LOG_BYTES}, segment_bytes: {MIB}}}") as net:
        router = net["r"]
        with Stranger(*router.clients, "hostile") as hostile:
            create_durable(hostile, "everything", EVERYTHING, GIB, REFUSE, count=1)
            create_durable(hostile, "other", EVERYTHING, GIB, DROP_OLDEST)
            hostile.confirmation(hostile.publish({"n": -1}, flags=STORED))
        for when in ("while it is full", "after a start"):
            if when == "after a start":
                router.kill()
                router.start()
            got, confirmed, answers, twice = _tried(router)
            shape = f"a subscription to everything that refuses, {when}"
            figures += [
                Figure(shape, f"of {PLAIN} plain messages delivered", "0", got[0], PLAIN, is_least=True),
                Figure(
                    shape, f"of {CONFIRMED} confirmed ones confirmed and delivered", "0", confirmed, CONFIRMED, True
                ),
                Figure(shape, f"of {CONFIRMED} durable ones delivered", "0", got[1], CONFIRMED, is_least=True),
                Figure(shape, "of those, answers that are not LOG_FULL, of three each", "-", answers, 0),
                Figure(shape, "of those, delivered more than once", "-", twice, 0),
            ]
        stored = next(each["depth"] for each in _durables(router) if each["durable"] == "other")
        sent = 1 + 2 * (PLAIN + 2 * CONFIRMED)
        beside = "a subscription beside one that refuses"
        figures.append(Figure(beside, f"messages of {sent} stored", "1", stored, sent, True))
        figures.append(Figure(beside, "messages stored twice", "-", stored - sent, 0))
    return figures


def _tried(router: Router) -> tuple[tuple[int, int], int, int, int]:
    """Plain and durable messages that a subscriber got, confirmed ones that were confirmed and that it got, answers
    other than LOG_FULL to durable ones, which are sent three times, and messages that it got twice."""
    counters: list[int] = []
    wrong = confirmed = 0
    with Stranger(*router.clients, "reader", patience_s=2) as reader, Stranger(*router.clients, "writer") as writer:
        reader.subscribe({1: [[["n", frames.EXISTS]]]})
        counter = writer.counter = time.time_ns()
        for n in range(PLAIN):
            writer.publish({"n": n})
        for n in range(PLAIN, PLAIN + CONFIRMED):
            with contextlib.suppress(Refused):
                writer.confirmed({"n": n})
                confirmed += 1
        for n in range(PLAIN + CONFIRMED, PLAIN + 2 * CONFIRMED):
            for flags in (STORED, STORED | frames.RETRY, STORED | frames.RETRY):
                wrong += _code(writer, n, counter + 1_000 + n, flags) != LOG_FULL
        with contextlib.suppress(TimeoutError):
            while True:
                counters.append(reader.message().attributes["n"])
    plain = len({n for n in counters if n < PLAIN})
    middle = len({n for n in counters if PLAIN <= n < PLAIN + CONFIRMED})
    durable = len({n for n in counters if n >= PLAIN + CONFIRMED})
    return (plain, durable), min(confirmed, middle), wrong, len(counters) - len(set(counters))


def _code(writer: Stranger, n: int, counter: int, flags: int) -> int:
    """The code of the refusal; 0: it was confirmed."""
    writer.publish({"n": n}, counter=counter, flags=flags)
    try:
        writer.confirmation(counter)
    except Refused as refused:
        return refused.code
    return 0


def full_log(folder: Path, _scale: float) -> list[Figure]:
    """The log of a router is filled; others publish."""
    with Network(folder, "r", keys=f"durable: {{bytes: {LOG_BYTES}, segment_bytes: {64 * MIB}}}") as net:
        router = net["r"]
        with Stranger(*router.clients, "hostile") as hostile:
            create_durable(hostile, "everything", EVERYTHING, 10 * GIB, DROP_OLDEST)
            for size in (MIB - 1_024, 10_000, 0):  # where a large message has no room, small ones may have
                with contextlib.suppress(Refused):
                    for _ in range(2 * LOG_BYTES // MIB + 1_000):
                        hostile.confirmation(hostile.publish({"m": 1}, bytes(size), flags=STORED))
        (plain, durable), confirmed, wrong, twice = _tried(router)
    shape = "a full log"
    return [
        Figure(shape, f"of {PLAIN} plain messages delivered", "0", plain, PLAIN, is_least=True),
        Figure(shape, f"of {CONFIRMED} confirmed ones confirmed and delivered", "0", confirmed, CONFIRMED, True),
        Figure(shape, f"of {CONFIRMED} durable ones delivered", "0", durable, CONFIRMED, is_least=True),
        Figure(shape, "of those, answers that are not LOG_FULL, of three each", "-", wrong, 0),
        Figure(shape, "of those, delivered more than once", "-", twice, 0),
    ]


def _durables(router: Router) -> list[dict[str, object]]:
    return router.page("/durables")["durables"]
