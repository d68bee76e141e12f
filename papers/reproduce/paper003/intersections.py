"""Figure 4 of paper 003: intersecting sets of profiles, as pointers and as bits."""

from __future__ import annotations

from dataclasses import asdict
from typing import Final

from tamis.papers.measures import pointers
from tamis.papers.reproduce.figure import (
    Criterion,
    FigureRun,
    Judgement,
    PaperFigure,
    PlotSpec,
    ResultRow,
    ResultRows,
    Scale,
)
from tamis.papers.reproduce.judging import chosen, listed, points, ruled, slope


def _measure(run: FigureRun) -> list[ResultRow]:
    rows: list[ResultRow] = []
    for size in pointers.SIZES:
        for total in run.numbers("totals"):

            def one(total: int = total, size: int = size) -> list[ResultRow]:
                return [asdict(row) for row in pointers.measure(total, size)]

            found = run.cell(f"sets of {size} out of {total}", one)
            rows += [{**row, "line": f"{row['form']}, sets of {row['size']:,}"} for row in found]
    return rows


def _line(rows: ResultRows, form: str, size: int, what: str = "steps") -> list[tuple[float, float]]:
    return points(chosen(rows, form=form, size=size), "filters", what)


def _bits_by_total(rows: ResultRows) -> Judgement:
    slopes = [slope(_line(rows, "bits", size)[-2:]) for size in pointers.SIZES]
    last = [_line(rows, "bits", size)[-1][1] for size in pointers.SIZES]
    spread = max(last) / min(last) - 1
    ours = (
        f"log-log slopes {listed(slopes)} of the steps; sets of three sizes differ by {spread:.0%} at the largest total"
    )
    return ruled(min(slopes) >= 0.7, ours, "what is left at the end is counted, too: a filter each, in either form")


def _pointers_by_set(rows: ResultRows) -> Judgement:
    lines = {size: [steps for _, steps in _line(rows, "pointers", size)] for size in pointers.SIZES}
    flat = [max(line) / min(line) for line in lines.values()]
    ends = [line[-1] for line in lines.values()]
    ours = f"over all totals by a factor of {listed(flat)}; {listed(ends, 0)} steps for sets of 1,000, 3,000 and 5,000"
    return ruled(
        max(flat) <= 1.6 and ends[0] < ends[1] < ends[2], ours, "what both sets share counts, and is more at first"
    )


def _crossing(rows: ResultRows, size: int, what: str) -> float | None:
    bits, own = _line(rows, "bits", size, what), _line(rows, "pointers", size, what)
    above = [total for (total, bit), (_, pointer) in zip(bits, own, strict=True) if bit > pointer]
    return above[0] if above and above[0] > bits[0][0] else None


def _they_cross(rows: ResultRows) -> Judgement:
    crossings = [_crossing(rows, size, "steps") for size in pointers.SIZES]
    told = "; ".join(
        f"{size:,}: {'no crossing' if at is None else f'by {at:,.0f} filters'}"
        for size, at in zip(pointers.SIZES, crossings, strict=True)
    )
    known = [at for at in crossings if at is not None]
    return ruled(
        len(known) >= 2 and known == sorted(known),
        f"pointers take fewer steps, for sets of {told}",
        "the sizes that were tried lie on one side",
    )


def _memory(rows: ResultRows) -> Judgement:
    share = {}
    for size in pointers.SIZES:
        bits, own = _line(rows, "bits", size, "memory_bytes"), _line(rows, "pointers", size, "memory_bytes")
        smaller = [total / size for (total, bit), (_, pointer) in zip(bits, own, strict=True) if pointer < bit]
        share[size] = min(smaller, default=0.0)
    told = ", ".join(f"1/{each:.0f} for sets of {size:,}" if each else "never" for size, each in share.items())
    found = [each for each in share.values() if each]
    ours = f"pointers take less memory from a share of {told} down, of the totals tried"
    return ruled(bool(found) and min(found) >= 20, ours, "other parts of the table weigh more than its sets")


FIGURE_4: Final = PaperFigure(
    paper="003",
    id="4",
    title="intersecting sets as pointers and as bits",
    shows="the time to intersect sets of 1,000, 3,000 and 5,000 profiles over the total of profiles: bits depend "
    "on the "
    "total alone, pointers on the sets; bits are faster up to some total, pointers beyond. Memory is the same at "
    "3.125 %.",
    chosen="two attributes with sets of one size; steps are places of four bytes that are read.",
    settings={
        Scale.SMALL: {"totals": (10_000, 20_000, 50_000, 100_000)},
        Scale.PAPER: {"totals": (10_000, 20_000, 50_000, 100_000, 200_000)},
    },
    measure=_measure,
    criteria=(
        Criterion("003-4-bits", "Intersecting bits depends on the total of profiles", "on the total", _bits_by_total),
        Criterion("003-4-pointers", "Intersecting pointers depends on the sets", "on the sets", _pointers_by_set),
        Criterion("003-4-cross", "Bits are faster up to a total, pointers beyond it", "one crossing each", _they_cross),
        Criterion("003-4-memory", "Both take the same memory at 3.125 % of the profiles", "3.125 %, 1/32", _memory),
    ),
    plots=(
        PlotSpec(
            *("Steps of a match", "filters", "steps", "line", "number of profiles in all", "steps per match"),
            log_x=True,
            log_y=True,
        ),
        PlotSpec(
            *("Time of a match", "filters", "us", "line", "number of profiles in all", "time per match (microseconds)"),
            log_x=True,
            log_y=True,
        ),
    ),
    seconds={Scale.SMALL: 20, Scale.PAPER: 40},
)
