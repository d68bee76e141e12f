"""The programs in docs/examples/ do what they say, also when a router or a worker is killed, and are well typed."""

from __future__ import annotations

import asyncio
import contextlib
import csv
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import tamis
from tamis.testing.router import RouterProcess, started

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "docs" / "examples"
PATIENCE_S = 60.0
ROWS = 100_000
TOPOLOGY = """
name: one
routers:
  rome:
    clients: unix:{path}
slow_consumer: {{policy: block}}
"""


@pytest.fixture
async def rome(tmp_path: Path) -> AsyncIterator[RouterProcess]:
    file = tmp_path / "one.yaml"
    file.write_text(TOPOLOGY.format(path=tmp_path / "clients"))
    async with started(file, "rome") as router:
        yield router


class Program:
    """An example that runs."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        self._out = process.stdout
        self.process = process

    async def line(self) -> str:
        async with asyncio.timeout(PATIENCE_S):
            return (await self._out.readline()).decode().rstrip("\n")

    async def end(self) -> tuple[int, str, str]:
        """What it still prints, and how it ends."""
        async with asyncio.timeout(PATIENCE_S):
            out, err = await self.process.communicate()
        assert self.process.returncode is not None
        return self.process.returncode, out.decode(), err.decode()


@contextlib.asynccontextmanager
async def program(name: str, *words: str) -> AsyncIterator[Program]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, str(EXAMPLES / name), *words), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        yield Program(process)
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def test_the_alerting_service(rome: RouterProcess) -> None:
    async with (
        tamis.connect(rome.address, patience_s=PATIENCE_S) as client,
        program("alerting.py", rome.address, "severity > 2") as service,
    ):
        await publish_until_it_says(client, service, "web-1: one")
        await rome.kill()
        await rome.start()
        await publish_until_it_says(client, service, "web-1: two")
        service.process.send_signal(signal.SIGTERM)
        code, _, err = await service.end()
    assert code == 0
    said = [line for line in err.splitlines() if "connection lost" not in line]  # which the log of the client says
    assert [line.split(":")[0] for line in said] == [
        *("connected to rome", "not connected", "connected to rome", "something may be missing")
    ]


async def publish_until_it_says(client: tamis.Client, service: Program, words: str) -> None:
    line = asyncio.create_task(service.line())
    payload = words.rpartition(" ")[2].encode()
    while not line.done():
        with contextlib.suppress(tamis.PublishUnknown):
            await client.publish({"severity": 3, "device": "web-1"}, payload, confirm=True)
        await asyncio.wait([line], timeout=0.1)
    said = await line
    while not said.endswith(words):
        said = await service.line()


async def test_rows_of_a_file_come_into_the_database(rome: RouterProcess, tmp_path: Path) -> None:
    with (tmp_path / "orders.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "customer", "amount"])
        rows.writerows([number, f"customer {number % 1_000}", number / 100] for number in range(ROWS))
    database = str(tmp_path / "orders.sqlite")
    async with program("csv_to_sqlite.py", "store", rome.address, database) as storing:
        assert await storing.line() == "ready"
        async with program("csv_to_sqlite.py", "publish", rome.address, str(tmp_path / "orders.csv")) as publishing:
            assert await publishing.end() == (0, "", "")
        assert await storing.end() == (0, f"{ROWS:,} rows\n", "")
    with contextlib.closing(sqlite3.connect(database)) as orders:
        [(total,)] = orders.execute("select sum(amount) from orders")
    assert total == pytest.approx(sum(range(ROWS)) / 100)


async def test_two_workers_share_questions_and_one_does_the_work_of_both(rome: RouterProcess) -> None:
    async with program("workers.py", "serve", rome.address, "0") as even:
        async with program("workers.py", "serve", rome.address, "1") as odd:
            assert (await even.line(), await odd.line()) == ("ready", "ready")
            async with program("workers.py", "ask", rome.address, "8") as asking:
                code, out, err = await asking.end()
        assert (code, err) == (0, "")
        assert out.splitlines() == [f"{number}: {number * number} by worker {number % 2}" for number in range(8)]
        async with program("workers.py", "ask", rome.address, "2") as asking:
            assert await asking.end() == (0, "0: 0 by worker 0\n1: 1 by worker 0\n", "")


DURABLE = """
name: durable
durable: {{bytes: 268435456, segment_bytes: 1048576}}
routers:
  rome: {{clients: "unix:{path}", data: data}}
"""
JOBS = 40


async def test_each_job_of_the_queue_is_done_though_its_router_and_its_worker_are_killed(tmp_path: Path) -> None:
    file = tmp_path / "durable.yaml"
    file.write_text(DURABLE.format(path=tmp_path / "clients"))
    done: list[str] = []
    async with started(file, "rome") as rome:
        async with program("work_queue.py", "submit", rome.address, str(JOBS)) as submitting:
            assert await submitting.end() == (0, f"{JOBS} jobs are on disk\n", "")
        async with tamis.connect(rome.address) as client:
            await client.publish({"class": "job", "do": "square", "number": -1}, confirm="stored")
        async with program("work_queue.py", "work", rome.address) as first:
            assert await first.line() == "ready"
            done += [await first.line() for _ in range(5)]
            await rome.kill()
            await rome.start()
            done += [await first.line() for _ in range(15)]
            first.process.kill()
        async with program("work_queue.py", "work", rome.address) as second:
            assert await second.line() == "ready"
            while len(set(done)) < JOBS:
                done.append(await second.line())
            async with tamis.connect(rome.address) as client, client.consume("squares-dead") as dead:
                letter = await dead.receive(PATIENCE_S)
    assert set(done) == {f"{number}: {number * number}" for number in range(JOBS)}
    assert isinstance(letter, tamis.StoredMessage)
    assert (letter["number"], letter.dead_letter) == (-1, True)


def test_they_pass_mypy_strict() -> None:
    """As a program outside of Tamis is checked: with the types of the package, whose own mistakes are not looked for,
    and no settings of ours."""
    subprocess.run(["make", "-s", ".venv/typing"], cwd=ROOT, check=True)  # noqa: S607 - the package as mypy finds it
    files = sorted(map(str, EXAMPLES.glob("*.py")))
    assert len(files) == 4
    done = subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-m", "mypy", "--strict", "--follow-imports", "silent", "--config-file", os.devnull, *files],
        cwd=ROOT / ".venv" / "typing",
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, f"Success: no issues found in {len(files)} source files\n")
