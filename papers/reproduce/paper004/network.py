"""Section 5.4 of paper 004: is a network of routers faster than one that has all filters?

Law: tables and times are those of `papers/measures/network_effect.py`; engines must answer alike at every router.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any, Final

from tamis.bench.matching import workloads
from tamis.bench.matching.contenders import contenders
from tamis.bench.matching.passes import checksum_text
from tamis.papers.measures.network_effect import ways
from tamis.papers.reproduce.figure import (
    Criterion,
    Disagreement,
    FigureRun,
    Judgement,
    PaperFigure,
    PlotSpec,
    Reading,
    ResultRow,
    ResultRows,
    Scale,
)
from tamis.papers.reproduce.judging import chosen, exceeds, number, read, ruled_by_time, undecided

TREE: Final = "sff circuit=each counters=tree r=0"
FLAT: Final = "sff r=0"
_SPELLED: Final = {TREE: "sff:circuit=each:counters=tree", FLAT: "sff", "tamis": "tamis"}
_CENTRE: Final = 1_000_000
"""Filters of the paper's central router."""
_FASTER: Final = 2.0
"""How many times faster a network is that clearly beats one router; the paper's are nine times."""
_NAMES: Final = 1_000


def _measure(run: FigureRun) -> list[ResultRow]:
    rows: list[ResultRow] = []
    for filters in run.numbers("filters"):
        found = [row for spelled in _SPELLED.values() for row in _ways(run, filters, spelled)]
        for fan in dict.fromkeys(row["fan"] for row in found):
            _hold_to_equal_answers([row for row in found if row["fan"] == fan])
        rows += [{name: value for name, value in row.items() if name != "checksums"} for row in found]
    return [{**row, "routers": f"{_routers(row)}, {row['F']:,} filters"} for row in rows]


def _routers(row: ResultRow) -> str:
    return "one" if row["fan"] == 0 else f"{row['fan']} interfaces each"


def _ways(run: FigureRun, filters: int, spelled: str) -> list[dict[str, Any]]:
    """One router and the ways through networks, by one engine."""

    def one() -> list[dict[str, Any]]:
        made = workloads.make("sigcomm03-even", filters, run.whole("messages"), _NAMES, run.seed)
        rows = ways(contenders((spelled,), (0,)), made, run.numbers("fans"), run.say)
        kept = ("engine", "fan", "hops", "way_us", "spread", "assumed_us", "central_ratio", "assumed_ratio")
        found: list[dict[str, Any]] = []
        for row in rows:
            told = asdict(row)
            hops = " ".join(f"{us:.2f}" for us in row.hop_us)
            sums = [checksum_text(each) for each in row.checksums]
            found.append({"F": filters, **{name: told[name] for name in kept}, "us by level": hops, "checksums": sums})
        return found

    rows: list[dict[str, Any]] = run.cell(f"way F={filters} {spelled}", one)
    return rows


def _hold_to_equal_answers(rows: Sequence[Mapping[str, Any]]) -> None:
    """Disagreement unless all engines answered alike at every router of a way."""
    if any(row["checksums"] != rows[0]["checksums"] for row in rows):
        raise Disagreement(f"engines answer differently: {', '.join(str(row['engine']) for row in rows)}")


def _faster(what: str, why: str, rows: ResultRows) -> Judgement:
    """Read by the counters of the engine; the paper's pseudocode keeps them in a map."""
    sizes = sorted({int(number(row, "F")) for row in rows})
    readings = [
        Reading(f"counters in a search tree, {sizes[-1]:,} filters", _one(rows, TREE, sizes[-1], what, why), True),
        *(
            Reading(f"counters in an array, {size:,} filters", _one(rows, FLAT, size, what, why))
            for size in sizes[::-1]
        ),
    ]
    return read(*readings)


def _one(rows: ResultRows, engine: str, filters: int, what: str, why: str) -> Judgement:
    centre, way = (chosen(rows, engine=engine, F=filters, fan=fan)[0] for fan in (0, 20))
    times = number(way, what)
    ours = (
        f"one router takes {number(centre, 'way_us'):,.1f} us, {times:.2f} times as long as a way of "
        f"{number(way, 'hops'):.0f} routers with 20 interfaces each; {filters:,} filters"
    )
    if max(int(number(row, "F")) for row in rows) < _CENTRE:
        return undecided(ours, "The paper's centre has a million filters; a centre with few is fast itself")
    spread = max(number(centre, "spread"), number(way, "spread"))
    levels = f"The levels from the leaf up take {way['us by level']} us"
    return ruled_by_time(exceeds(times, _FASTER, spread), spread, ours, f"{why}. {levels}")


_AS_DEALT: Final = (
    "A lower router has nearly all filters behind one interface, so that few matches end early and several levels take "
    "as long as the centre"
)
_AS_ASSUMED: Final = "An update of a counter costs so little that a central match takes far less than the paper's"


NETWORK: Final = PaperFigure(
    paper="004",
    id="network",
    title="A network against one router (section 5.4)",
    shows="one central router takes 350 ms for a message; a network of routers with 20 interfaces spans as many "
    "filters in "
    "at most 12 hops, which at the time of figure 9 makes about 40 ms.",
    chosen="filters are dealt to destinations evenly; the longest way of a tree, with all filters at each router; "
    "counters in an array, as our engine has them, and in a search tree, as the map of a library was.",
    settings={
        Scale.SMALL: {"filters": (20_000,), "fans": (20,), "messages": 60},
        Scale.PAPER: {"filters": (200_000, _CENTRE), "fans": (20,), "messages": 60},
    },
    measure=_measure,
    criteria=(
        Criterion(
            "004-network",
            "A way through a network takes far less time than one central match",
            "350 against 40 ms",
            partial(_faster, "central_ratio", _AS_DEALT),
        ),
        Criterion(
            "004-network-assumed",
            "It does if the tables on the way are dealt out as figure 9 has them",
            "12 times the 3 ms of I = 20",
            partial(_faster, "assumed_ratio", _AS_ASSUMED),
        ),
    ),
    plots=(
        PlotSpec(
            *("The whole way through a network, or one router", "routers", "way_us", "engine"),
            *("routers", "time per message, in all routers (microseconds)"),
            log_y=True,
            kind="bars",
        ),
    ),
    seconds={Scale.SMALL: 15, Scale.PAPER: 400},
)
