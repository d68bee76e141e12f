"""The cells of one group, measured in turns: what is asked for and the file does not have.

Law: a contender that would take longer than a cell may is not measured, and its cell says why; where a smaller size
told as much, it is not even built. New answers are held equal to those in the file. Instructions are counted last.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from tamis.bench import callgrind
from tamis.bench.matching import churn, instructions, libraries, workloads
from tamis.bench.matching.contenders import Contender, Progress, Setup
from tamis.bench.matching.gallery.cells import Cells, group_of, key_of
from tamis.bench.matching.match import Result, run
from tamis.bench.matching.passes import REPEATS, check_equal
from tamis.bench.matching.report import flat, label
from tamis.bench.matching.workloads import Workload

LIBRARIES_FILTERS_MAX: Final = 20_000
_LARGE: Final = 100_000  # above, fewer messages are measured
_MATCHES: Final = 3  # of each message in a pass


@dataclass(frozen=True, slots=True)
class Bounds:
    """`cell_s` is for one contender; instructions are counted up to `callgrind_max` filters, 0 is never; with `churn`
    each is also matched during 50,000 adds and as many removals a second."""

    cell_s: float
    callgrind_max: int
    passes: int
    churn: bool = False


def setups(
    chosen: Iterable[str], sizes: Iterable[int], asked: Sequence[int | None], bounds: Bounds, seed: int
) -> Iterator[Setup]:
    """In the order of workloads, each from its smallest size up, with the numbers of interfaces that are asked for, or
    else the workload's own."""
    for name in chosen:
        kind = workloads.kind_of(name)
        for size in sorted(sizes):
            messages = kind.messages_measured[size > _LARGE]
            for count in asked or kind.interfaces:
                yield Setup(name, size, count, messages, workloads.NAMES, seed, (), passes=bounds.passes)


def measure(setup: Setup, wanted: tuple[Contender, ...], cells: Cells, bounds: Bounds, say: Progress) -> None:
    """Measure what the file does not have of this group; EnginesDisagree if they do."""
    missing = [
        each for each in wanted if not cells.has(key_of(setup, each), bounds.cell_s, _asked(setup, each, bounds))
    ]
    able = []
    for each in missing:
        if why := _why_not(setup, each, cells, bounds):
            cells.put(setup, each, {"skipped": why, "cell_s": bounds.cell_s})
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
        more = _more(result, full, each, made, bounds, say) if math.isfinite(result.mean_us) else result
        cells.put(setup, each, _figures(more, bounds))


def _asked(setup: Setup, contender: Contender, bounds: Bounds) -> set[str]:
    """The figures of a cell that are not always taken."""
    if contender.library is not None:
        return set()
    counts = bounds.callgrind_max >= setup.filter_count and callgrind.is_installed()
    return {name for name, is_asked in (("instructions", counts), ("churn", bounds.churn)) if is_asked}


def _more(result: Result, setup: Setup, contender: Contender, made: Workload, bounds: Bounds, say: Progress) -> Result:
    """With what takes a table of its own; a library is left as it is."""
    asked = _asked(setup, contender, bounds)
    if "instructions" in asked:
        result = replace(result, instructions=instructions.per_message(setup, contender, made, say))
    if "churn" in asked:
        result = replace(result, churn=churn.speed_left(setup, contender, made, say))
    return result


def _why_not(setup: Setup, contender: Contender, cells: Cells, bounds: Bounds) -> str | None:
    """Why this contender is not even built: a smaller size, scaled, says that it would take longer than a cell may."""
    if contender.library is not None and setup.filter_count > LIBRARIES_FILTERS_MAX:
        return f"libraries are measured up to {LIBRARIES_FILTERS_MAX:,} filters"
    smaller = [
        row
        for row in cells.rows()
        if row["contender"] == contender.label
        and (row["workload"], row["interfaces"]) == (setup.workload, setup.interface_count)
        and row["filters"] < setup.filter_count
        and row.get("cell_s", bounds.cell_s) >= bounds.cell_s
    ]
    if not smaller:
        return None
    last = max(smaller, key=lambda row: int(row["filters"]))
    if why := last.get("skipped"):
        return str(why) if "(at " in why else f"{why} (at {last['filters']:,} filters)"
    times = setup.filter_count / last["filters"]
    least_s = times * (last["build_s"] + last["mean_us"] * REPEATS * _MATCHES * setup.message_count / 1e6)
    if least_s <= bounds.cell_s:
        return None
    return f"would take about {least_s:,.0f} s: {last['mean_us']:,.0f} us (at {last['filters']:,} filters)"


def _check_against_file(setup: Setup, results: list[Result], cells: Cells) -> None:
    """Libraries answer the filters that they express, and are compared with `tamis` on those by contest.py."""
    answers = {row["contender"]: {int(row["checksum"], 16)} for row in cells.group(setup) if "checksum" in row}
    answers |= {label(each): {int(each.checksum, 16)} for each in results if _has_answer(each)}
    check_equal({name: sums for name, sums in answers.items() if not name.startswith(libraries.PREFIX)})


def _has_answer(result: Result) -> bool:
    return math.isfinite(result.mean_us) and not result.engine.startswith(libraries.PREFIX)


def _figures(result: Result, bounds: Bounds) -> dict[str, Any]:
    if not math.isfinite(result.mean_us):
        return {"skipped": result.note or "no figures", "cell_s": bounds.cell_s}
    if result.share == 0:
        return {"skipped": "it can express none of these filters", "cell_s": bounds.cell_s}
    return flat(result)
