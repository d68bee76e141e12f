"""Two builds of `tamis` side by side on one workload: `python -m tamis.bench.matching.builds --other FOLDER`.

    this     this checkout
    other    another build, whose importable `tamis` is in the folder of --other

Law: both get the same bytes, each in a process of its own (build_child.py), and measure in turns: a pass of one, a pass
of the other. A figure is the mean over messages of the fastest time of each. Both must give the same answers, or the
exit code is 1. Without --other this build is measured alone.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from array import array
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final

import click

from tamis.bench.matching import build_child, workloads
from tamis.bench.matching.contenders import EnginesDisagree, Setup
from tamis.bench.matching.passes import checksum_text
from tamis.bench.tables import tell

SEED: Final = 2003
_MESSAGES: Final = 1_000
_LARGE, _MESSAGES_LARGE = 100_000, 300


@dataclass(slots=True)
class Build:
    """A table of one build, in a process that waits for the next pass."""

    name: str
    process: subprocess.Popen[bytes]
    to: IO[bytes]
    told: IO[bytes]
    built: dict[str, Any] = field(default_factory=dict)
    fastest: list[int] = field(default_factory=list)
    """Nanoseconds of each message."""
    checksums: set[int] = field(default_factory=set)
    matched: float = 0.0

    def ask(self, what: bytes) -> dict[str, Any]:
        """Write to the process, and return the line that it answers with."""
        with suppress(BrokenPipeError):  # it has ended: there is no answer
            self.to.write(what)
            self.to.flush()
        line = self.told.readline()
        if not line:
            raise click.ClickException(f"the process of build {self.name} ended with exit code {self.process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def take_pass(self) -> None:
        answer = self.ask(b"\n")
        self.fastest = list(map(min, self.fastest, answer["ns"])) if self.fastest else answer["ns"]
        self.checksums.add(answer["checksum"])
        self.matched = answer["matched"] / len(answer["ns"])

    @property
    def mean_us(self) -> float:
        return sum(self.fastest) / len(self.fastest) / 1e3


def compared(workload: str, filters: int, interfaces: int | None, other: Path | None, passes: int) -> dict[str, Any]:
    """Return the row of one workload and size; EnginesDisagree if the builds do."""
    messages = _MESSAGES_LARGE if filters > _LARGE else _MESSAGES
    setup = Setup(workload, filters, interfaces, messages, workloads.NAMES, SEED, ())
    job = _job(setup)
    folders = {"this": None} | ({"other": other} if other is not None else {})
    with ExitStack() as stack:
        builds = [_started(stack, name, folder) for name, folder in folders.items()]
        for build in builds:
            build.built = build.ask(job)
        if other is not None and builds[0].built["extension"] == builds[1].built["extension"]:
            raise click.ClickException(f"--other {other} has no built tamis; this build was measured twice")
        for _ in range(passes):
            for build in builds:
                build.take_pass()
        for build in builds:
            build.to.close()
    _check_equal(builds)
    return _row(setup, builds)


def _job(setup: Setup) -> bytes:
    made = setup.make()
    interfaces = setup.deal()
    job: build_child.Job = (
        [made.filters[i] for i in range(len(made.filters))],
        array("I", interfaces),
        [made.messages[i] for i in range(len(made.messages))],
    )
    return pickle.dumps(job)


def _started(stack: ExitStack, name: str, folder: Path | None) -> Build:
    environment = os.environ | ({"PYTHONPATH": str(folder.resolve())} if folder is not None else {})
    command = [sys.executable, build_child.__file__]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)  # noqa: S603
    stack.enter_context(process)
    if process.stdin is None or process.stdout is None:
        raise click.ClickException(f"the process of build {name} has no pipes")
    return Build(name, process, process.stdin, process.stdout)


def _check_equal(builds: list[Build]) -> None:
    if len(set().union(*(build.checksums for build in builds))) > 1:
        told = ", ".join(f"{build.name} {' '.join(map(checksum_text, build.checksums))}" for build in builds)
        raise EnginesDisagree(f"the builds disagree: checksums {told}")


def _row(setup: Setup, builds: list[Build]) -> dict[str, Any]:
    this = builds[0]
    row: dict[str, Any] = {
        "workload": setup.workload,
        "filters": setup.filter_count,
        "interfaces": setup.interface_count,
        "matched": round(this.matched, 1),
        **_figures(this, ""),
    }
    for other in builds[1:]:
        row |= {**_figures(other, "other_"), "times": round(other.mean_us / this.mean_us, 2)}
    return row


def _figures(build: Build, prefix: str) -> dict[str, float]:
    return {
        f"{prefix}us": round(build.mean_us, 3),
        f"{prefix}bytes_per_constraint": round(build.built["bytes_per_constraint"], 1),
        f"{prefix}build_s": round(build.built["build_s"], 1),
    }


@click.command()
@click.option("--workload", default="sigcomm03", show_default=True, help="A workload of the gallery.")
@click.option("--filters", default="200000", show_default=True, help="Numbers of filters.")
@click.option("--interfaces", default="F", show_default=True, help="Numbers of interfaces; F is one for each filter.")
@click.option("--passes", type=click.IntRange(min=1), default=15, show_default=True, help="Passes of each build.")
@click.option("--other", type=click.Path(exists=True, file_okay=False, path_type=Path), help="Folder of another build.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
def main(workload: str, filters: str, interfaces: str, passes: int, other: Path, as_json: bool) -> None:
    """Print what a message costs this build and another one, and how many times as fast this one is."""
    for name in workload.split(","):
        for size in map(int, filters.split(",")):
            for each in interfaces.split(","):
                try:
                    row = compared(name, size, None if each == "F" else int(each), other, passes)
                except EnginesDisagree as error:
                    raise click.ClickException(str(error)) from None
                tell(row, as_json)


if __name__ == "__main__":
    main()
