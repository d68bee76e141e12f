"""How long a question waits for its answer: asker, router and responder on loopback.

    python -m tamis.bench.router.requests [--rate 1000] [--seconds 10] [--routers 1] [--loop uvloop] [--json]

Law: the asker keeps the pace of `--rate` questions a second whatever becomes of the answers (open loop). A question
waits from the call to its answer; how late the call was, by the pace, is said beside it: timers of event loops are a
millisecond apart, and a pause of the asker makes the calls late that fall into it. `quiet_p50_ms` is the median of that
second in which it was least: on a machine with other work, the nearest to what a quiet one shows. Router, asker and
responder are processes of their own. With several routers in a line, asker and responder are at its two ends. A
question without an answer within a second fails the run.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any, Final, NamedTuple

import click
import uvloop

import tamis
from tamis import testing
from tamis.bench.tables import markdown

TIMEOUT_S: Final = 1.0
WARM_UP: Final = 200
"""Questions before those that are measured."""


class Wait(NamedTuple):
    """Of one question, in seconds: from the call to the answer, and from when it was due to the call."""

    answered: float
    late: float


def run(main: Coroutine[Any, Any, Any], loop: str) -> Any:  # noqa: ANN401
    return uvloop.run(main) if loop == "uvloop" else asyncio.run(main)


async def _respond(address: str) -> None:
    async with tamis.connect(address, name="responder") as client, client.respond('do = "add"') as questions:
        async for question in questions:
            await question.answer({"sum": 5})


def _responder(address: str, loop: str) -> None:
    run(_respond(address), loop)


async def ask(address: str, rate: float, count: int) -> list[Wait]:
    """Return how long each of `count` questions waited for its answer."""
    async with tamis.connect(address, name="asker") as client:
        request = _until_answered(client)
        await request()
        for _ in range(WARM_UP):
            await client.request({"do": "add", "a": 2, "b": 3}, timeout_s=TIMEOUT_S)
        return await _paced(lambda: client.request({"do": "add", "a": 2, "b": 3}, timeout_s=TIMEOUT_S), rate, count)


def _until_answered(client: tamis.Client) -> Callable[[], Awaitable[None]]:
    """Ask until the responder is there and every router knows of it, for at most 10 s."""

    async def request() -> None:
        async with asyncio.timeout(10):
            while True:
                try:
                    await client.request({"do": "add", "a": 2, "b": 3}, timeout_s=0.1)
                except tamis.Unanswered:
                    continue
                return

    return request


async def _paced(request: Callable[[], Awaitable[object]], rate: float, count: int) -> list[Wait]:
    waits: list[Wait] = []

    async def one(due: float) -> None:
        asked = time.perf_counter()
        await request()
        waits.append(Wait(time.perf_counter() - asked, asked - due))

    async with asyncio.TaskGroup() as tasks:
        began = time.perf_counter()
        for number in range(count):
            due = began + number / rate
            if (left := due - time.perf_counter()) > 0:
                await asyncio.sleep(left)
            tasks.create_task(one(due))
    return waits


async def measure(routers: int, rate: float, seconds: float, loop: str) -> list[Wait]:
    """Return how long each question waited."""
    names = [f"r{number}" for number in range(routers)]
    with tempfile.TemporaryDirectory() as folder:
        async with testing.running(Path(folder), testing.line(*names)) as network:
            await network.until_linked()
            ends = network[names[0]].address, network[names[-1]].address
            responder = multiprocessing.get_context("spawn").Process(target=_responder, args=(ends[1], loop))
            responder.start()
            try:
                return await asyncio.to_thread(run, ask(ends[0], rate, round(rate * seconds)), loop)
            finally:
                responder.kill()
                await asyncio.to_thread(responder.join)


@click.command()
@click.option("--rate", type=click.FloatRange(min=1), default=1_000.0, show_default=True, help="Questions a second.")
@click.option("--seconds", type=click.FloatRange(min=0.1, max=600), default=10.0, show_default=True)
@click.option("--routers", type=click.IntRange(1, 8), default=1, show_default=True, help="In a line.")
@click.option("--loop", type=click.Choice(["uvloop", "asyncio"]), default="uvloop", show_default=True)
@click.option("--json", "as_json", is_flag=True, help="One object.")
def main(rate: float, seconds: float, routers: int, loop: str, as_json: bool) -> None:
    """Measure how long questions wait for their answers."""
    waits = asyncio.run(measure(routers, rate, seconds, loop))
    cuts = statistics.quantiles((wait.answered for wait in waits), n=100, method="inclusive")
    late = statistics.quantiles((wait.late for wait in waits), n=100, method="inclusive")
    second = max(1, round(rate))
    quiet = min(
        statistics.median(wait.answered for wait in waits[at : at + second])
        for at in range(0, max(1, len(waits) - second + 1), second)
    )
    found = {"quiet_p50_ms": quiet, "p50_ms": cuts[49], "p90_ms": cuts[89], "p99_ms": cuts[98], "late_p50_ms": late[49]}
    found = {what: round(value * 1_000, 3) for what, value in found.items()}
    row = {"routers": routers, "loop": loop, "rate": rate, "questions": len(waits), **found}
    print(json.dumps(row) if as_json else markdown(list(row), [[str(value) for value in row.values()]]))


if __name__ == "__main__":
    main()
