"""Figures 9 and 12 of paper 000, and its short circuit: matching time over filters, interfaces and names.

Law: all engines of a cell see the same filters, in turns. The shape of a curve is judged by counted updates, and by
times as a second reading; a claim about times alone needs an effect larger than twice the spread.
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
    Reading,
    ResultRow,
    ResultRows,
    Ruling,
    Scalar,
    Scale,
    Settings,
)
from tamis.papers.reproduce.judging import (
    chosen,
    every,
    exceeds,
    listed,
    number,
    points,
    read,
    ruled,
    ruled_by_time,
    slope,
    undecided,
    under,
    widest_spread,
)
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
_LARGEST: Final = 8_000_000
"""The paper's filters; a table of 500 interfaces takes two gigabytes."""
_BY_FAR: Final = 1.5
_GROWS: Final = 0.7
"""The log-log slope from which on a time grows with the number of filters."""
_FLAT: Final = 0.35
"""The log-log slope up to which a curve is almost flat."""
_DOUBLED: Final = (1.4, 2.6)
"""Within which bounds a level for twice the interfaces is about twice as high."""
_BY_UPDATES: Final = "by counted updates"
"""The paper's figures suggest it: on their machine times are as flat as counts are."""
_BY_TIMES: Final = "by times"


def _label(interfaces: Scalar, filters: int) -> str:
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
    for filters in run.numbers("worst"):
        rows += run.cell(f"worst case, F={filters}", partial(_alone, run, filters, None))
    return rows


def _fixed(run: FigureRun, filters: int) -> list[ResultRow]:
    """The tables in which curves of fixed interfaces go flat, with I = F beside them, by the paper's engine alone."""
    made = workloads.make("cu922", filters, _FEW, 100, run.seed)
    return [
        {"A": 100, "width": _label(row["I"], filters), **row}
        for width in (*_FLAT_WIDTHS, None)
        for row in timed(run, "cu922", made, width or filters, ("counting",))
    ]


def _measure_12(run: FigureRun) -> list[ResultRow]:
    rows = [row for row in _measure_9(run) if row["width"] != CENTRAL]
    for filters in run.numbers("largest"):
        rows += run.cell(f"largest F={filters}", partial(_alone, run, filters, _WIDTHS[-1]))
    return rows


def _alone(run: FigureRun, filters: int, width: int | None) -> list[ResultRow]:
    """One table, as large as the paper's largest; `width` None: an interface for each filter."""
    made = workloads.make("cu922", filters, _FEW, 100, run.seed)
    rows = timed(run, "cu922", made, width or filters, ("counting",))
    return [{"A": 100, "width": _label(row["I"], filters), **row} for row in rows]


def _line(rows: ResultRows, width: str, names: int = 100, what: str = "us") -> list[tuple[float, float]]:
    return points(chosen(rows, width=width, A=names, engine="counting"), "F", what)


def _last(rows: ResultRows, width: str, names: int = 100, what: str = "us") -> float:
    return _line(rows, width, names, what)[-1][1]


def _size(rows: ResultRows) -> str:
    return f"{max(int(number(row, 'F')) for row in rows):,} filters"


def _central_is_worst(rows: ResultRows) -> Judgement:
    """Whether I = F is worse than every number of interfaces that ends a match in a table of this size."""
    size = max(int(number(row, "F")) for row in chosen(rows, width=str(_FLAT_WIDTHS[-1]), A=100))
    rows = [row for row in rows if number(row, "F") <= size]
    why = "A table of this size is too small for interfaces to end a match"
    told, central, most = {}, {}, {}
    for what, unit in (("updates", "updates of counters"), ("us", "us")):
        others = {width: _last(rows, str(width), what=what) for width in _FLAT_WIDTHS if _is_reached(rows, width)}
        central[what], most[what] = _line(rows, CENTRAL, what=what)[-3:], max(others.values())
        listed_ = ", ".join(f"I = {width}: {value:,.1f}" for width, value in others.items())
        told[what] = (
            f"{listed_}, I = F: {central[what][-1][1]:,.1f} {unit} at {size:,} filters, A = 100; log-log slope "
            f"{slope(central[what]):.2f} for I = F"
        )
    spread = _spread_from(rows, central["us"][0][0])
    is_far = central["updates"][-1][1] >= _BY_FAR * most["updates"]
    by_time = exceeds(central["us"][-1][1], _BY_FAR * most["us"], spread)
    return read(
        Reading(_BY_UPDATES, ruled(is_far and slope(central["updates"]) >= _GROWS, told["updates"], why), True),
        Reading(
            _BY_TIMES,
            ruled_by_time(every(by_time, _is_steeper(central["us"], _GROWS, spread)), spread, told["us"], why),
        ),
    )


def _is_steeper(line: Sequence[tuple[float, float]], bound: float, spread: float) -> Ruling:
    """Whether times rise from the first point to the last by more than a log-log slope of `bound` gives."""
    (first, before), (last, after) = line[0], line[-1]
    return exceeds(after / before, (last / first) ** bound, spread)


def _spread_from(rows: ResultRows, filters: float) -> float:
    """The widest spread of tables with this number of filters or more: those whose times a claim compares."""
    own = chosen(rows, engine="counting", A=100)
    return widest_spread([row for row in own if number(row, "F") >= filters])


def _with_all_widths(rows: ResultRows) -> list[ResultRow]:
    sizes = {row["F"] for row in chosen(rows, width=str(_WIDTHS[-1]))}
    return [row for row in rows if row["F"] in sizes]


def _is_reached(rows: ResultRows, width: int) -> bool:
    """Whether a table is so large that this many interfaces end a match."""
    return _line(rows, str(width))[-1][0] >= _REACHED * width


def _fixed_is_flat(rows: ResultRows) -> Judgement:
    rows = [row for row in rows if row["width"] != CENTRAL]
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
    ours, why = f"{ours}{max(reached)}", _of_updates(rows, max(reached))
    flat = max(counted[width] for width in reached) <= _FLAT
    spread = _spread_from(rows, min(_line(rows, str(width))[-2][0] for width in reached))
    steeper = [_is_steeper(_line(rows, str(width))[-2:], _FLAT, spread) for width in reached]
    return read(
        Reading(_BY_UPDATES, ruled(flat, ours, why), is_suggested=True),
        Reading(_BY_TIMES, ruled_by_time(every(*map(_not, steeper)), spread, ours, why)),
    )


def _not(ruling: Ruling) -> Ruling:
    return {Ruling.HOLDS: Ruling.DIFFERS, Ruling.DIFFERS: Ruling.HOLDS}.get(ruling, ruling)


def _of_updates(rows: ResultRows, width: int) -> str:
    """What an update of a counter takes in the last two tables of one width: why times grow where updates do not."""
    (_, us_before), (_, us) = _line(rows, str(width))[-2:]
    (_, before), (_, after) = _line(rows, str(width), what="updates")[-2:]
    return (
        "The work is as flat as the paper says. An update takes longer in a larger table, "
        f"{us_before * 1_000 / before:.1f} and then {us * 1_000 / after:.1f} ns at I = {width}, because counters and "
        "filters leave the cache"
    )


def _names_matter(rows: ResultRows) -> Judgement:
    rows = _with_all_widths(rows)
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
        max(updates) >= 100,
        ours,
        "The number of constraints that a message satisfies is proportional to 1 / A. With ten times fewer names a "
        "match therefore makes ten times the updates, as counted. The stated parameters allow no factor of a hundred",
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
    why = (
        "A match ends when the last interface is found. Filters that match belong to any interface, so that I (1 + 1/2 "
        f"+ ... + 1/I) of them find all: {_doubling(met)} times as many for twice the interfaces. Times grow further "
        "where counters leave the cache"
    )
    spread = _spread_from(rows, most)
    within = every(*(ruling for a, b in pairwise(us) for ruling in _is_between(b / a, _DOUBLED, spread)))
    return read(
        Reading(
            _BY_UPDATES,
            ruled(all(_DOUBLED[0] <= b / a <= _DOUBLED[1] for a, b in pairwise(updates)), ours, why),
            is_suggested=True,
        ),
        Reading(_BY_TIMES, ruled_by_time(within, spread, ours, why)),
    )


def _is_between(value: float, bounds: tuple[float, float], spread: float) -> tuple[Ruling, Ruling]:
    return exceeds(value, bounds[0], spread), under(value, bounds[1], spread)


def _doubling(line: Sequence[float]) -> str:
    """How many times each of these is the one before."""
    return listed([b / a for a, b in pairwise(line)])


def _twenty_five_ms(rows: ResultRows) -> Judgement:
    return _takes_at_most(25, str(_WIDTHS[-1]), rows)


def _takes_at_most(paper_ms: float, width: str, rows: ResultRows) -> Judgement:
    """Whether the paper's largest table takes no longer than theirs did."""
    rows = chosen(rows, width=width, A=100)
    ours = f"{_last(rows, width) / 1_000:.3f} ms at {_size(rows)}"
    if max(int(number(row, "F")) for row in rows) < _LARGEST:
        return undecided(ours, "8 million filters are run at scale paper alone")
    spread = _spread_from(rows, _LARGEST)
    return ruled_by_time(under(_last(rows, width), paper_ms * 1_000, spread), spread, ours, "It takes longer")


_CHOSEN: Final = "SV = IV = 100. Their machine: 960 MHz, 512 MB; times of ours are scaled by nothing."
_SMALL: Final[Settings] = {
    "filters": (1_000, 4_000, 16_000, 64_000),
    "flat": (256_000, 1_024_000),
    "worst": (),
    "messages": 150,
    "passes": 3,
}
_PAPER: Final[Settings] = {
    "filters": (1_000, 4_000, 16_000, 64_000, 256_000),
    "flat": (1_024_000, 4_096_000),
    "worst": (_LARGEST,),
    "messages": 150,
    "passes": 3,
}
_SECONDS: Final = {Scale.SMALL: 60.0, Scale.PAPER: 600.0}


def _plots(widths: str, line: str, ms: float) -> tuple[PlotSpec, ...]:
    """Return a plot for each number of names. `ms`: what the paper states for its largest table, of `line`."""
    plots = {
        names: PlotSpec(
            *(f"{widths}, A = {names}: counting", "F", "us", "width"),
            *("number of filters", "time per message (microseconds)"),
            by_label="interfaces I",
            log_x=True,
            log_y=True,
            where={"A": names, "engine": "counting"},
        )
        for names in _NAMES
    }
    fewest = min(_NAMES)
    plots[fewest] = plots[fewest].of_paper(line, [(_LARGEST, 1_000 * ms)])
    return tuple(plots.values())


FIGURE_9: Final = PaperFigure(
    paper="000",
    id="9",
    title="overall performance",
    shows="milliseconds a message over F up to 8 million, for I = 2, 50, 100, 200, 500 and F, left for A = 1000, "
    "right for "
    "A = 100. I = F is by far the worst, about 400 ms at 8 million; fixed numbers of interfaces are almost flat.",
    chosen=f"{_CHOSEN} The largest tables have A = 100 alone: with fixed interfaces a million filters, and four "
    "million at scale paper; with I = F eight million at scale paper; with 500 interfaces eight million in figure 12.",
    settings={Scale.SMALL: _SMALL, Scale.PAPER: _PAPER},
    measure=_measure_9,
    criteria=(
        Criterion(
            "000-9-central",
            "One interface for each filter is the worst case, and its time grows with the number of filters",
            "by far the worst",
            _central_is_worst,
        ),
        Criterion(
            "000-9-worst",
            "8 million filters of 8 million interfaces are matched in 400 ms",
            "about 400 ms",
            partial(_takes_at_most, 400, CENTRAL),
        ),
        Criterion("000-9-flat", "With fixed interfaces the curves are almost flat", "almost flat", _fixed_is_flat),
        Criterion(
            "000-9-names",
            "100 names take over two orders of magnitude longer than 1000",
            "over two orders of magnitude",
            _names_matter,
        ),
    ),
    plots=_plots("All interfaces", CENTRAL, 400),
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
    settings={
        Scale.SMALL: {**_SMALL, "largest": ()},
        Scale.PAPER: {**_PAPER, "worst": (), "largest": (_LARGEST,)},
    },
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
    plots=_plots("Fixed interfaces", str(_WIDTHS[-1]), 25),
    seconds={Scale.SMALL: 1, Scale.PAPER: 200},
)


# --- the short circuit -----------------------------------------------------------------------------------------------

_CIRCUITS: Final = ("off", "at-full", "each")
_COUNTERS: Final = ("flat", "hash", "tree")
_SHORTER: Final = 0.95
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


def _saves_time(rows: ResultRows) -> Judgement:
    return read(
        *(Reading(name, _saves_with(counters, why, rows), counters == "tree") for counters, name, why in _READ_AS)
    )


_READ_AS: Final = (
    ("tree", "counters in a search tree", "A spared update costs less than the question, even there"),
    ("hash", "counters in a hash table", "The question costs as much as an update of the hash table"),
    ("flat", "counters in an array", "An update in an array costs no more than the question, so nothing is spared"),
)
"""The pseudocode keeps counters in a map; the map of a library was a search tree."""


def _saves_with(counters: str, why: str, rows: ResultRows) -> Judgement:
    """Whether the short circuit of the paper makes a match at least a twentieth shorter."""
    saved = {width: _time_of_each(rows, width, counters) for width in ("50", "500")}
    rows = [row for row in rows if row.get("us") is not None]
    largest = max(int(number(row, "F")) for row in rows)
    compared = [row for row in chosen(rows, counters=counters, width="50", F=largest) if row["circuit"] != "off"]
    spread = widest_spread(compared)
    told = ", ".join(f"{share:+.0%} at I = {width}" for width, share in saved.items())
    is_shorter = under(1 - saved["50"], _SHORTER, spread)
    return ruled_by_time(is_shorter, spread, f"{told}, {_size(rows)}", why)


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
            "000-circuit-time",
            "The short circuit saves time",
            "greatly reduces processing time; the text does not name the structure of the counters",
            _saves_time,
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
