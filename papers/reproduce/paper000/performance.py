"""Figures 9 and 12 of paper 000, and its short circuit: matching time over filters, interfaces and names.

Law: all engines of a cell see the same filters, in turns; what is said of shapes is said of counted updates where there
are any, and of times where an effect is larger than twice the spread.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Final

from tamis.bench.matching import workloads
from tamis.bench.matching.contenders import contenders
from tamis.papers.reproduce.figure import (
    Criterion,
    FigureRun,
    Judgement,
    PaperFigure,
    PlotSpec,
    ResultRow,
    ResultRows,
    Scale,
    Settings,
)
from tamis.papers.reproduce.judging import chosen, listed, number, points, ruled, slope, undecided
from tamis.papers.reproduce.timed import timed

ENGINES: Final = ("counting", "tamis")
CENTRAL: Final = "F"
_WIDTHS: Final = (2, 50, 100, 200, 500)
_NAMES: Final = (1000, 100)
_FLAT_WIDTHS: Final = (2, 50, 100, 200)
_REACHED: Final = 20_000
"""Filters of each interface at which curves were found to go flat: counted updates grow no more."""
_FEW: Final = 50
"""Messages to a table that takes longer to build than to ask."""


def _label(interfaces: int, filters: int) -> str:
    return CENTRAL if interfaces == filters else str(interfaces)


def _cells(
    run: FigureRun, names: int, widths: Sequence[int | None], engines: Sequence[str], what: str
) -> list[ResultRow]:
    rows: list[ResultRow] = []
    for filters in run.numbers("filters"):

        def one(filters: int = filters) -> list[ResultRow]:
            made = workloads.make("cu922", filters, run.whole("messages"), names, run.seed)
            found: list[ResultRow] = []
            for width in widths:
                found += timed(run, "cu922", made, width or filters, engines)
            return found

        timed_rows = run.cell(f"{what} A={names} F={filters}", one)
        rows += [{"A": names, "width": _label(row["I"], filters), **row} for row in timed_rows]
    return rows


def _measure_9(run: FigureRun) -> list[ResultRow]:
    rows = [row for names in _NAMES for row in _cells(run, names, (*_WIDTHS, None), ENGINES, "times")]
    for filters in run.numbers("flat"):
        rows += run.cell(f"fixed interfaces, F={filters}", partial(_fixed, run, filters))
    return rows


def _fixed(run: FigureRun, filters: int) -> list[ResultRow]:
    """The tables in which curves of fixed interfaces go flat, by the engine of the paper alone."""
    made = workloads.make("cu922", filters, _FEW, 100, run.seed)
    return [
        {"A": 100, "width": str(width), **row}
        for width in _FLAT_WIDTHS
        for row in timed(run, "cu922", made, width, ("counting",))
    ]


def _measure_12(run: FigureRun) -> list[ResultRow]:
    rows = [row for row in _measure_9(run) if row["width"] != CENTRAL]
    for filters in run.numbers("largest"):
        rows += run.cell(f"largest F={filters}", partial(_largest, run, filters))
    return rows


def _largest(run: FigureRun, filters: int) -> list[ResultRow]:
    """One table as large as the paper's largest, with as many interfaces as it then has."""
    made = workloads.make("cu922", filters, run.whole("messages"), 100, run.seed)
    rows = timed(run, "cu922", made, _WIDTHS[-1], ("counting",))
    return [{"A": 100, "width": str(_WIDTHS[-1]), **row} for row in rows]


def _line(rows: ResultRows, width: str, names: int = 100, what: str = "us") -> list[tuple[float, float]]:
    return points(chosen(rows, width=width, A=names, engine="counting"), "F", what)


def _last(rows: ResultRows, width: str, names: int = 100, what: str = "us") -> float:
    return _line(rows, width, names, what)[-1][1]


def _size(rows: ResultRows) -> str:
    return f"{max(int(number(row, 'F')) for row in rows):,} filters"


def _central_is_worst(rows: ResultRows) -> Judgement:
    rows = _with_all_widths(rows)
    times = {width: _last(rows, width) for width in (*map(str, _WIDTHS), CENTRAL)}
    told = ", ".join(f"I = {width}: {us:.1f} us" for width, us in times.items())
    grows = slope(_line(rows, CENTRAL)[-3:])
    return ruled(
        times[CENTRAL] == max(times.values()) and grows >= 0.7,
        f"{told} at {_size(rows)}, A = 100; log-log slope {grows:.2f} for I = F",
        "a table of this size is not in the part where interfaces end a match",
    )


def _with_all_widths(rows: ResultRows) -> list[ResultRow]:
    sizes = {row["F"] for row in chosen(rows, width=str(_WIDTHS[-1]))}
    return [row for row in rows if row["F"] in sizes]


def _is_reached(rows: ResultRows, width: int) -> bool:
    """Whether a table is so large that this many interfaces end a match."""
    return _line(rows, str(width))[-1][0] >= _REACHED * width


def _fixed_is_flat(rows: ResultRows) -> Judgement:
    slopes, counted = (
        {width: slope(_line(rows, str(width), what=what)[-2:]) for width in _FLAT_WIDTHS} for what in ("us", "updates")
    )
    reached = [width for width in _FLAT_WIDTHS if _is_reached(rows, width)]
    told = ", ".join(f"{each:.2f} for I = {width}" for width, each in slopes.items())
    by_count = ", ".join(f"{each:.2f}" for each in counted.values())
    ours = (
        f"log-log slopes {told}, and of updates of counters {by_count}, at {_size(rows)}, where {_REACHED:,} for each "
        "interface are there up to I = "
    )
    if max(reached, default=0) < 50:
        return undecided(f"{ours}{max(reached, default=0)}", "curves go flat with more filters for each interface")
    flat = max(slopes[width] for width in reached) <= 0.35
    return ruled(flat, f"{ours}{max(reached)}", _of_updates(rows, max(reached)))


def _of_updates(rows: ResultRows, width: int) -> str:
    """What an update of a counter takes in the last two tables of one width: why times grow where updates do not."""
    (_, us_before), (_, us) = _line(rows, str(width))[-2:]
    (_, before), (_, after) = _line(rows, str(width), what="updates")[-2:]
    return (
        "the work is as flat as they say, and each piece of it dearer in a larger table: at I = "
        f"{width} an update takes {us_before * 1_000 / before:.1f} and then {us * 1_000 / after:.1f} ns, as counters "
        "and filters leave the cache"
    )


def _names_matter(rows: ResultRows) -> Judgement:
    many, few = (_line(rows, CENTRAL, names) for names in _NAMES)
    ratios = [b / a for (_, a), (_, b) in zip(many, few, strict=True)]
    sizes = " ".join(f"{filters:,.0f}" for filters, _ in many)
    updates = [
        b / a for (_, a), (_, b) in zip(*(_line(rows, CENTRAL, each, "updates") for each in _NAMES), strict=True)
    ]
    ours = (
        f"{listed(ratios, 1)} times as long with 100 names as with 1000, and {listed(updates, 1)} times the updates of "
        f"counters, for I = F = {sizes}"
    )
    return ruled(
        max(ratios) >= 100,
        ours,
        "how many constraints a message satisfies goes with 1 / A, as the updates show: ten times is what the stated "
        "parameters allow",
    )


def _proportional(rows: ResultRows) -> Judgement:
    widths = _FLAT_WIDTHS[1:]
    us, updates = ([_last(rows, str(width), what=what) for width in widths] for what in ("us", "updates"))
    most = max(int(number(row, "F")) for row in rows if row["width"] == str(widths[-1]))
    ours = (
        f"{listed(us, 1)} us and {listed(updates, 0)} updates of counters at I = 50, 100, 200 with {most:,} filters: "
        f"{_doubling(us)} times as long, and {_doubling(updates)} times the updates, for twice as many"
    )
    if not all(_is_reached(rows, width) for width in widths):
        return undecided(
            ours, f"a level is reached with some {_REACHED:,} filters for each interface: scale paper has them"
        )
    met = [width * sum(1 / place for place in range(1, width + 1)) for width in widths]
    return ruled(
        all(1.4 <= b / a <= 2.6 for a, b in pairwise(us)),
        ours,
        "a match ends when the last interface is found, and filters that match are of any of them: all of I are met "
        f"after I (1 + 1/2 + ... + 1/I) on average, {_doubling(met)} times as many for twice the interfaces. Times "
        "grow further where counters leave the cache",
    )


def _doubling(line: Sequence[float]) -> str:
    """How many times each of these is the one before."""
    return listed([b / a for a, b in pairwise(line)])


def _twenty_five_ms(rows: ResultRows) -> Judgement:
    rows = chosen(rows, width="500")
    ours = f"{_last(rows, '500') / 1_000:.3f} ms at {_size(rows)}"
    if max(int(number(row, "F")) for row in rows) < _LARGEST:
        return undecided(ours, "8 million filters were not run: scale paper does")
    return ruled(_last(rows, "500") <= 25_000, ours, "slower")


_CHOSEN: Final = "SV = IV = 100. Their machine: 960 MHz, 512 MB; times of ours are scaled by nothing."
_SMALL: Final[Settings] = {
    "filters": (1_000, 4_000, 16_000, 64_000),
    "flat": (256_000, 1_024_000),
    "messages": 150,
    "passes": 3,
}
_PAPER: Final[Settings] = {
    "filters": (1_000, 4_000, 16_000, 64_000, 256_000),
    "flat": (1_024_000, 4_096_000),
    "messages": 150,
    "passes": 3,
}
_LARGEST: Final = 8_000_000
"""The paper's filters; a table of 500 interfaces takes two gigabytes."""
_SECONDS: Final = {Scale.SMALL: 60.0, Scale.PAPER: 600.0}


def _plots(widths: str) -> tuple[PlotSpec, ...]:
    return tuple(
        PlotSpec(
            *(f"{widths}, A = {names}: counting", "F", "us", "width"),
            *("number of filters", "time per message (microseconds)"),
            by_label="interfaces I",
            log_x=True,
            log_y=True,
            where={"A": names, "engine": "counting"},
        )
        for names in _NAMES
    )


FIGURE_9: Final = PaperFigure(
    paper="000",
    id="9",
    title="overall performance",
    shows="milliseconds a message over F up to 8 million, for I = 2, 50, 100, 200, 500 and F, left for A = 1000, "
    "right for "
    "A = 100. I = F is by far the worst, about 400 ms at 8 million; fixed numbers of interfaces are almost flat.",
    chosen=f"{_CHOSEN} The largest tables have fixed interfaces and A = 100 alone: a million filters, and at scale "
    "paper four; eight million in figure 12, with 500 interfaces.",
    settings={Scale.SMALL: _SMALL, Scale.PAPER: _PAPER},
    measure=_measure_9,
    criteria=(
        Criterion(
            "000-9-central",
            "One interface for each filter is the worst case, and its time goes with the filters",
            "by far the worst; 400 ms at 8 million",
            _central_is_worst,
        ),
        Criterion("000-9-flat", "With fixed interfaces the curves are almost flat", "almost flat", _fixed_is_flat),
        Criterion(
            "000-9-names",
            "100 names take over two orders of magnitude longer than 1000",
            "over two orders of magnitude",
            _names_matter,
        ),
    ),
    plots=_plots("All interfaces"),
    seconds=_SECONDS,
)
FIGURE_12: Final = PaperFigure(
    paper="000",
    id="12",
    title="fixed sets of interfaces",
    shows="the data of figure 9 without I = F, on a linear axis: within 25 ms at 8 million filters and 500 "
    "interfaces, and "
    "levels about proportional to the number of interfaces.",
    chosen=_CHOSEN,
    settings={Scale.SMALL: {**_SMALL, "largest": ()}, Scale.PAPER: {**_PAPER, "largest": (_LARGEST,)}},
    measure=_measure_12,
    criteria=(
        Criterion(
            "000-12-level",
            "Curves level off about in proportion to the interfaces",
            "roughly proportional",
            _proportional,
        ),
        Criterion(
            "000-12-time", "8 million filters over 500 interfaces are matched in 25 ms", "25 ms", _twenty_five_ms
        ),
    ),
    plots=_plots("Fixed interfaces"),
    seconds={Scale.SMALL: 1, Scale.PAPER: 200},
)


# --- the short circuit -----------------------------------------------------------------------------------------------

_CIRCUITS: Final = ("off", "at-full", "each")
_COUNTERS: Final = ("flat", "hash", "tree")
_WAYS: Final = tuple(f"counting:circuit={each}:counters={counters}" for counters in _COUNTERS for each in _CIRCUITS)


def _measure_circuit(run: FigureRun) -> list[ResultRow]:
    rows = _cells(run, 100, (50, 500, None), _WAYS, "circuit")
    for filters in run.numbers("counted"):
        rows += run.cell(f"circuit, counted, F={filters}", partial(_counted, run, filters))
    return [{**row, "circuit": _option(row, "circuit"), "counters": _option(row, "counters")} for row in rows]


def _counted(run: FigureRun, filters: int) -> list[ResultRow]:
    """Updates alone, which need no clock, so that the table can be larger."""
    made = workloads.make("cu922", filters, run.whole("messages"), 100, run.seed)
    rows: list[ResultRow] = []
    for width in (50, 500):
        dealt = workloads.deal("cu922", filters, width, run.seed)
        for contender in contenders([f"counting:circuit={each}:counters=flat" for each in ("off", "each")], (0,)):
            with contender.table() as table:
                table.add_many(made.filters, dealt)
                table.match_batch(made.messages)
                updates = table.stats().updates / len(made.messages)
            rows.append({"F": filters, "width": str(width), "engine": contender.label, "updates": updates})
    return rows


def _option(row: ResultRow, name: str) -> str:
    return str(row["engine"]).partition(f"{name}=")[2].split()[0]


def _way(rows: ResultRows, width: str, circuit: str, counters: str, what: str) -> float:
    of_way = chosen(rows, width=width, circuit=circuit, counters=counters)
    return points([row for row in of_way if row.get(what) is not None], "F", what)[-1][1]


def _skips(rows: ResultRows) -> Judgement:
    off, each = (_way(rows, "50", circuit, "flat", "updates") for circuit in ("off", "each"))
    at_500 = 1 - _way(rows, "500", "each", "flat", "updates") / _way(rows, "500", "off", "flat", "updates")
    ours = f"I = 50: {each:,.0f} of {off:,.0f} updates are left ({1 - each / off:.0%} spared); I = 500: {at_500:.0%}"
    ours = f"{ours}; {_size(rows)}"
    return ruled(1 - each / off >= 0.5, ours, "interfaces match too late in a message")


def _time_of_each(rows: ResultRows, width: str, counters: str) -> float:
    """By how much asking before each count shortens a match, against asking when a count is full."""
    full, each = (_way(rows, width, circuit, counters, "us") for circuit in ("at-full", "each"))
    return 1 - each / full


def _saves_time(counters: str, why: str, rows: ResultRows) -> Judgement:
    saved = {width: _time_of_each(rows, width, counters) for width in ("50", "500")}
    rows = [row for row in rows if row.get("us") is not None]
    largest = max(int(number(row, "F")) for row in rows)
    compared = [row for row in chosen(rows, counters=counters, width="50", F=largest) if row["circuit"] != "off"]
    spread = max(number(row, "spread") for row in compared)
    told = ", ".join(f"{share:+.0%} at I = {width}" for width, share in saved.items())
    ours = f"{told} with {counters} counters, {_size(rows)}; spread {spread:.0%}"
    if abs(saved["50"]) <= 2 * spread and spread > 0.02:
        return undecided(ours, "the effect is not larger than twice the spread")
    if counters != "tree":
        why = f"{why}: in a search tree it is {_time_of_each(rows, '50', 'tree'):+.0%} at I = 50"
    return ruled(saved["50"] > 0.05, ours, why)


CIRCUIT: Final = PaperFigure(
    paper="000",
    id="circuit",
    title="The short circuit",
    shows="in the text: asking whether an interface is matched before each count greatly reduces processing "
    "under load.",
    chosen="counters in a flat array, or, as a map is what the pseudocode has, in a hash table that is emptied by a "
    "stamp, and in a search tree with a node for each count. "
    "off: never asked; at-full: asked when a count is full, and a match ends when all interfaces are matched "
    "(ours, the "
    "standard); each: asked before each count (the paper's).",
    settings={
        Scale.SMALL: {"filters": (16_000, 64_000), "counted": (256_000,), "messages": 150, "passes": 3},
        Scale.PAPER: {
            "filters": (16_000, 64_000, 256_000),
            "counted": (1_024_000,),
            "messages": 500,
            "passes": 5,
        },
    },
    measure=_measure_circuit,
    criteria=(
        Criterion("000-circuit-updates", "The short circuit spares most counting under load", "greatly", _skips),
        Criterion(
            "000-circuit-tree",
            "It saves time with counters in a search tree",
            "greatly reduces processing time",
            lambda rows: _saves_time("tree", "what is spared costs less than asking does, even there", rows),
        ),
        Criterion(
            "000-circuit-hash",
            "It saves time with counters in a hash",
            "greatly reduces processing time; the structure is not said",
            lambda rows: _saves_time("hash", "asking costs what a count in the table costs", rows),
        ),
        Criterion(
            "000-circuit-flat",
            "It saves time with counters in an array",
            "not said",
            lambda rows: _saves_time(
                "flat",
                "a count in an array costs no more than the question whether the interface is done, so what is spared "
                "is spent on asking",
                rows,
            ),
        ),
    ),
    plots=tuple(
        PlotSpec(
            *(f"{title}, {width} interfaces", "F", key, "engine", "number of filters", label),
            log_x=True,
            log_y=True,
            where={"width": width},
        )
        for width in ("50", "500")
        for title, key, label in (
            ("Time of a match", "us", "time per message (microseconds)"),
            ("Updates of counters", "updates", "updates per message"),
        )
    ),
    seconds={Scale.SMALL: 15, Scale.PAPER: 600},
)
