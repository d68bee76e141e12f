"""A whole `tamis analyze` in a process of its own, in turns with another build: what the start and the plans cost.

    python -m tamis.bench.logs.whole --logs logs --before FOLDER
    python -m tamis.bench.logs.whole --logs logs --conf 'spark.sql.adaptive.enabled=true'

Law: processor time counts, since other work of the machine lengthens every wall time: it is summed over the command,
Java and Spark's workers, looked at ten times a second. FOLDER has the package `tamis` of the other build.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, Self

import click

from tamis.bench.scratch import scratch_folder
from tamis.bench.tables import markdown

TICKS: Final = os.sysconf("SC_CLK_TCK")
EVERY_S: Final = 0.1
DELIVERY: Final = "delivery: "
"""The words with which the command shows whether deliveries are missing; earlier builds show nothing."""


@dataclass(frozen=True, slots=True)
class WholeRun:
    build: str
    seconds: float
    first_s: float | None
    """Until traffic, latency and deliveries were shown."""
    java_s: float
    python_s: float


class ProcessorTime:
    """The processor time of a process and all below it, by name of the program, while it is open."""

    def __init__(self, root: int) -> None:
        self._root = root
        self._seen: dict[int, tuple[str, float]] = {}
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._look)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()

    def seconds(self, is_java: bool) -> float:
        return sum(spent for name, spent in self._seen.values() if (name == "java") == is_java)

    def _look(self) -> None:
        while not self._is_over.wait(EVERY_S):
            parents = {pid: (parent, name, spent) for pid, parent, name, spent in _processes()}
            for pid, (_, name, spent) in parents.items():
                at, steps = pid, 0
                while at in parents and at != self._root and steps < len(parents):
                    at, steps = parents[at][0], steps + 1
                if at == self._root:
                    self._seen[pid] = name, spent


def _processes() -> Iterator[tuple[int, int, str, float]]:
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            head, _, tail = path.read_text().rpartition(")")
        except OSError:
            continue
        fields = tail.split()
        yield int(path.parent.name), int(fields[1]), head.partition("(")[2], (int(fields[11]) + int(fields[12])) / TICKS


def run(build: str, package: Path | None, logs: Path, out: Path, *more: str) -> WholeRun:
    """Analyze `logs` with the build whose package is in `package`, or with this one. `more`: options of the command."""
    command = [sys.executable, "-P", "-m", "tamis.cli.main", "analyze", str(logs.resolve()), "--out", str(out), *more]
    environment = os.environ | ({} if package is None else {"PYTHONPATH": str(package.resolve())})
    began_s, first_s = time.monotonic(), None
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as it:  # noqa: S603
        assert it.stderr is not None, "it is a pipe"  # noqa: S101
        with ProcessorTime(it.pid) as spent:
            for line in it.stderr:
                if DELIVERY in line and first_s is None:
                    first_s = time.monotonic() - began_s
    if it.returncode:
        raise click.ClickException(f"{' '.join(command)} ended with {it.returncode}")
    took_s = time.monotonic() - began_s
    return WholeRun(build, took_s, first_s, spent.seconds(is_java=True), spent.seconds(is_java=False))


@click.command()
@click.option("--logs", type=click.Path(exists=True, path_type=Path), help="Records (default: of a simulated network).")
@click.option("--ops", default=200, show_default=True, help="Steps of the simulated network.")
@click.option(
    "--before", type=click.Path(exists=True, path_type=Path), help="Folder with the package of another build."
)
@click.option("--conf", "variants", multiple=True, help="In turns, too: with these settings, apart by spaces.")
@click.option("--runs", type=click.IntRange(min=1), default=3, show_default=True)
@click.option("--into", type=click.Path(path_type=Path), help="Append the runs to this file, as JSON lines.")
def main(
    logs: Path | None, ops: int, before: Path | None, variants: tuple[str, ...], runs: int, into: Path | None
) -> None:
    """Seconds and processor time of whole analyses."""
    found = []
    with scratch_folder() as scratch:
        if logs is None:
            from tamis.simulate.run import Scenario
            from tamis.simulate.run import run as simulate

            logs = scratch / "logs"
            simulate(Scenario("ring:5", ops, "cut,crash,reset,flood", 3), records=logs)
        builds: list[tuple[str, Path | None, str]] = [] if before is None else [("before", before, "")]
        builds += [("now", None, ""), *((variant, None, variant) for variant in variants)]
        for number in range(runs):
            for place, (build, package, settings) in enumerate(builds):
                more = [word for setting in settings.split() for word in ("--conf", setting)]
                found.append(run(build, package, logs, scratch / f"{place}-{number}", *more))
                if into is not None:
                    with into.open("a") as results:
                        results.write(json.dumps(asdict(found[-1]) | {"logs": logs.name}) + "\n")
    head = ["build", "s", "s to the first answers", "Java CPU s", "Python CPU s"]
    click.echo(markdown(head, [_row(each) for each in found]))


def _row(each: WholeRun) -> list[str]:
    first = "" if each.first_s is None else f"{each.first_s:.1f}"
    return [each.build, f"{each.seconds:.1f}", first, f"{each.java_s:.1f}", f"{each.python_s:.1f}"]


if __name__ == "__main__":
    main()
