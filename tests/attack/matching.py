"""Names, values and filters that are dear to match: what a client may ask of its router within its limits."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

from tests.attack.figure import Figure, Meter, hold
from tests.stranger import frames
from tests.stranger.client import Ended, Stranger
from tests.stranger.frames import CONTAINS, EQ, IN
from tests.stranger.routers import Network, Router

FILTERS = 10_000
ATTRIBUTES = 64
TRACES_PER_S = 3_000
WORD = 2**64

# Of the hash at da1168e: tails of 125 bytes for which a factor was 0 whatever the seed, and integers of one hash.
STRING_BYTES = 125
_TAIL = ((0xE7037ED1A0B428DB ^ STRING_BYTES * 0x8EBC6AF09C88C6E3) % WORD).to_bytes(8, "little").decode()


def colliding_string(i: int) -> str:
    return f"{i:08d}" + "x" * (STRING_BYTES - 16) + _TAIL


def colliding_integer(i: int) -> int:
    word = (i + 1) << 32 | 0x5EED
    for factor in (0xD6E8FEB86659FD93, 0x9E3779B97F4A7C15):
        word = (word ^ word >> 32) * pow(factor, -1, WORD) % WORD
    return word - WORD if word >= WORD // 2 else word


Shape = Mapping[str, Any]
"""`filters`: FILTERS conditions; `messages`: attributes."""


def _shape(names: list[str], values: list[Any], count: int) -> tuple[list[list[Any]], list[dict[str, Any]]]:
    """Each filter one condition of the next name and the next value; messages of ATTRIBUTES such pairs."""
    filters = [[names[i % len(names)], EQ, values[i % len(values)]] for i in range(FILTERS)]
    width = min(ATTRIBUTES, len(names))
    messages = []
    for k in range(count):
        start = k * width
        places = [(start + j) % max(len(names), 1) for j in range(width)]
        messages.append({names[p]: values[(start + j) % len(values)] for j, p in enumerate(places)})
    return filters, messages


def _pairs(count: int) -> dict[str, tuple[tuple[Any, Any], tuple[Any, Any], str]]:
    """name -> the attack, the same in plain, and what was seen at da1168e."""
    random = Random("attack")
    width = [f"s{j}" for j in range(ATTRIBUTES)]
    plain_strings = ["".join(random.choices("abcdefghij", k=STRING_BYTES)) for _ in range(FILTERS)]
    plain_integers = [random.randrange(2**40, 2**63) for _ in range(FILTERS)]
    bad_integers = [colliding_integer(i) for i in range(FILTERS)]
    return {
        "names alike at both ends": (
            _shape([f"sensors.{i:08d}.celsius" for i in range(FILTERS)], [1], count),
            _shape([f"{i:08d}.sensors.celsius" for i in range(FILTERS)], [1], count),
            "1,027 us against 14",
        ),
        "strings with a tail that cancels": (
            _shape(width, [colliding_string(i) for i in range(FILTERS)], count),
            _shape(width, plain_strings, count),
            "309 us against 13",
        ),
        "integers of one hash, one name": (
            _shape(["n"], bad_integers, count),
            _shape(["n"], plain_integers, count),
            "121 us against 2",
        ),
        "integers of one hash, 64 names": (
            _shape(width, bad_integers, count),
            _shape(width, plain_integers, count),
            "206 us against 6",
        ),
    }


def hashes(folder: Path, scale: float) -> list[Figure]:
    """What strangers choose must cost what anything else costs. Each in a router of its own, plain and chosen."""
    count, figures = max(1_000, int(4_000 * scale)), []
    for name, (chosen, plain, before) in _pairs(count).items():
        costs, hold_ms = [], 0.0
        for number, (filters, messages) in enumerate((plain, chosen)):
            place = folder / f"{name}-{number}".replace(" ", "-")
            place.mkdir()
            cost_us, held_ms = _cost(place, filters, messages)
            costs.append(cost_us)
            hold_ms = max(hold_ms, held_ms)
        figures += [
            Figure(name, f"us a message, in multiples of the plain {costs[0]:.0f}", before, costs[1] / costs[0], 2.0),
            hold(name, "longest hold, ms", "289 (10,000 names)", hold_ms),
        ]
    return figures


def _cost(folder: Path, filters: list[Any], messages: list[Any]) -> tuple[float, float]:
    """Microseconds of the router's CPU a message, the best of seven, with what it takes to read it; longest hold."""
    with Network(folder, "r") as net:
        reader, writer = Stranger(*net["r"].clients, "reader"), Stranger(*net["r"].clients, "writer")
        with Meter(net["r"]) as subscribing:
            refused = reader.subscribe({i: [[each, ["none", EQ, 1]]] for i, each in enumerate(filters)})
            assert not refused
        runs = []
        for _ in range(7):
            with Meter(net["r"]) as run:
                for attributes in messages:
                    writer.publish(attributes)
                writer.confirmed({"end": 1})
            runs.append(run)
        reader.close()
        writer.close()
    best_us = min(run.cpu_s for run in runs) / len(messages) * 1e6
    return best_us, max(run.hold_ms for run in (*runs, subscribing))


def contains(folder: Path, scale: float) -> list[Figure]:
    """1 MiB of letters against 10,000 patterns of 20, as fast as credit allows."""
    random, count = Random("contains"), max(4, int(20 * scale))

    def letters(size: int) -> str:
        return "".join(random.choices("ab", k=size))

    with Network(folder, "r") as net:
        reader, writer = Stranger(*net["r"].clients, "reader"), Stranger(*net["r"].clients, "writer")
        reader.subscribe({i: [[[f"a{i % 15}", CONTAINS, letters(20)]]] for i in range(FILTERS)})
        texts = [{f"a{j}": letters(65_000) for j in range(15)} for _ in range(2)]
        with Meter(net["r"]) as run:
            for k in range(count):
                writer.publish(texts[k % 2])
            writer.confirmed({"end": 1})
        reader.close()
        writer.close()
    return [
        Figure("contains, 1 MiB", "ms of CPU a message", "173-184", run.cpu_s / count * 1e3, 15.0, is_cpu=True),
        hold("contains, 1 MiB", "longest hold, ms", "1,500 (8 in a row)", run.hold_ms),
    ]


def hostile_in(folder: Path, scale: float) -> list[Figure]:
    """One client fills the tables with `in` of 256 values on 16 names; others want little, and then it leaves."""
    memory_bytes = int(1024 * scale) * 2**20
    keys = f"limits: {{memory_bytes: {memory_bytes}}}"
    refused = asked = 0
    with Network(folder, "r", keys=keys) as net:
        router = net["r"]
        greedy = Stranger(*router.clients, "greedy", patience_s=60)
        with Meter(router) as filling:
            for i in range(0, 4_010, 40):
                batch = {k: [[[f"a{j}", IN, *range(k, k + 256)] for j in range(16)]] for k in range(i, i + 40)}
                if _is_full(greedy, batch):
                    break
        full_bytes = router.metric("tamis_table_bytes")
        with Meter(router) as others:
            for client in range(20):
                with Stranger(*router.clients, f"other-{client}", patience_s=30) as other:
                    wanted = {i: [[["sym", IN, *(f"S{client}-{i}-{k}" for k in range(256))]]] for i in range(10)}
                    asked += len(wanted)
                    refused += len(other.subscribe(wanted))
        with Meter(router) as leaving:
            greedy.close()
            kept = _stored_bytes(router)
    return [
        Figure("in, 256 x 16", f"others' filters refused of {asked}", "180 of 200", refused, 0),
        hold("in, 256 x 16", "longest hold, ms", "738", max(filling.hold_ms, others.hold_ms)),
        hold("in, 256 x 16", "longest hold as it leaves, ms", "-", leaving.hold_ms),
        Figure("in, 256 x 16", "share of its table in use after it has ended", "0.58", kept / full_bytes, 0.3),
    ]


def _is_full(client: Stranger, batch: dict[int, Any]) -> bool:
    try:
        return bool(client.subscribe(batch))
    except Ended:
        return True


def _stored_bytes(router: Router) -> float:
    """Of the tables, once they shrink no more."""
    least, since_s = float("inf"), time.monotonic()
    while time.monotonic() < since_s + 3:
        now = router.metric("tamis_table_bytes")
        if now < least * 0.99:
            least, since_s = now, time.monotonic()
        time.sleep(0.2)
    return least


def traces(folder: Path, scale: float) -> list[Figure]:
    """A client that wants a record of every message, 3,000 a second for two seconds, 1,000 filters matching each. What
    it may have at once is used up first."""
    count, figures = max(6_000, int(20_000 * scale)), []
    seconds = count / TRACES_PER_S
    with Network(folder, "r") as net:
        router = net["r"]
        reader = Stranger(*router.clients, "reader", patience_s=60)
        writer = Stranger(*router.clients, "writer", patience_s=60)
        reader.subscribe({i: [[["n", frames.GE, 0]]] for i in range(1_000)})
        with Meter(router) as plain:
            _publish_many(router, writer, reader, count, frames.PUBLISH, 0)
        for kind, word in ((frames.PUBLISH, "trace"), (frames.DRY_RUN, "dry run")):
            _publish_many(router, writer, reader, count // 10, kind, frames.TRACED)
            with Meter(router) as asked:
                _publish_many(router, writer, reader, count, kind, frames.TRACED)
            share = (asked.cpu_s - plain.cpu_s) / seconds
            figures += [
                Figure(f"{word} of every message", "cores that it takes beside the messages", "over 1", share, 0.2),
                hold(f"{word} of every message", "longest hold, ms", "-", asked.hold_ms),
            ]
        reader.close()
        writer.close()
    return figures


def _publish_many(router: Router, writer: Stranger, reader: Stranger, count: int, kind: int, flags: int) -> None:
    """At TRACES_PER_S; ends when the router has nothing left to do."""
    area = [frames.extension(frames.TRACE, os.urandom(8))] if flags else []
    began_s = time.monotonic()
    for k in range(count):
        writer.publish({"n": k}, extensions=area, kind=kind, flags=flags)
        if k % 100 == 99:
            _drain(reader)
            _drain(writer)
            time.sleep(max(0.0, began_s + k / TRACES_PER_S - time.monotonic()))
    writer.confirmed({"end": 1})
    busy_s = float("inf")
    while busy_s > 0.02:
        before_s = router.cpu_s
        _drain(reader)
        _drain(writer)
        time.sleep(0.1)
        busy_s = router.cpu_s - before_s


def _drain(client: Stranger) -> None:
    """Read what is there."""
    client.waiting.clear()
    while not client.is_silent(0.001):
        client.waiting.clear()
