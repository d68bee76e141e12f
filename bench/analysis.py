"""How fast logs are analysed: `python -m tamis.bench.analysis --copies 1000`.

Law: each setting is a process of its own, so that nothing is warm and memory is its own; the logs are those of a calm
simulated network, so the audit must find nothing. Reading and parsing the lines is part of each question.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tamis.bench.report import markdown

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

QUESTIONS = ("traffic", "latency", "delivery")
TOPOLOGY = "ring:5"


@click.command()
@click.option("--copies", type=click.IntRange(min=1), default=1_000, show_default=True, help="Of the small log.")
@click.option("--master", "masters", multiple=True, default=("local[1]", "local[2]"), show_default=True)
@click.option("--measure", type=(str, str, click.Path(path_type=Path)), hidden=True)
def main(copies: int, masters: tuple[str, ...], measure: tuple[str, str, Path] | None) -> None:
    """Records per second and memory of each question, by number of cores."""
    if measure is not None:
        click.echo(json.dumps(_measured(*measure)))
        return
    with tempfile.TemporaryDirectory(prefix="tamis-bench-") as folder:
        logs = Path(folder) / "logs"
        _generate(Path(folder) / "small", logs, copies)
        rows = [_apart(master, question, logs) for question in QUESTIONS for master in masters]
    click.echo(markdown(["question", "master", "records", "s", "records/s", "MB"], rows))


def _generate(small: Path, logs: Path, copies: int) -> None:
    from tamis.analysis import multiply, session
    from tamis.simulate.run import Scenario, run

    logs.mkdir()
    run(Scenario(TOPOLOGY, 0, "none", 1), records=small)
    spark = session.start()
    multiply.write(spark, small, logs, copies, files=8)
    spark.stop()


def _apart(master: str, question: str, logs: Path) -> list[str]:
    command = [sys.executable, "-m", "tamis.bench.analysis", "--measure", master, question, str(logs)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    told = json.loads(done.stdout.splitlines()[-1])
    rate = f"{told['records'] / told['seconds']:,.0f}"
    return [question, master, f"{told['records']:,}", f"{told['seconds']:.1f}", rate, f"{told['bytes'] / 1e6:,.0f}"]


def _measured(master: str, question: str, logs: Path) -> dict[str, float]:
    """The time from the first look at the files to the last table; the session is there before."""
    from tamis.analysis import answers, report, session
    from tamis.analysis import logs as reading
    from tamis.analysis.study import Study

    spark = session.start(master)
    with tempfile.TemporaryDirectory(prefix="tamis-bench-") as out:
        began = time.perf_counter()
        answers.write(Study(spark, reading.read(spark, logs, Path(out) / "store")), Path(out), (question,))
        seconds = time.perf_counter() - began
        tables = report.read(Path(out))
    if question == "delivery":
        assert not tables["delivery/faults"], tables["delivery/faults"][:3]  # noqa: S101 - a benchmark of wrong answers is none
    records = next(row["lines"] for row in tables["logs/lines"] if row["family"] == "messages")
    return {"records": records, "seconds": seconds, "bytes": _peak_bytes(spark)}


def _peak_bytes(spark: SparkSession) -> int:
    """The resident memory of the Java process at its highest."""
    gateway = spark.sparkContext._gateway
    assert gateway is not None, "the session has ended"  # noqa: S101 - it is ours
    status = Path(f"/proc/{gateway.proc.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))


if __name__ == "__main__":
    main()
