"""Whether advice keeps its promises: `python -m tamis.bench.logs.advice`.

    few     each message satisfies some thousandth of 5,000 filters       engine sff, no rounds
    many    each message satisfies half of 1,000 filters                  nothing said: engine tamis
    hot     every filter and every message has one attribute, few values  engine sff, no rounds
    burst   a receiver stands still while 12 MB come for it               a queue of 1 MiB
    ring    five routers, messages for one or two of them                 one tree for all

Law: a shape's routers are started from a file that somebody could have written, with records; the same messages are
published to the same subscribers before and after; between them lies nothing but the patch. What is promised is held
against the same figure of the second logs, made by the same rule. `cpu us` is what the routers' processes took for a
message, with the threads that write records, known to half a microsecond: nobody promised it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

import tamis
from tamis.bench.commands import chosen
from tamis.bench.scratch import scratch_folder
from tamis.bench.tables import markdown, short
from tamis.protocol.values import Value
from tamis.testing import RouterProcess, lasting_port
from tamis.testing.network import QUIET_POLL_S

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RESULTS: Final = Path(__file__).parents[1] / "results"
CLIENTS: Final = 20
STALLED_BYTES: Final = 12_000_000
PAYLOAD: Final = bytes(1_000)
WITHIN: Final = 2.0
"""A promise is kept that is met within this factor."""
LINKED_S: Final = 120

Message = dict[str, Value]


@dataclass(frozen=True, slots=True)
class Shape:
    """`keys` are lines of the topology file. `wanted` are predicates by router, `said` the messages and where they
    enter. `stalls`: the one receiver stands still while they come."""

    keys: str
    routers: str
    wanted: Callable[[], dict[str, list[list[str]]]]
    said: Callable[[], Iterator[tuple[str, Message]]]
    payload: bytes = b""
    stalls: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """`kept`: within WITHIN of what was promised; None where nothing was."""

    shape: str
    rule: str
    now: str
    then: str | None
    figure: str
    before: float
    promised: float | None
    got: float
    kept: bool | None
    cpu_us_before: float
    cpu_us_after: float


# --- the shapes -------------------------------------------------------------------------------------------------------


def _dealt(predicates: Sequence[str]) -> dict[str, list[list[str]]]:
    """To the clients of router a, in turn."""
    return {"a": [list(predicates[client::CLIENTS]) for client in range(CLIENTS)]}


def _few() -> dict[str, list[list[str]]]:
    rng = random.Random("few filters")
    return _dealt([f'symbol = "S{rng.randrange(1_000)}" and price < {rng.randrange(500)}' for _ in range(5_000)])


def _few_said() -> Iterator[tuple[str, Message]]:
    rng = random.Random("few messages")
    for _ in range(20_000):
        yield "a", {"symbol": f"S{rng.randrange(1_000)}", "price": rng.randrange(1_000), "qty": rng.randrange(100)}


def _many() -> dict[str, list[list[str]]]:
    rng = random.Random("many filters")
    return _dealt([f"price < {rng.randrange(1_000)} and qty >= 0" for _ in range(1_000)])


def _many_said() -> Iterator[tuple[str, Message]]:
    rng = random.Random("many messages")
    for _ in range(10_000):
        yield "a", {"price": rng.randrange(1_000), "qty": rng.randrange(100)}


def _hot() -> dict[str, list[list[str]]]:
    rng = random.Random("hot filters")
    return _dealt([f'level = {rng.randrange(8)} and device = "d{rng.randrange(2_000)}"' for _ in range(4_000)])


def _hot_said() -> Iterator[tuple[str, Message]]:
    rng = random.Random("hot messages")
    for _ in range(20_000):
        yield "a", {"level": min(rng.randrange(16), 7), "device": f"d{rng.randrange(2_000)}", "load": rng.random()}


def _burst_said() -> Iterator[tuple[str, Message]]:
    for number in range(STALLED_BYTES // len(PAYLOAD)):
        yield "a", {"number": number}


def _ring() -> dict[str, list[list[str]]]:
    return {router: [[f"region = {place}"]] for place, router in enumerate("abcde")}


def _ring_said() -> Iterator[tuple[str, Message]]:
    rng = random.Random("ring messages")
    for _ in range(20_000):
        place = rng.randrange(5)
        yield "abcde"[place], {"region": (place + rng.choice((1, 4))) % 5, "number": rng.randrange(1_000)}


RING: Final = "links: [[a, b], [b, c], [c, d], [d, e], [e, a]]\nbroadcast: shared-tree   # simple\n"
SHAPES: Final = {
    "few": Shape("engine: {name: sff, options: {rounds: 0}}   # as in the paper\n", "a", _few, _few_said),
    "many": Shape("", "a", _many, _many_said),
    "hot": Shape("engine: {name: sff, options: {rounds: 0}}\n", "a", _hot, _hot_said),
    "burst": Shape(
        "limits:\n  connection_queue_bytes: 1_048_576   # to save memory\n",
        *("a", lambda: {"a": [["exists number"]]}, _burst_said, PAYLOAD, True),
    ),
    "ring": Shape(RING, "abcde", _ring, _ring_said),
}


# --- one run ----------------------------------------------------------------------------------------------------------


class Network:
    """Routers that all read one text; `file` is the one that is advised about."""

    def __init__(self, folder: Path, shape: Shape) -> None:
        self.routers = {name: RouterProcess(name, folder / f"{name}.yaml") for name in shape.routers}
        self.file = folder / "network.yaml"
        lines = [
            f'  {name}: {{clients: "unix:{name}.clients", neighbours: "127.0.0.1:{lasting_port()}", '
            f'admin: "unix:{name}.sock"}}\n'
            for name in self.routers
        ]
        self.text = f"# A network.\n{shape.keys}routers:\n{''.join(lines)}"

    @contextlib.asynccontextmanager
    async def up(self, logs: str) -> AsyncIterator[None]:
        """All are linked; their records go to this folder. They have stopped, and written everything, afterwards."""
        recorded = f"{self.text}records: {{folder: {logs}, messages: 0.2}}\n"
        for router in self.routers.values():
            router.file.write_text(recorded)
            await router.start()
        try:
            await self._linked()
            yield
        finally:
            for router in self.routers.values():
                if router.is_running:
                    await router.leave()

    async def _linked(self) -> None:
        async with asyncio.timeout(LINKED_S):
            for router in self.routers.values() if len(self.routers) > 1 else ():
                while (await router.ask("/status"))["network"]["routers"] != len(self.routers):
                    await asyncio.sleep(QUIET_POLL_S)

    def address(self, router: str) -> str:
        return f"tamis+unix:{self.file.parent / router}.clients"

    def cpu_s(self) -> float:
        ticks = 0
        for router in self.routers.values():
            fields = Path(f"/proc/{router.pid}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")


async def run(network: Network, shape: Shape, logs: str) -> float:
    """Microseconds of CPU that a published message took in all routers together."""
    async with network.up(logs), contextlib.AsyncExitStack() as stack:
        pids = [
            await stack.enter_async_context(_receiver(network.address(router), predicates))
            for router, clients in shape.wanted().items()
            for predicates in clients
        ]
        publishers = {
            router: await stack.enter_async_context(tamis.connect(network.address(router)))
            for router in network.routers
        }
        before_s, count = network.cpu_s(), 0
        for pid in pids if shape.stalls else ():
            os.kill(pid, signal.SIGSTOP)
        for router, message in shape.said():
            await publishers[router].publish(message, shape.payload)
            count += 1
        for publisher in publishers.values():
            await publisher.drain()
        for pid in pids if shape.stalls else ():
            os.kill(pid, signal.SIGCONT)
        return (network.cpu_s() - before_s) / count * 1e6


@contextlib.asynccontextmanager
async def _receiver(address: str, predicates: Sequence[str]) -> AsyncIterator[int]:
    """A client in a process of its own that takes what comes; every router knows what it wants. Its process id."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tamis.bench.logs.advice", "--receive", address),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdin  # noqa: S101 - asked for above
    assert process.stdout  # noqa: S101
    try:
        process.stdin.write(json.dumps(predicates).encode() + b"\n")
        await process.stdout.readline()
        yield process.pid
    finally:
        process.kill()
        await process.wait()


async def _receive(address: str, predicates: Sequence[str]) -> None:
    async with tamis.connect(address) as client, client.subscribe(*predicates, wait="network") as messages:
        print("ready", flush=True)
        async for _ in messages:
            pass


# --- promised and got -------------------------------------------------------------------------------------------------


def _advice(spark: SparkSession, network: Network, logs: str, out: str) -> list[dict[str, object]]:
    """As `tamis analyze --advise` gives it, without the other answers."""
    from tamis.analysis.advice.job import advise, wanted
    from tamis.analysis.records import logs as reading
    from tamis.analysis.study import Findings

    folder = network.file.parent
    network.file.write_text(network.text)
    study = Findings(spark, reading.read(spark, folder / logs, folder / out / "store"))
    found = advise(study, wanted(network.file, folder / logs), folder / out, lambda _: None)
    study.close()
    for each in found:
        click.echo(f"    {each}", err=True)
    return [each.row for each in found]


def measure(spark: SparkSession, name: str) -> list[Row]:
    shape = SHAPES[name]
    with scratch_folder() as folder:
        network = Network(folder, shape)
        cpu_before = asyncio.run(run(network, shape, "before"))
        first = _advice(spark, network, "before", "first")
        subprocess.run(["patch", "-s", network.file, folder / "first" / "advice.patch"], check=True)  # noqa: S603, S607
        network.text = network.file.read_text()
        cpu_after = asyncio.run(run(network, shape, "after"))
        second = _advice(spark, network, "after", "second")
    return list(_rows(name, first, second, (cpu_before, cpu_after)))


def _rows(
    name: str, first: Sequence[Mapping[str, object]], second: Sequence[Mapping[str, object]], cpu: tuple[float, float]
) -> Iterator[Row]:
    """One for each change; rules that look at one figure find it again under their name."""
    for each in first:
        if each["verdict"] != "change":
            continue
        got = sum(_number(other["before"]) for other in second if other["rule"] == each["rule"])
        before, promised = _number(each["before"]), _number(each["promised"])
        told = (str(each["rule"]), str(each["now"]), str(each["then"]), str(each["figure"]))
        yield Row(name, *told, before, promised, got, kept(promised, got), *cpu)


def kept(promised: float, got: float) -> bool:
    """Within a factor of two; what was promised to be nothing is nothing."""
    return got <= WITHIN * promised and (promised == 0 or got >= promised / WITHIN)


def _number(figure: object) -> float:
    return float(figure) if isinstance(figure, int | float) else 0.0


def table(rows: Sequence[Row]) -> str:
    head = ["shape", "rule", "change", "figure", "before", "promised", "got", "within a factor of two", "cpu us"]
    cells = [
        [
            *(row.shape, row.rule, f"{row.now} -> {row.then}", row.figure),
            *(short(row.before), short(row.promised), short(row.got), "yes" if row.kept else "NO"),
            f"{short(row.cpu_us_before)} -> {short(row.cpu_us_after)}",
        ]
        for row in rows
    ]
    return markdown(head, cells)


@click.command()
@click.option("--only", default=",".join(SHAPES), show_default=True, help="Shapes to measure.")
@click.option("--into", type=click.Path(path_type=Path), default=RESULTS, help="Folder for advice.jsonl and advice.md.")
@click.option("--receive", metavar="ADDRESS", hidden=True)
def main(only: str, into: Path, receive: str | None) -> None:
    """Start routers from a poor file, take the advice, start them again: promised against got."""
    if receive is not None:
        asyncio.run(_receive(receive, json.loads(sys.stdin.readline())))
        return
    from tamis.analysis.spark import session

    names = chosen(only, SHAPES, "--only")
    spark = session.start("local[1]", partitions=2, brief=True)
    rows = []
    for name in names:
        click.echo(f"{name} ...", err=True)
        rows += measure(spark, name)
        click.echo("\n".join(json.dumps(asdict(row)) for row in rows if row.shape == name))
    spark.stop()
    date = time.strftime("%Y-%m-%d", time.gmtime())
    (into / "advice.jsonl").write_text("".join(json.dumps(asdict(row) | {"date": date}) + "\n" for row in rows))
    page = f"# Advice, promised and measured\n\n{date}, `python -m tamis.bench.logs.advice`\n\n{table(rows)}\n"
    (into / "advice.md").write_text(page)
    click.echo(table(rows))


if __name__ == "__main__":
    main()
