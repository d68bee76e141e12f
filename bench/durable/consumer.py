"""The cost of consuming stored messages in a Python program: `python -m tamis.bench.durable.consumer`.

    asyncio     `async for message in work: message.ack()`
    blocking    `for message in work: message.ack()`

Law: a router as anybody runs it, over TCP on loopback; all messages are on its disk before the first is consumed, and
the clock stops when the last acknowledgement is on disk, too. CPU is that of this process alone, and the rate that it
allows stands beside the rate that was seen, as the router needs a core as well.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Final

import tamis
from tamis.bench.scratch import scratch_folder
from tamis.bench.tables import markdown, short
from tamis.blocking import StoredMessage as BlockingStoredMessage
from tamis.blocking import connect
from tamis.testing import free_port, started

MESSAGES: Final = 200_000
PAYLOAD: Final = b"x" * 60
DURABLE_KEYS: Final = f"durable: {{memory_bytes: {2**26}}}"


async def publish(address: str, count: int) -> None:
    """Publish `count` messages; return when all are on disk."""
    async with tamis.connect(address, name="press") as client:
        for n in range(count - 1):
            await client.publish({"symbol": "S7", "n": n}, PAYLOAD)
        await client.publish({"symbol": "S7", "n": count - 1}, PAYLOAD, confirm="stored")


async def consume(address: str, count: int) -> None:
    """Acknowledge `count` messages one by one in an event loop."""
    async with tamis.connect(address, name="worker") as client, client.consume("jobs") as work:
        left = count
        async for message in work:
            assert isinstance(message, tamis.StoredMessage)  # noqa: S101 - nothing is lost
            left -= 1
            acknowledged = message.ack()
            if left == 0:
                await acknowledged
                return


def consume_blocking(address: str, count: int) -> None:
    """Acknowledge `count` messages one by one without an event loop."""
    with connect(address, name="worker") as client, client.consume("jobs") as work:
        left = count
        for message in work:
            assert isinstance(message, BlockingStoredMessage)  # noqa: S101 - nothing is lost
            left -= 1
            message.ack(confirm=left == 0)
            if left == 0:
                return


WAYS: Final[dict[str, Callable[[str, int], Awaitable[None]]]] = {
    "asyncio": consume,
    "blocking": lambda address, count: asyncio.to_thread(consume_blocking, address, count),
}


async def measure(folder: Path, way: str, count: int) -> dict[str, float]:
    """One way of consuming, on a router of its own."""
    file = folder / "one.yaml"
    file.write_text(f'{DURABLE_KEYS}\nrouters: {{a: {{clients: "127.0.0.1:{free_port()}", data: data}}}}\n')
    async with started(file, "a") as router:
        async with tamis.connect(router.address, name="operator") as client:
            await client.durable("jobs", 'symbol = "S7"')
        await publish(router.address, count)
        start, cpu = time.perf_counter(), time.process_time()
        await WAYS[way](router.address, count)
        seconds, cpu_s = time.perf_counter() - start, time.process_time() - cpu
    return {"acknowledged_s": count / seconds, "cpu_us": cpu_s / count * 1e6, "by_cpu_s": count / cpu_s}


def main(arguments: Sequence[str]) -> int:
    """Print a table, or with --json a line for each way."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=MESSAGES, help="number of messages (default: %(default)s)")
    parser.add_argument(
        "--rounds", type=int, default=3, help="rounds of each; the best is shown (default: %(default)s)"
    )
    parser.add_argument("--json", action="store_true", help="print one line of JSON for each way")
    asked = parser.parse_args(arguments)
    rows = []
    for way in WAYS:
        found = []
        for _ in range(asked.rounds):
            with scratch_folder() as folder:
                found.append(asyncio.run(measure(folder, way, asked.count)))
        best = max(found, key=lambda one: one["by_cpu_s"])
        if asked.json:
            print(json.dumps({"way": way} | best))
        rows.append([way, *(short(best[column]) for column in COLUMNS)])
    if not asked.json:
        print(markdown(["client", *COLUMNS.values()], rows))
    return 0


COLUMNS: Final = {
    "acknowledged_s": "acknowledged/s",
    "cpu_us": "CPU of the client, us a message",
    "by_cpu_s": "messages a second of its CPU",
}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
