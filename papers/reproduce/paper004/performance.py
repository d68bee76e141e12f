"""Figures 8 to 11 of paper 004: matching time of `sff`, with and without rounds of the selectivity table.

Law: all tables of a cell see the same filters, in turns. A claim about times needs an effect larger than twice the
spread of those that it compares; beside them stand the updates of counters, which are counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from tamis.bench.matching import workloads
from tamis.papers.reproduce.figure import (
    Criterion,
    FigureRun,
    Judgement,
    PaperFigure,
    PlotSpec,
    Reading,
    ResultRow,
    ResultRows,
    Scale,
)
from tamis.papers.reproduce.judging import (
    Judge,
    chosen,
    every,
    exceeds,
    is_falling,
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

FLAT: Final = "sff circuit=each"
HASH: Final = "sff circuit=each counters=hash"
TREE: Final = "sff circuit=each counters=tree"
_SPELLED: Final = {
    FLAT: "sff:circuit=each",
    HASH: "sff:circuit=each:counters=hash",
    TREE: "sff:circuit=each:counters=tree",
}
_COUNTERS: Final = ("flat", "hash", "tree")
_NAMES: Final = 1_000
_PER_FILTER: Final = 5
"""Constraints, on average."""
_ROUNDS: Final = (0, 10)
_PAPERS_LEAST: Final = 400_000
"""Constraints from which on a claim about half a million and more is judged."""
_LARGEST: Final = 4_500_000
_PAPER_CONSTRAINTS: Final = 5_000_000
_PAPER_WIDTH: Final = 20
"""Constraints from which on a claim about five million is judged: a million filters have as many, more or less."""
_LINEAR: Final = (0.8, 1.15)
"""Log-log slopes of a line that goes with the constraints."""
_HEIGHT: Final = (0.35, 0.65)
"""The paper's best advantage of figure 11, 40 to 60 %, as it can be read."""
_BY_UPDATES: Final = "by counted updates"
_BY_TIMES: Final = "by times"


def _cells(
    run: FigureRun,
    filters: int,
    widths: Sequence[int],
    rounds: Sequence[int],
    engines: Sequence[str] = (FLAT, HASH, TREE),
) -> list[ResultRow]:
    def one() -> list[ResultRow]:
        made = workloads.make("sigcomm03", filters, run.whole("messages"), _NAMES, run.seed)
        spelled = [_SPELLED[engine] for engine in engines]
        return [row for width in widths for row in timed(run, "sigcomm03", made, width, spelled, rounds)]

    key = f"sff F={filters} I={','.join(map(str, widths))} r={','.join(map(str, rounds))} {len(engines)}"
    rows: list[ResultRow] = run.cell(key, one)
    return [{**row, **_parts(str(row["engine"]))} for row in rows]


def _parts(label: str) -> dict[str, str | int]:
    name, _, rounds = label.rpartition(" r=")
    counters = next((each for each in _COUNTERS if f"counters={each}" in name), "flat")
    return {"counters": counters, "r": int(rounds)}


def _line(rows: ResultRows, counters: str, r: int, **where: int) -> list[tuple[float, float]]:
    return points(chosen(rows, counters=counters, r=r, **where), "constraints", "us")


def _spread(rows: ResultRows) -> float:
    return widest_spread(rows)


def _gains(rows: ResultRows, counters: str) -> list[tuple[float, float]]:
    """By size, the share of the time that ten rounds save."""
    plain, rounds = (_line(rows, counters, r) for r in _ROUNDS)
    return [(size, 1 - b / a) for (size, a), (_, b) in zip(plain, rounds, strict=True)]


def _told(gains: list[tuple[float, float]]) -> str:
    return ", ".join(f"{gain:+.0%} at {size:,.0f}" for size, gain in gains)


# --- figure 8 --------------------------------------------------------------------------------------------------------


def _measure_8(run: FigureRun) -> list[ResultRow]:
    return [row for filters in run.numbers("filters") for row in _cells(run, filters, [filters], _ROUNDS)]


def _linear(rows: ResultRows) -> Judgement:
    own = chosen(rows, counters="flat", r=0)
    lines = {what: points(own, "constraints", what)[-3:] for what in ("updates", "us")}
    slopes = {what: slope(line) for what, line in lines.items()}
    size, us = lines["us"][-1]
    ours = (
        f"log-log slope of updates {slopes['updates']:.2f}, of times {slopes['us']:.2f}; {us:,.1f} us at {size:,.0f} "
        "constraints"
    )
    if size < _PAPERS_LEAST:
        return undecided(ours, "The cost of a small table is not that of the constraints satisfied")
    why = "Caches hold more of a table than theirs did"
    spread = widest_spread([row for row in own if number(row, "constraints") >= lines["us"][0][0]])
    grown, more = us / lines["us"][0][1], size / lines["us"][0][0]
    timed_ = every(exceeds(grown, more ** _LINEAR[0], spread), under(grown, more ** _LINEAR[1], spread))
    return read(
        Reading(_BY_UPDATES, ruled(_LINEAR[0] <= slopes["updates"] <= _LINEAR[1], ours, why), True),
        Reading(_BY_TIMES, ruled_by_time(timed_, spread, ours, why)),
    )


_READ_AS: Final = {
    "tree": "counters in a search tree",
    "hash": "counters in a hash table",
    "flat": "counters in an array",
}
"""The pseudocode has a map, and the map of a library was a search tree; the text does not name the structure."""


def _with_each_counter(judge: Callable[[str, str, ResultRows], Judgement], suggested: str = "tree") -> Judge:
    """The judge of a claim that depends on the structure of the counters."""

    def judge_all(rows: ResultRows) -> Judgement:
        return read(
            *(
                Reading(name, judge(counters, _WHY[counters], rows), counters == suggested)
                for counters, name in _READ_AS.items()
            )
        )

    return judge_all


def _saves(counters: str, why: str, rows: ResultRows) -> Judgement:
    gains = [(size, gain) for size, gain in _gains(rows, counters) if size >= 50_000]
    ratio = 1 - gains[-1][1]
    spread = _spread(chosen(rows, counters=counters, constraints=int(gains[-1][0])))
    ours = f"{_told(gains)} constraints; {_break_even(rows, counters)}"
    return ruled_by_time(every(under(ratio, 0.9, spread), exceeds(ratio, 0.3, spread)), spread, ours, why)


def _takes_at_most(paper_ms: float, rows: ResultRows, **where: int) -> Judgement:
    """Whether a match among five million constraints takes no longer than theirs did."""
    own = chosen(rows, counters="flat", r=0, **where)
    size, us = points(own, "constraints", "us")[-1]
    ours = f"{us / 1_000:.3f} ms at {size:,.0f} constraints"
    if size < _LARGEST:
        return undecided(ours, "Five million constraints are run at scale paper alone")
    spread = _spread(chosen(own, constraints=int(size)))
    return ruled_by_time(under(us, 1_000 * paper_ms, spread), spread, ours, "It takes longer")


def _break_even(rows: ResultRows, counters: str) -> str:
    """How much dearer an update of a counter would have to be for ten rounds to cost nothing."""
    plain, cut = (chosen(rows, counters=counters, r=r)[-1] for r in _ROUNDS)
    lost_us = number(cut, "us") - number(plain, "us")
    spared = number(plain, "updates") - number(cut, "updates")
    share = spared / number(plain, "updates")
    each = 1e3 * number(plain, "us") / number(plain, "updates")
    more = (
        f", of {each:.1f} ns each; they would pay if one took {1e3 * lost_us / spared:.1f} ns more"
        if lost_us > 0
        else ""
    )
    return f"10 rounds spare {share:.0%} of the updates{more}"


_WHY: Final = {
    "flat": "An update of an array costs about as much as the question whether the interface is excluded. Rounds spare "
    "as many updates as the paper says, but a spared update saves nothing",
    "hash": "Our hash table is emptied by a stamp, so that an update costs little more than in an array. Rounds pay "
    "where an update is dear",
    "tree": "An update of this tree is dearer than theirs was, so that rounds pay more and their own price shows "
    "later. Rounds spare as many updates in each structure: only the price of an update differs. What they measured "
    "lies between a hash table and this tree",
}
_CHOSEN: Final = (
    "a number of filters for each interface that is uniform, as in table 1; counters in an array (flat) and, as the "
    "pseudocode has a map, in a hash table and in a search tree with a node for each count, which is what the map of a "
    "library was; the question before each count, as printed. Their machine: 950 MHz, 512 MB."
)


def _plots(title: str, ms: float) -> tuple[PlotSpec, ...]:
    """Return the plots of a figure. `ms`: what the paper states for its largest table, without rounds."""
    return (
        PlotSpec(
            *(
                f"{title}: time",
                "constraints",
                "us",
                "engine",
                "number of constraints",
                "time per message (microseconds)",
            ),
            log_x=True,
            log_y=True,
        ).of_paper("no rounds", [(_PAPER_CONSTRAINTS, 1_000 * ms)]),
        PlotSpec(
            *(f"{title}: updates of counters", "constraints", "updates", "engine"),
            *("number of constraints", "updates per message"),
            log_x=True,
            log_y=True,
            where={"counters": "flat"},
        ),
    )


FIGURE_8: Final = PaperFigure(
    paper="004",
    id="8",
    title="one filter for each interface",
    shows="milliseconds a message over constraints up to five million, I = F, with no rounds and with 10: 330 ms "
    "at five "
    "million, up to 40 % less with rounds.",
    chosen=_CHOSEN,
    settings={
        Scale.SMALL: {"filters": (2_000, 10_000, 40_000, 100_000), "messages": 60, "passes": 3},
        Scale.PAPER: {"filters": (2_000, 10_000, 50_000, 200_000, 1_000_000), "messages": 200, "passes": 3},
    },
    measure=_measure_8,
    criteria=(
        Criterion("004-8-linear", "With I = F the time grows with the number of constraints", "linear", _linear),
        Criterion(
            "004-8-rounds",
            "Ten rounds make a match up to 40 % shorter",
            "up to 40 %; the text does not name the structure of the counters",
            _with_each_counter(_saves),
        ),
        Criterion(
            "004-8-time",
            "Five million constraints of a million interfaces are matched in 330 ms",
            "330 ms",
            partial(_takes_at_most, 330),
        ),
    ),
    plots=_plots("I = F", 330),
    seconds={Scale.SMALL: 25, Scale.PAPER: 600},
)


# --- figure 9 --------------------------------------------------------------------------------------------------------

_WIDTHS: Final = (10, 20, 40)


def _measure_9(run: FigureRun) -> list[ResultRow]:
    return [row for filters in run.numbers("filters") for row in _cells(run, filters, _WIDTHS, _ROUNDS, (FLAT,))]


def _sublinear(rows: ResultRows) -> Judgement:
    """By counted updates: times of tables between two sizes of cache grow faster than their work."""
    us, updates = (
        [slope(points(chosen(rows, counters="flat", r=0, I=width), "constraints", what)[-3:]) for width in _WIDTHS]
        for what in ("us", "updates")
    )
    last = [_line(rows, "flat", 0, I=width)[-1][1] for width in _WIDTHS]
    ours = (
        f"log-log slopes of updates {listed(updates)}, of times {listed(us)} for I = 10, 20, 40; {listed(last, 1)} us "
        "at the end"
    )
    return ruled(max(updates) <= 0.75, ours, "Most interfaces match too late in a message to end it")


def _no_effect(rows: ResultRows) -> Judgement:
    ratios = [
        b / a
        for width in _WIDTHS
        for (_, a), (_, b) in zip(*(_line(rows, "flat", r, I=width) for r in _ROUNDS), strict=True)
    ]
    mean, spread = sum(ratios) / len(ratios), _spread(rows)
    ours = f"with 10 rounds {mean:.2f} times the time without, on average"
    is_so = every(exceeds(mean, 0.9, spread), under(mean, 1.1, spread))
    return ruled_by_time(is_so, spread, ours, "Rounds are looked at for each message, whatever they exclude")


FIGURE_9: Final = PaperFigure(
    paper="004",
    id="9",
    title="a fixed number of interfaces",
    shows="the same for I = 10, 20 and 40: sublinear, about 3 ms at five million constraints for I = 20; curves "
    "with and "
    "without rounds cannot be told apart.",
    chosen=_CHOSEN,
    settings=FIGURE_8.settings,
    measure=_measure_9,
    criteria=(
        Criterion("004-9-sublinear", "With fixed interfaces the time grows sublinearly", "sublinear", _sublinear),
        Criterion("004-9-rounds", "There rounds neither help nor cost", "indistinguishable", _no_effect),
        Criterion(
            "004-9-time",
            "Five million constraints of 20 interfaces are matched in 3 ms",
            "about 3 ms",
            partial(_takes_at_most, 3, I=_PAPER_WIDTH),
        ),
    ),
    plots=tuple(
        PlotSpec(
            *(
                f"{width} interfaces",
                "constraints",
                "us",
                "engine",
                "number of constraints",
                "time per message (microseconds)",
            ),
            log_x=True,
            log_y=True,
            where={"I": width},
        ).of_paper("no rounds", [(_PAPER_CONSTRAINTS, 3_000)] if width == _PAPER_WIDTH else [])
        for width in _WIDTHS
    ),
    seconds={Scale.SMALL: 15, Scale.PAPER: 500},
)


# --- figure 10 -------------------------------------------------------------------------------------------------------


def _measure_10(run: FigureRun) -> list[ResultRow]:
    filters = run.whole("filters")
    rows = _cells(run, filters, [filters // ratio for ratio in run.numbers("ratios")], _ROUNDS)
    return [{**row, "filters an interface": filters / number(row, "I")} for row in rows]


def _best_with_large(rows: ResultRows) -> Judgement:
    own = chosen(rows, counters="flat", r=0)
    updates, us = (points(own, "filters an interface", what) for what in ("updates", "us"))
    why, spread = "Large disjunctions end matches late", _spread(own)
    told = [
        ", ".join(f"{value:,.1f} {unit} with {ratio:,.0f}" for ratio, value in line) + " filters an interface"
        for line, unit in ((updates, "updates"), (us, "us"))
    ]
    return read(
        Reading(_BY_UPDATES, ruled(updates[-1][1] <= 0.5 * updates[0][1], told[0], why), True),
        Reading(_BY_TIMES, ruled_by_time(under(us[-1][1], 0.5 * us[0][1], spread), spread, told[1], why)),
    )


def _rounds_help_at_the_left(rows: ResultRows) -> Judgement:
    gains = [
        (ratio, 1 - b / a)
        for (ratio, a), (_, b) in zip(
            *(points(chosen(rows, counters="tree", r=r), "filters an interface", "us") for r in _ROUNDS), strict=True
        )
    ]
    ours = f"{', '.join(f'{gain:+.0%} with {ratio:,.0f}' for ratio, gain in gains)} filters"
    spread = _spread(chosen(rows, counters="tree"))
    helps, helps_less = 1 - gains[0][1], min(1 - gain for ratio, gain in gains if ratio >= 100)
    return ruled_by_time(
        every(under(helps, 0.9, spread), exceeds(helps_less, helps, spread)),
        spread,
        ours,
        "Rounds spare most where many interfaces are left, however many filters each has",
    )


FIGURE_10: Final = PaperFigure(
    paper="004",
    id="10",
    title="filters per interface",
    shows="with 500,000 constraints in all, the time falls as more filters share an interface; at the left, where one "
    "has few, rounds help.",
    chosen=_CHOSEN,
    settings={
        Scale.SMALL: {"filters": 100_000, "ratios": (1, 10, 100, 1_000, 10_000), "messages": 60, "passes": 3},
        Scale.PAPER: {"filters": 100_000, "ratios": (1, 10, 100, 1_000, 10_000), "messages": 300, "passes": 5},
    },
    measure=_measure_10,
    criteria=(
        Criterion("004-10-falls", "Matching is fastest with large disjunctions", "from 16 ms down", _best_with_large),
        Criterion(
            "004-10-rounds",
            "Rounds help where an interface has few filters, with counters in a search tree",
            "at the left",
            _rounds_help_at_the_left,
        ),
    ),
    plots=(
        PlotSpec(
            *("A fixed number of constraints", "filters an interface", "us", "engine"),
            *("filters per interface", "time per message (microseconds)"),
            log_x=True,
        ),
    ),
    seconds={Scale.SMALL: 10, Scale.PAPER: 120},
)


# --- figure 11 -------------------------------------------------------------------------------------------------------


def _measure_11(run: FigureRun) -> list[ResultRow]:
    rounds = run.numbers("rounds")
    rows: list[ResultRow] = []
    for filters in run.numbers("filters"):
        found = _cells(run, filters, [filters], rounds)
        for counters in _COUNTERS:
            own = chosen(found, counters=counters)
            plain = next(row for row in own if row["r"] == 0)
            rows += [
                {
                    **row,
                    "line": f"{counters}, {_PER_FILTER * filters:,} constraints",
                    "advantage": 100 * (1 - number(row, "us") / number(plain, "us")),
                    "updates spared": 100 * (1 - number(row, "updates") / number(plain, "updates")),
                }
                for row in own
            ]
    return rows


def _advantage(rows: ResultRows, counters: str, what: str = "advantage") -> list[tuple[float, float]]:
    most = max(int(number(row, "F")) for row in rows)
    return points(chosen(rows, counters=counters, F=most), "r", what)


@dataclass(frozen=True, slots=True)
class _Turn:
    """The curve of figure 11 at the most filters: times in multiples of that without rounds."""

    best: float
    """Of 1 to 100 rounds."""
    at_100: float
    last: float
    spread: float
    told: str


def _turn(counters: str, rows: ResultRows) -> _Turn:
    line = _advantage(rows, counters)
    by_rounds = {r: 1 - gain / 100 for r, gain in line}
    told = "advantage in % by rounds: " + ", ".join(f"{gain:+.0f} at {r:.0f}" for r, gain in line)
    size = max(int(number(row, "F")) for row in rows)
    spread = _spread(chosen(rows, counters=counters, F=size))
    best = min(time for r, time in by_rounds.items() if 1 <= r <= 100)
    return _Turn(best, by_rounds[100], by_rounds[line[-1][0]], spread, told)


def _turns(counters: str, why: str, rows: ResultRows) -> Judgement:
    turn = _turn(counters, rows)
    is_so = every(under(turn.best, 1, turn.spread), exceeds(turn.last, turn.best, turn.spread))
    return ruled_by_time(is_so, turn.spread, turn.told, why)


def _reaches(counters: str, why: str, rows: ResultRows) -> Judgement:
    turn = _turn(counters, rows)
    is_so = every(under(turn.best, 1 - _HEIGHT[0], turn.spread), exceeds(turn.best, 1 - _HEIGHT[1], turn.spread))
    return ruled_by_time(is_so, turn.spread, turn.told, why)


def _becomes_a_cost(counters: str, why: str, rows: ResultRows) -> Judgement:
    turn = _turn(counters, rows)
    is_so = every(under(turn.best, 1, turn.spread), exceeds(turn.at_100, 1, turn.spread))
    return ruled_by_time(is_so, turn.spread, turn.told, why)


def _spared(rows: ResultRows) -> Judgement:
    line = _advantage(rows, "flat", "updates spared")
    told = ", ".join(f"{share:.0f} % by {r:.0f}" for r, share in line if r)
    rises = is_falling([-share for _, share in line])
    ours = f"updates of counters spared: {told} rounds"
    return ruled(rises and line[-1][1] >= 50, ours, "Rounds exclude few interfaces")


FIGURE_11: Final = PaperFigure(
    paper="004",
    id="11",
    title="how many rounds pay",
    shows="the advantage of r rounds over none, in percent, I = F, for 500,000 and five million constraints: it "
    "rises to "
    "40 to 60 %, becomes ineffective and ultimately a cost after 50 to 70 rounds; higher for five million.",
    chosen=_CHOSEN,
    settings={
        Scale.SMALL: {"filters": (100_000,), "rounds": (0, 5, 10, 30, 50, 70, 100, 200), "messages": 40, "passes": 3},
        Scale.PAPER: {
            "filters": (100_000, 1_000_000),
            "rounds": (0, 1, 5, 10, 20, 30, 50, 70, 100, 200),
            "messages": 100,
            "passes": 3,
        },
    },
    measure=_measure_11,
    criteria=(
        Criterion("004-11-spared", "More rounds spare more counting", "more and more interfaces", _spared),
        Criterion(
            "004-11-turns",
            "The advantage of rounds rises with their number, and falls again",
            "it becomes ineffective after 50 to 70 rounds",
            _with_each_counter(_turns),
        ),
        Criterion(
            "004-11-height", "The advantage is 40 to 60 % at most", "40 to 60 %", _with_each_counter(_reaches, "")
        ),
        Criterion(
            "004-11-cost",
            "A hundred rounds cost more than they save",
            "ultimately a cost after 50 to 70 rounds",
            _with_each_counter(_becomes_a_cost, ""),
        ),
    ),
    plots=(
        PlotSpec(
            *("Advantage in time", "r", "advantage", "line"),
            *("number of rounds", "advantage (percent of the time without rounds)"),
        ),
        PlotSpec(
            *("Updates of counters spared", "r", "updates spared", "line"),
            *("number of rounds", "updates spared (percent of all)"),
        ),
    ),
    seconds={Scale.SMALL: 25, Scale.PAPER: 300},
)
