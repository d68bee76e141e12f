"""The gallery: every workload at growing sizes, engines side by side, a line in a file for each cell.

    python -m tamis.bench.matching.gallery --workload geo,alerts --sizes 1000,10000 --engine tamis,sff --json FILE

A cell is a workload, a size, a number of interfaces and a contender. Cells of one workload, size and number of
interfaces are measured together, in turns (passes.py); those that the file has already, of the same build on the same
processor, are not measured again, and the answers of new ones are held equal to theirs.

Law: engines that disagree, before, during or after updates, end the run with exit 1 and no figure of that group. A
contender that would take longer than --cell-s has a cell that says so. Ratios are taken within this file alone.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import click

from tamis.bench.matching import instructions, libraries, workloads
from tamis.bench.matching.contenders import PASSES, Contender, EnginesDisagree, Progress, Setup, contenders
from tamis.bench.matching.gallery_page import pages
from tamis.bench.matching.journal import build_digests, processor
from tamis.bench.matching.match import Result, run
from tamis.bench.matching.passes import REPEATS, check_equal
from tamis.bench.matching.report import flat
from tamis.protocol.errors import TamisError

SIZES: Final = "1000,10000,100000,1000000"
SEED: Final = 2003
LIBRARIES_FILTERS_MAX: Final = 20_000
_LARGE: Final = 100_000  # above, fewer messages are measured
_MATCHES: Final = 3  # of each message in a pass

Cell = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Bounds:
    """`cell_s` is for one contender; instructions are counted up to `callgrind_max` filters, 0 is never."""

    cell_s: float
    callgrind_max: int
    passes: int


class Cells:
    """The file: a JSON object a line. Lines of another build or processor stay in it, and are not looked at."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._build = build_digests()["extension"]
        self._processor = processor()
        self.run = f"{time.time_ns()}"
        """Of this process: cells of one run and group were measured in turns."""
        self.rows: list[Cell] = []
        if path is not None and path.exists():
            self.rows = [row for row in _lines(path) if self._is_ours(row)]

    def __contains__(self, key: str) -> bool:
        return any(row["key"] == key for row in self.rows)

    def group(self, setup: Setup) -> list[Cell]:
        return [row for row in self.rows if row["group"] == group_of(setup)]

    def put(self, setup: Setup, contender: Contender, figures: dict[str, Any]) -> None:
        head = {"key": key_of(setup, contender), "group": group_of(setup), "run": self.run}
        asked = {"workload": setup.workload, "filters": setup.filter_count, "interfaces": setup.interface_count}
        asked |= {"messages": setup.message_count, "seed": setup.seed, "contender": contender.label}
        row = head | asked | figures | {"extension": self._build, "processor": self._processor}
        self.rows.append(row)
        if self._path is not None:
            with self._path.open("a") as file:
                file.write(json.dumps(row) + "\n")

    def _is_ours(self, row: Cell) -> bool:
        return bool(row.get("extension") == self._build and row.get("processor") == self._processor)


def group_of(setup: Setup) -> str:
    interfaces = "F" if setup.interface_count is None else setup.interface_count
    return f"{setup.workload} {setup.filter_count} x {interfaces} seed {setup.seed}"


def key_of(setup: Setup, contender: Contender) -> str:
    return f"{group_of(setup)}: {contender.label}"


def setups(
    chosen: Iterable[str], sizes: Iterable[int], asked: str | None, bounds: Bounds, seed: int
) -> Iterator[Setup]:
    """In the order of workloads, each from its smallest size up. `asked` numbers of interfaces, or the workload's."""
    for name in chosen:
        kind = workloads.kind_of(name)
        counts = kind.interfaces if asked is None else tuple(_interface_count(each) for each in asked.split(","))
        for size in sorted(sizes):
            messages = kind.messages_measured[size > _LARGE]
            for count in counts:
                yield Setup(name, size, count, messages, workloads.NAMES, seed, (), passes=bounds.passes)


def measure(setup: Setup, wanted: tuple[Contender, ...], cells: Cells, bounds: Bounds, say: Progress) -> None:
    """Measure what the file does not have of this group; EnginesDisagree if they do."""
    missing = [each for each in wanted if key_of(setup, each) not in cells]
    able = []
    for each in missing:
        if why := _why_not(setup, each, cells, bounds):
            cells.put(setup, each, {"skipped": why})
        else:
            able.append(each)
    if not able:
        return
    say(f"{group_of(setup)}: making filters and messages")
    made = setup.make()
    full = replace(setup, contenders=tuple(able))
    results = run(full, made, lambda words: say(f"{group_of(setup)}: {words}"), bounds.cell_s)
    _check_against_file(setup, results, cells)
    for each, result in zip(able, results, strict=True):
        if bounds.callgrind_max >= setup.filter_count and instructions.available() and math.isfinite(result.mean_us):
            result = replace(result, instructions=instructions.per_message(full, each, made, say))  # noqa: PLW2901
        cells.put(setup, each, _figures(result))


def _why_not(setup: Setup, contender: Contender, cells: Cells, bounds: Bounds) -> str | None:
    """Why this contender is not even built: a smaller size, scaled, says that it would take longer than a cell may."""
    if contender.library is not None and setup.filter_count > LIBRARIES_FILTERS_MAX:
        return f"libraries are measured up to {LIBRARIES_FILTERS_MAX:,} filters"
    smaller = [
        row
        for row in cells.rows
        if row["contender"] == contender.label
        and (row["workload"], row["interfaces"]) == (setup.workload, setup.interface_count)
        and row["filters"] < setup.filter_count
    ]
    if not smaller:
        return None
    last = max(smaller, key=lambda row: int(row["filters"]))
    if "skipped" in last:
        return (
            f"{last['skipped']} (at {last['filters']:,} filters)" if "(at " not in last["skipped"] else last["skipped"]
        )
    times = setup.filter_count / last["filters"]
    least_s = times * (last["build_s"] + last["mean_us"] * REPEATS * _MATCHES * setup.message_count / 1e6)
    if least_s <= bounds.cell_s:
        return None
    return f"would take about {least_s:,.0f} s: {last['mean_us']:,.0f} us (at {last['filters']:,} filters)"


def _check_against_file(setup: Setup, results: list[Result], cells: Cells) -> None:
    """Libraries answer the filters that they express, and are compared with `tamis` on those by contest.py."""
    answers = {row["contender"]: {int(row["checksum"], 16)} for row in cells.group(setup) if "checksum" in row}
    answers |= {each.engine: {int(each.checksum, 16)} for each in results if _has_answer(each)}
    check_equal({label: sums for label, sums in answers.items() if not label.startswith(libraries.PREFIX)})


def _has_answer(result: Result) -> bool:
    return math.isfinite(result.mean_us) and not result.engine.startswith(libraries.PREFIX)


def _figures(result: Result) -> dict[str, Any]:
    if not math.isfinite(result.mean_us):
        return {"skipped": result.note or "no figures"}
    return flat(result)


def _lines(path: Path) -> list[Cell]:
    """A line without its end was cut short, and is cut off."""
    text = path.read_text()
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        path.write_text(whole)
    return [json.loads(line) for line in whole.splitlines()]


def _interface_count(text: str) -> int | None:
    if text != "F" and not (text.isdecimal() and int(text) > 0):
        raise ValueError(f"--interfaces: {text!r} is neither F nor a number from 1 up")
    return None if text == "F" else int(text)


def _sizes(text: str) -> list[int]:
    try:
        sizes = [int(each) for each in text.split(",")]
    except ValueError:
        sizes = [0]
    if min(sizes) < 1:
        raise ValueError(f"--sizes: {text!r} is no list of numbers from 1 up, such as 1000,10000")
    return sizes


@click.command()
@click.option("--workload", "chosen", default="all", show_default=True, help="Names, or all; --list says which.")
@click.option("--sizes", default=SIZES, show_default=True, help="Filters.")
@click.option("--engine", "engines", default="tamis,sff,counting", show_default=True, help="As of tamis bench match.")
@click.option("--rounds", default="0", show_default=True, help="Selectivity rounds of engines that have them.")
@click.option("--libraries", "with_libraries", is_flag=True, help="Also every library that is installed.")
@click.option("--interfaces", help="Numbers, F is one for each filter; if not given, those of the workload.")
@click.option("--seed", type=int, default=SEED, show_default=True)
@click.option("--passes", type=click.IntRange(min=1), default=PASSES, show_default=True, help="Of each of 3 repeats.")
@click.option("--cell-s", type=click.FloatRange(min=0.1), default=60.0, show_default=True, help="Of one contender.")
@click.option("--callgrind", is_flag=True, help="Count instructions too, up to --callgrind-max filters.")
@click.option("--callgrind-max", type=click.IntRange(min=1), default=100_000, show_default=True)
@click.option("--updates", is_flag=True, help="Print what updates take, too.")
@click.option("--json", "file", type=click.Path(dir_okay=False, path_type=Path), help="Keep a line for each cell.")
@click.option("--list", "only_list", is_flag=True, help="Print the workloads, and who writes such filters.")
def main(
    chosen: str,
    sizes: str,
    engines: str,
    rounds: str,
    with_libraries: bool,
    interfaces: str | None,
    seed: int,
    passes: int,
    cell_s: float,
    callgrind: bool,
    callgrind_max: int,
    updates: bool,
    file: Path | None,
    only_list: bool,
) -> None:
    """Measure engines on natural workloads and the papers', side by side, and print times, steps, slopes and ratios."""
    if only_list:
        for name, kind in workloads.WORKLOADS.items():
            click.echo(f"{name}: {kind.about} A message hits {kind.hits}.")
        return
    bounds = Bounds(cell_s, callgrind_max if callgrind else 0, passes)
    names = list(workloads.WORKLOADS) if chosen == "all" else chosen.split(",")
    try:
        wanted = contenders(
            [*engines.split(","), *_installed(with_libraries)], [int(each) for each in rounds.split(",")]
        )
        asked = list(setups(names, _sizes(sizes), interfaces, bounds, seed))
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    cells = Cells(file)
    start = time.monotonic()
    try:
        for number, setup in enumerate(asked, 1):
            measure(setup, wanted, cells, bounds, _progress(number, len(asked), start))
    except (EnginesDisagree, TamisError) as error:
        raise click.ClickException(str(error)) from None
    keys = {group_of(setup) for setup in asked}
    labels = [each.label for each in wanted]
    shown = [row for row in cells.rows if row["group"] in keys and row["contender"] in labels]
    click.echo(pages(shown, labels, with_updates=updates))


def _installed(with_libraries: bool) -> list[str]:
    return [libraries.PREFIX + name for name in libraries.NAMES if with_libraries and libraries.is_installed(name)]


def _progress(number: int, count: int, start: float) -> Progress:
    def say(words: str) -> None:
        minutes, seconds = divmod(round(time.monotonic() - start), 60)
        click.echo(f"[{minutes}:{seconds:02d}, {number} of {count}] {words}", err=True)

    return say


if __name__ == "__main__":
    main()
