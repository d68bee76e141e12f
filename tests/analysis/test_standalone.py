"""The same job on a standalone Spark of a master and a worker says what it says in one process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")

import pyspark

from tamis.analysis.page import report
from tamis.analysis.records.java import java_home
from tamis.testing import free_port
from tests.analysis.conftest import NOTICE_US, Simulated

pytestmark = pytest.mark.long
LOOPBACK = "127.0.0.1"
READY_S = 180.0
JOB_S = 1_500.0
DEPLOY = "org.apache.spark.deploy"


@contextmanager
def started(folder: Path, *words: str) -> Iterator[None]:
    """A part of Spark, which ends with this."""
    home = Path(pyspark.__file__).parent
    with (folder / f"{words[0].rpartition('.')[2]}.log").open("wb") as log:
        process = subprocess.Popen(  # noqa: S603 - Spark's own
            [home / "bin" / "spark-class", *words],
            env=os.environ | {"JAVA_HOME": str(java_home()), "SPARK_HOME": str(home), "SPARK_LOCAL_IP": LOOPBACK},
            stdout=log,
            stderr=log,
        )
        try:
            yield
        finally:
            process.terminate()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@pytest.fixture
def master(tmp_path: Path) -> Iterator[str]:
    port, page = free_port(), free_port()
    where = f"spark://{LOOPBACK}:{port}"
    of_master = ["--host", LOOPBACK, "--port", str(port), "--webui-port", str(page)]
    of_worker = [where, "--host", LOOPBACK, "--webui-port", "0", "--cores", "1", "--memory", "1g"]
    with ExitStack() as stack:
        stack.enter_context(started(tmp_path, f"{DEPLOY}.master.Master", *of_master))
        until_serving(page, workers=0)
        work = ["--work-dir", str(tmp_path / "work")]
        stack.enter_context(started(tmp_path, f"{DEPLOY}.worker.Worker", *of_worker, *work))
        until_serving(page, workers=1)
        yield where


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


def analyzed(logs: Path, out: Path, master: str) -> dict[str, list[str]]:
    command = [sys.executable, "-m", "tamis.cli.main", "analyze", str(logs), "--out", str(out), "--master", master]
    subprocess.run(  # noqa: S603 - our own command
        [*command, "--notice", str(NOTICE_US / 1e6)],
        env=os.environ | {"SPARK_LOCAL_IP": LOOPBACK},
        timeout=JOB_S,
        check=True,
    )
    return {name: sorted(map(readable, rows)) for name, rows in report.read(out).items()}


def readable(row: dict[str, Any]) -> str:
    return json.dumps(row, sort_keys=True, default=str)


def test_a_cluster_says_what_one_process_says(master: str, simulated: Simulated, tmp_path: Path) -> None:
    clustered = analyzed(simulated.folder, tmp_path / "clustered", master)
    alone = analyzed(simulated.folder, tmp_path / "alone", "local[1]")
    assert clustered.keys() == alone.keys()
    for name, rows in alone.items():
        assert clustered[name] == rows, name
    assert (tmp_path / "clustered" / "report.html").stat().st_size > 10_000
