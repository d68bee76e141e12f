"""Runs of `tamis analyze --into` while logs grow, beside whole runs over the same files: processor time, and how many
records of messages each read.

    python -m tamis.bench.logs.increments --logs logs --steps 10

Law: logs are cut by the times in their records, as routers write them. Each run is a process of its own, whose
processor time `whole.py` measures. An incremental run has read again the records behind the chapters that it found, and
those of chapters that it made.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import click

from tamis.analysis.records.files import log_files
from tamis.analysis.records.increments import MESSAGES, Division, Manifest
from tamis.analysis.records.reading import lines_in
from tamis.bench.commands import say
from tamis.bench.logs import whole
from tamis.bench.scratch import scratch_folder
from tamis.bench.tables import markdown

TIME: Final = re.compile(rb'"t_us": ?(\d+)')
STORE: Final = "store"


@dataclass(frozen=True, slots=True)
class StepRun:
    step: int
    kind: str
    """`increment` or `whole`."""
    records: int
    """Records of messages in the files."""
    parsed: int
    """Records of messages that were parsed."""
    asked: int
    """Records of messages that Spark read again, or for the first time."""
    java_s: float
    python_s: float
    seconds: float


def cut(logs: Path, into: Path, steps: int) -> list[int]:
    """Write the lines of logs to `into`, by step and file; return the records of messages of each step."""
    files = [(family, path) for family in ("messages", "events") for path in log_files(logs, family)]
    times = [int(at) for _, path in files for block in lines_in(str(path)) for at in TIME.findall(block)]
    begin_us, length_us = min(times), max(times) - min(times) + 1
    counts = [0] * steps
    for family, path in files:
        name = path.relative_to(logs).with_name(path.name.partition(".")[0] + ".jsonl")
        for block in lines_in(str(path)):
            shares: list[list[bytes]] = [[] for _ in range(steps)]
            for line in block.splitlines(keepends=True):
                found = TIME.search(line)
                step = steps - 1 if found is None else (int(found[1]) - begin_us) * steps // length_us
                shares[step].append(line)
            for step, lines in enumerate(shares):
                counts[step] += len(lines) if family == "messages" else 0
                _append(into / f"{step}" / name, lines)
    return counts


def _append(path: Path, lines: Sequence[bytes]) -> None:
    if lines:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            file.write(b"".join(lines))


def grow(logs: Path, more: Path) -> None:
    for path in more.rglob("*.jsonl"):
        _append(logs / path.relative_to(more), [path.read_bytes()])


def asked_of(before: Path, store: Path) -> int:
    """Return how many records of messages a run read from the store, by its manifest before and after: those behind the
    chapters, and those of chapters that are new."""
    import pyarrow.parquet as pq

    manifest = Manifest.read((store / "manifest.json").read_text())
    new = manifest.divisions[MESSAGES]
    old = Manifest.read(before.read_text()).divisions[MESSAGES] if before.exists() else Division()
    known = {chapter.number for chapter in old.chapters}
    made = (store / manifest.generations[-1] / MESSAGES).glob("*.parquet")
    files = {*old.behind, *new.behind, *(str(path.relative_to(store)) for path in made)}
    for chapter in new.chapters:
        files |= {*chapter.files} if chapter.number not in known else set()
    return sum(pq.read_metadata(store / name).num_rows for name in files)


def measured(scratch: Path, counts: Sequence[int], every: int) -> Iterator[StepRun]:
    """Yield the runs of all steps; of each `every`th, and of the last, also the whole run."""
    logs, store = scratch / "logs", scratch / STORE
    for step, count in enumerate(counts, 1):
        grow(logs, scratch / "cut" / str(step - 1))
        total, before = sum(counts[:step]), scratch / "before.json"
        before.unlink(missing_ok=True)
        if store.exists():
            shutil.copy(store / "manifest.json", before)
        say(f"step {step}: {total} records")
        run = whole.run("increment", None, logs, scratch / "answers", "--into", str(store))
        again = asked_of(before, store)
        yield StepRun(step, "increment", total, count, again, run.java_s, run.python_s, run.seconds)
        if step % every == 0 or step == len(counts):
            run = whole.run("whole", None, logs, scratch / f"whole-{step}")
            yield StepRun(step, "whole", total, total, total, run.java_s, run.python_s, run.seconds)


@click.command()
@click.option("--logs", type=click.Path(exists=True, path_type=Path), help="Records (default: of a simulated network).")
@click.option("--ops", default=2_000, show_default=True, help="Steps of the simulated network.")
@click.option("--steps", type=click.IntRange(min=2), default=10, show_default=True)
@click.option(
    "--every", type=click.IntRange(min=1), default=1, show_default=True, help="Steps from one whole run to the next."
)
@click.option("--into", type=click.Path(path_type=Path), help="Append the runs to this file, as JSON lines.")
def main(logs: Path | None, ops: int, steps: int, every: int, into: Path | None) -> None:
    """Processor time and records of incremental runs, beside whole runs."""
    with scratch_folder() as scratch:
        if logs is None:
            from tamis.simulate.run import Scenario
            from tamis.simulate.run import run as simulate

            logs = scratch / "simulated"
            simulate(Scenario("ring:5", ops, "cut,crash,reset,flood", 3), records=logs)
        found = []
        for each in measured(scratch, cut(logs, scratch / "cut", steps), every):
            found.append(each)
            if into is not None:
                with into.open("a") as results:
                    results.write(json.dumps(asdict(each)) + "\n")
    head = ["step", "run", "records", "parsed", "read by Spark", "Java CPU s", "Python CPU s", "s"]
    click.echo(markdown(head, [_row(each) for each in found]))


def _row(each: StepRun) -> list[str]:
    counts = (f"{count:,}" for count in (each.records, each.parsed, each.asked))
    return [str(each.step), each.kind, *counts, f"{each.java_s:.1f}", f"{each.python_s:.1f}", f"{each.seconds:.0f}"]


if __name__ == "__main__":
    main()
