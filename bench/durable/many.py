"""The cost of many durable subscriptions:  `python -m tamis.bench.durable.many`.

    one    each subscription matches other messages, so that one gets each message
    all    each message matches all of them

Law: a standard router in a process of its own; its memory is the private memory that the system reports. One batch of
concurrent requests creates subscriptions before the clock starts, so that the cost of one more subscription is the
difference.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import tamis
from tamis.bench.memory import own_bytes
from tamis.bench.scratch import scratch_folder
from tamis.bench.tables import markdown, short
from tamis.testing import free_port, started

DURABLES: Final = 10_000
MESSAGES: Final = 200
ASKED_AT_ONCE: Final = 500


def topology(folder: Path, durables: int) -> Path:
    path = folder / "many.yaml"
    path.write_text(
        f"durable: {{subscriptions: {durables}, subscriptions_per_client: {durables}, bytes_per_client: {2**50},"
        f" memory_bytes: {2**28}}}\n"
        "limits: {table_bytes_per_client: 268435456, filters_per_client: 1000000}\n"
        f'routers: {{a: {{clients: "127.0.0.1:{free_port()}", admin: "unix:a.admin", data: data}}}}\n'
    )
    return path


async def make(client: tamis.Client, first: int, durables: int, predicate: str) -> float:
    """Create subscriptions with one `predicate`, in which {} is the number of each; return the seconds."""
    start = time.perf_counter()
    for at in range(first, first + durables, ASKED_AT_ONCE):
        numbers = range(at, min(at + ASKED_AT_ONCE, first + durables))
        await asyncio.gather(*(client.durable(f"keep-{n}", predicate.format(n), idle=None) for n in numbers))
    return time.perf_counter() - start


async def measure(folder: Path, durables: int, messages: int, predicate: str) -> dict[str, float]:
    """Create subscriptions, publish to them, restart the router."""
    async with started(topology(folder, ASKED_AT_ONCE + durables), "a") as router:
        async with tamis.connect(router.address, name="bench") as client:
            await make(client, 0, ASKED_AT_ONCE, predicate)
            alone = own_bytes(router.pid)
            made_s = await make(client, ASKED_AT_ONCE, durables, predicate)
            at_rest = own_bytes(router.pid)
            each_ms = []
            for n in range(messages):
                start = time.perf_counter()
                await client.publish({"key": 1, "n": n}, b"x" * 100, confirm="stored")
                each_ms.append((time.perf_counter() - start) * 1e3)
        awake = own_bytes(router.pid)
        start = time.perf_counter()
        await router.ask("/durables?limit=500")
        page_ms = (time.perf_counter() - start) * 1e3
        held_ms = (await router.ask("/status"))["longest_stall_ms"]
        await router.leave()
        start = time.perf_counter()
        await router.start()
        started_s = time.perf_counter() - start
    wanting = 1 if "key" in predicate else ASKED_AT_ONCE + durables
    return {
        "keeps": durables,
        "made_s": made_s,
        "bytes_a_durable": (at_rest - alone) / durables,
        "message_ms": statistics.median(each_ms),
        "message_bytes": (awake - at_rest) / messages / wanting,
        "page_ms": page_ms,
        "held_ms": held_ms,
        "started_s": started_s,
    }


def main(arguments: Sequence[str]) -> int:
    """Print a table, or with --json a line for each row."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--durables", type=int, default=DURABLES, help="number of durable subscriptions (default: %(default)s)"
    )
    parser.add_argument(
        "--messages", type=int, default=MESSAGES, help="messages to publish one by one (default: %(default)s)"
    )
    parser.add_argument("--json", action="store_true", help="print one line of JSON for each row")
    asked = parser.parse_args(arguments)
    rows = []
    for name, predicate in PREDICATES.items():
        print(f"{asked.durables:,} durable subscriptions, {name} ...", file=sys.stderr)
        with scratch_folder() as folder:
            found = asyncio.run(measure(folder, asked.durables, asked.messages, predicate))
        if asked.json:
            print(json.dumps({"match": name} | found))
        rows.append([name, *(short(found[column]) for column in COLUMNS)])
    if not asked.json:
        print(markdown(["which match", *COLUMNS.values()], rows))
    return 0


PREDICATES: Final = {"one": "key = {}", "all": "n > -{}"}
COLUMNS: Final = {
    "made_s": "created, s",
    "bytes_a_durable": "idle bytes per subscription",
    "message_ms": "confirmation, ms",
    "message_bytes": "bytes per stored message",
    "page_ms": "a page of 500, ms",
    "held_ms": "longest pause of the loop, ms",
    "started_s": "restarted, s",
}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
