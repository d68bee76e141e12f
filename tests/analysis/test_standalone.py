"""The same job on a standalone Spark of a master and two workers says what it says in one process, also if a worker is
killed. The workers' Python has not our package."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
import urllib.request
import venv
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")

import pyspark

from tamis.analysis.page import report
from tamis.analysis.spark.java import java_home
from tamis.testing import free_port
from tests.analysis.conftest import NOTICE_US, Simulated

pytestmark = pytest.mark.long
LOOPBACK = "127.0.0.1"
READY_S = 180.0
JOB_S = 1_500.0
DEPLOY = "org.apache.spark.deploy"
Answers = dict[str, list[str]]


@contextmanager
def started(folder: Path, *words: str) -> Iterator[subprocess.Popen[bytes]]:
    """A part of Spark, which ends with this."""
    home = Path(pyspark.__file__).parent
    name = f"{words[0].rpartition('.')[2]}-{words[-1].replace('/', '-')}.log"
    with (folder / name).open("wb") as log:
        process = subprocess.Popen(  # noqa: S603 - Spark's own
            [home / "bin" / "spark-class", *words],
            env=os.environ | {"JAVA_HOME": str(java_home()), "SPARK_HOME": str(home), "SPARK_LOCAL_IP": LOOPBACK},
            stdout=log,
            stderr=log,
        )
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@dataclass
class Cluster:
    master: str
    workers: list[subprocess.Popen[bytes]]

    def kill_one(self) -> None:
        """Kill a worker, and what it has started, at once."""
        worker = self.workers.pop()
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):
                if int(stat.read_text().rpartition(")")[2].split()[1]) == worker.pid:
                    os.kill(int(stat.parent.name), signal.SIGKILL)
        worker.kill()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    port, page = free_port(), free_port()
    where = f"spark://{LOOPBACK}:{port}"
    of_master = ["--host", LOOPBACK, "--port", str(port), "--webui-port", str(page)]
    of_worker = [where, "--host", LOOPBACK, "--webui-port", "0", "--cores", "1", "--memory", "1g"]
    with ExitStack() as stack:
        stack.enter_context(started(tmp_path, f"{DEPLOY}.master.Master", *of_master))
        until_serving(page, workers=0)
        begun = [
            stack.enter_context(started(tmp_path, f"{DEPLOY}.worker.Worker", *of_worker, "--work-dir", str(folder)))
            for folder in (tmp_path / "work-0", tmp_path / "work-1")
        ]
        until_serving(page, workers=2)
        yield Cluster(where, begun)


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """A Python that has the libraries of this one, and not our package."""
    venv.create(tmp_path / "python", with_pip=False, symlinks=True)
    found = tmp_path / "python" / "bin" / "python"
    (libraries,) = (tmp_path / "python").glob("lib/python*/site-packages")
    for folder in reversed([Path(path) for path in sys.path if path.endswith("site-packages")]):
        for entry in folder.iterdir():
            place = libraries / entry.name
            if "tamis" not in entry.name and entry.suffix != ".pth" and not place.exists():
                place.symlink_to(entry)
    tried = [subprocess.run([found, "-c", f"import {name}"], check=False, cwd="/") for name in ("pyarrow", "tamis")]  # noqa: S603
    assert [done.returncode for done in tried] == [0, 1]
    return found


def until_serving(port: int, workers: int) -> None:
    end_s = time.monotonic() + READY_S
    while True:
        try:
            with urllib.request.urlopen(f"http://{LOOPBACK}:{port}/json/", timeout=5) as answer:
                if json.load(answer)["aliveworkers"] >= workers:
                    return
        except OSError:
            pass
        assert time.monotonic() < end_s
        time.sleep(0.2)


def analyzed(logs: Path, out: Path, master: str, *more: str, after: Callable[[str], None] = lambda _: None) -> Answers:
    """Return the rows of all tables. `after` is called with each line that the command tells."""
    command = [sys.executable, "-m", "tamis.cli.main", "analyze", str(logs), "--out", str(out), "--master", master]
    process = subprocess.Popen(  # noqa: S603 - our own command
        [*command, "--notice", str(NOTICE_US / 1e6), *more],
        env=os.environ | {"SPARK_LOCAL_IP": LOOPBACK},
        stderr=subprocess.PIPE,
        text=True,
    )
    alarm = threading.Timer(JOB_S, process.kill)
    alarm.start()
    told = []
    with process:
        try:
            for line in process.stderr or ():
                told.append(line)
                after(line)
            process.wait()
        finally:
            alarm.cancel()
            process.kill()
    assert process.returncode == 0, "".join(told)
    return {name: sorted(map(readable, rows)) for name, rows in report.read(out).items()}


def readable(row: dict[str, Any]) -> str:
    return json.dumps(row, sort_keys=True, default=str)


@pytest.mark.parametrize("simulated", ["advertise"], indirect=True)
def test_two_workers_say_what_one_process_says_though_one_is_killed(
    cluster: Cluster, python: Path, simulated: Simulated, tmp_path: Path
) -> None:
    def kill_one(line: str) -> None:
        if "traffic: " in line:  # one query is answered, and its records are with the workers
            cluster.kill_one()

    settings = ("--conf", f"spark.pyspark.python={python}")
    clustered = analyzed(simulated.folder, tmp_path / "clustered", cluster.master, *settings, after=kill_one)
    assert len(cluster.workers) == 1
    alone = analyzed(simulated.folder, tmp_path / "alone", "local[1]")
    assert clustered.keys() == alone.keys()
    for name, rows in alone.items():
        assert clustered[name] == rows, name
    assert (tmp_path / "clustered" / "report.html").stat().st_size > 10_000
