"""Figures 12, 17 and 19 of paper 003: events a second over brokers, event types and locality.

Law: that of `rates.py`: orders are judged by counted work, and what routers took stands beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

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
from tamis.papers.reproduce.judging import chosen, is_rising, listed, number, ruled
from tamis.papers.reproduce.paper003.brokers import BrokersAsked
from tamis.papers.reproduce.paper003.load import network
from tamis.papers.reproduce.paper003.points import MODEL, ROUTERS, clocked_rows, line, rate_row, values
from tamis.papers.reproduce.paper003.rates import (
    ALL,
    BUS,
    BUS_PAPER,
    FORWARDING,
    ORDER,
    UNITS,
    Priced,
    family,
    gain,
    per_second,
    priced,
    rates_shown,
    shares_of,
    shown,
    shows_it,
    tenths,
)

_BROKERS: Final = 9
_PP: Final = "profiles notified for each event that is published (pp)"
_LOCALITY: Final = "share of matching events wanted where they are published (locality)"
_ALONE: Final = "one router takes as many events as several, or more: its table is no dearer for being larger"


# --- figure 12 -------------------------------------------------------------------------------------------------------


def _measure_12(run: FigureRun) -> list[ResultRow]:
    shares = tenths(run.numbers("tenths"))
    rows: list[ResultRow] = [
        {**row, "parallel": float(str(row["rate"])) / brokers / float(str(alone["rate"]))}
        for name in ALL
        for pe in shares
        for alone in [rate_row(BrokersAsked(network("das9", 1), name, pe))]
        for brokers in range(1, _BROKERS + 1)
        for row in [rate_row(BrokersAsked(network("das9", brokers), name, pe))]
    ]
    total = run.whole("total")
    for name in ALL:
        for brokers in run.numbers("timed_brokers"):
            point = BrokersAsked(network("das9", brokers), name, shares[0])
            rows += clocked_rows(run, [point], total // brokers)
    return rows


def _pf_gains(rows: ResultRows) -> Judgement:
    lines = [values(rows, "PF", "brokers", "rate", pe=pe) for pe in shares_of(rows)]
    gains = list(map(gain, lines))
    ours = f"nine brokers take {listed(gains, 1)} times the events of one at pe = {listed(shares_of(rows), 1)}"
    return ruled(gains[0] > 3 and is_rising(gains[::-1]), ours, ORDER)


def _ef_loses(rows: ResultRows) -> Judgement:
    line = values(rows, "EF", "brokers", "rate", pe=shares_of(rows)[0])
    ours = f"{listed(line)} events a unit of work from one to nine brokers"
    return ruled(line[-1] < line[0] and line[4] <= 1.05 * min(line), ours, ORDER)


def _rn_is_flat(rows: ResultRows, what: str) -> Priced:
    line = values(rows, "RN", "brokers", what, pe=shares_of(rows)[0])
    mean = sum(line) / len(line)
    far = max(abs(each / mean - 1) for each in line)
    return Priced(far < 0.35, abs(0.35 - far), f"{rates_shown(['RN'], [line])} from one to nine brokers")


def _parallel(rows: ResultRows) -> Judgement:
    ef, pf = (values(rows, name, "brokers", "parallel", pe=shares_of(rows)[0]) for name in FORWARDING)
    ours = f"{shown(FORWARDING, (ef, pf))} from one to nine brokers at pe = {shares_of(rows)[0]:g}"
    return ruled(all(b > a for a, b in zip(ef[2:], pf[2:], strict=True)) and pf[-1] < 0.75, ours, ORDER)


def _routers_over_brokers(rows: ResultRows) -> Judgement:
    lines = [per_second(rows, name, "brokers") for name in FORWARDING]
    ef, pf = map(gain, lines)
    ours = f"{shown(FORWARDING, lines, 0)} events a second; {ef:.2f} and {pf:.2f} times from the fewest to nine"
    return shows_it(rows, min(abs(ef - 1), abs(pf - 1)), ef < 1 < pf, ours, _ALONE)


FIGURE_12: Final = PaperFigure(
    paper="003",
    id="12",
    title="events a second over brokers",
    shows="(a) PF gains much from brokers at pp = 0.1, and less the more profiles match; (b) EF falls, and is least at "
    "five brokers; (c) RN is nearly flat; (d) the parallel efficiency of PF is best, and disappointing.",
    chosen=f"{UNITS} das9 and its first brokers; unique profiles, so that pp = pe.",
    settings={
        Scale.SMALL: {"tenths": (1, 3, 5, 7), "timed_brokers": (1, 9), "total": 1_800, "events": 18_000},
        # The engine's tree has room for 18,000 profiles at one broker; with 36,000 it begins again all the time.
        Scale.PAPER: {"tenths": (1, 3, 5, 7), "timed_brokers": (1, 3, 5, 7, 9), "total": 18_000, "events": 100_000},
    },
    measure=_measure_12,
    criteria=(
        Criterion("003-12-pf", "PF gains from brokers, most where few profiles match", "high increase", _pf_gains),
        Criterion("003-12-ef", "EF falls with brokers, and is least at five", "smallest at 5", _ef_loses),
        Criterion("003-12-rn", "RN is nearly unchanged", "nearly unchanged", priced(_rn_is_flat)),
        Criterion("003-12-parallel", "The parallel efficiency of PF is best, and disappointing", "best", _parallel),
        Criterion(
            "003-12-routers",
            "Routers show it: PF gains from brokers, and EF loses",
            "orders, no numbers in the text",
            _routers_over_brokers,
        ),
    ),
    plots=(
        *family("brokers", "number of brokers", "pp", _PP),
        PlotSpec(
            *(
                "Events per unit of work, pp = 0.1",
                "brokers",
                "rate",
                "strategy",
                "number of brokers",
                "events per unit of work",
            ),
            where={"by": MODEL, "pe": 0.1},
        ),
        PlotSpec(
            *(
                "Parallel efficiency, pp = 0.1",
                "brokers",
                "parallel",
                "strategy",
                "number of brokers",
                "share of the brokers",
            ),
            where={"by": MODEL, "pe": 0.1},
        ),
    ),
    seconds={Scale.SMALL: 12, Scale.PAPER: 240},
)


# --- figure 17 -------------------------------------------------------------------------------------------------------


def _measure_17(run: FigureRun) -> list[ResultRow]:
    das, shares = network("das9"), tenths(run.numbers("tenths"))
    rows: list[ResultRow] = [
        rate_row(BrokersAsked(das, name, pe, kinds=kinds))
        for name in ALL
        for pe in shares
        for kinds in range(1, _BROKERS + 1)
    ]
    for name in ALL:
        for kinds in run.numbers("timed_types"):
            points = [BrokersAsked(das, name, shares[0], kinds=kinds)]
            rows += clocked_rows(run, points, run.whole("profiles"))
    return rows


def _types_are_nothing(rows: ResultRows) -> Judgement:
    lines = [values(rows, name, "types", "rate", pe=0.1) for name in FORWARDING]
    return ruled(all(len(set(line)) == 1 for line in lines), shown(FORWARDING, lines), ORDER)


def _axes(rows: ResultRows) -> Judgement:
    lines = [per_second(rows, name, "types") for name in FORWARDING]
    ratio = [pf / ef for ef, pf in zip(*lines, strict=True)]
    ours = f"{shown(FORWARDING, lines, 0)} events a second over types: PF takes {listed(ratio, 1)} times those of EF"
    enters, passes = (number(chosen(rows, strategy="EF", by=ROUTERS)[0], name) for name in ("entry_ns", "onward_ns"))
    why = (
        f"An event that enters costs our routers {enters:.0f} ns, one that comes from another router {passes:.0f} ns "
        "with EF, so that what PF spares weighs less. PF spares the same events as in the paper, as the model counts "
        "them. Of the paper's rates only the ends of the axes are known"
    )
    return ruled(all(3 <= each <= 8 for each in ratio), ours, why)


def _rn_peaks(rows: ResultRows, what: str) -> Priced:
    points_ = line(rows, "RN", "types", what, pe=0.1)
    best, most = max(points_, key=lambda point: point[1])
    last = points_[-1][1]
    rates = rates_shown(["RN"], [[value for _, value in points_]])
    told = f"{rates} over {', '.join(f'{types:.0f}' for types, _ in points_)} types, at most with {best:.0f}"
    why = (
        "a router of ours pays for a second table where it holds profiles of others, and little for a copy, so that "
        "roots at the border cost less than what they relieve the middle of"
    )
    return Priced(
        1 < best <= 4 and last < most, most / last - 1 if last < most else last / points_[0][1] - 1, told, why
    )


FIGURE_17: Final = PaperFigure(
    paper="003",
    id="17",
    title="events a second over event types",
    shows="PF and EF hardly change with the number of types; RN gains up to three, and loses beyond four. The axes end "
    "at 40,000 events a second for PF, and at 8,000 for EF and RN.",
    chosen=f"{UNITS} das9; the root of type i is broker i.",
    settings={
        Scale.SMALL: {"tenths": (1, 3), "timed_types": (1, 3, 9), "profiles": 180, "events": 18_000},
        Scale.PAPER: {"tenths": (1, 3, 5, 7), "timed_types": (1, 3, 9), "profiles": 3_600, "events": 100_000},
    },
    measure=_measure_17,
    criteria=(
        Criterion("003-17-types", "PF and EF hardly depend on the number of types", "constant", _types_are_nothing),
        Criterion("003-17-axes", "PF takes three to eight times the events of EF", "40,000 and 8,000 a second", _axes),
        Criterion("003-17-rn", "RN gains up to three types, and loses beyond four", "peak at 3", priced(_rn_peaks)),
    ),
    plots=(
        *family("types", "number of event types", "pp", _PP),
        PlotSpec(
            *(
                "Events per unit of work, pp = 0.1",
                "types",
                "rate",
                "strategy",
                "number of event types",
                "events per unit of work",
            ),
            where={"by": MODEL, "pe": 0.1},
            log_y=True,
        ),
    ),
    seconds={Scale.SMALL: 12, Scale.PAPER: 150},
)


# --- figure 19 -------------------------------------------------------------------------------------------------------


def _measure_19(run: FigureRun) -> list[ResultRow]:
    bus, shares = network("bus4"), tenths(run.numbers("tenths"))
    local = [Fraction(each, 10) for each in range(0, 11, 2)]
    rows = [rate_row(BrokersAsked(bus, name, pe, locality=each)) for name in ALL for pe in shares for each in local]
    for name in ALL:
        ends = [BrokersAsked(bus, name, shares[-1], locality=each) for each in (local[0], local[-1])]
        rows += clocked_rows(run, ends, run.whole("profiles"))
    return rows


def _model_gains(rows: ResultRows, name: str) -> list[float]:
    return [gain(values(rows, name, "locality", "rate", pe=pe)) for pe in shares_of(rows)]


def _pf_is_local(rows: ResultRows) -> Judgement:
    ef, pf = (_model_gains(rows, name) for name in FORWARDING)
    told = f"{listed(pf)} times the events of 0 with PF, {listed(ef)} with EF"
    ours = f"locality 1 takes {told}, at pe = {listed(shares_of(rows), 1)}"
    holds = max(ef) < 1.1 and is_rising(pf) and min(pf) > 1 and 2 <= max(pf) <= 3.5
    return ruled(holds, ours, ORDER)


def _rn_is_hardly_local(rows: ResultRows, what: str) -> Priced:
    share = shares_of(rows)[-1]
    rn = gain(values(rows, "RN", "locality", what, pe=share))
    ours = f"locality 1 takes {rn:.2f} times the events of 0 at pe = {share:g}"
    why = "what locality spares is copies from the root and what follows them, which cost our root little"
    return Priced(1.1 <= rn <= 1.6, min(abs(rn - 1.1), abs(rn - 1.6)), ours, why)


def _routers_are_local(rows: ResultRows) -> Judgement:
    lines: Sequence[list[float]] = [per_second(rows, name, "locality") for name in FORWARDING]
    ef, pf = map(gain, lines)
    ours = f"{shown(FORWARDING, lines, 0)} events a second: {ef:.2f} and {pf:.2f} times from locality 0 to 1"
    why = "what stays at a broker costs as much as what leaves it, or less"
    return shows_it(rows, pf - ef, pf >= 2 and 0.8 <= ef <= 1.25, ours, why)


FIGURE_19: Final = PaperFigure(
    paper="003",
    id="19",
    title="events a second over locality",
    shows="from locality 0 to 1 PF gains 2 to 3.5 times, RN 1.25 times, EF nothing.",
    chosen=f"{UNITS} a line of four brokers; what is not local is spread evenly over the other three.",
    settings={
        Scale.SMALL: {**BUS, "tenths": (1, 3, 5, 7)},
        Scale.PAPER: {**BUS_PAPER, "tenths": (1, 3, 5, 7)},
    },
    measure=_measure_19,
    criteria=(
        Criterion("003-19-pf", "PF gains up to 2 to 3.5 times, and EF nothing", "2 to 3.5; stable", _pf_is_local),
        Criterion("003-19-rn", "RN gains about a quarter", "1.25", priced(_rn_is_hardly_local)),
        Criterion(
            "003-19-routers",
            "Routers show it: PF gains twice and more, EF nothing",
            "2 to 3.5; stable",
            _routers_are_local,
        ),
    ),
    plots=(
        *family("locality", _LOCALITY, "pp", _PP),
        PlotSpec(
            *(
                "Events per unit of work, pp = 0.7",
                "locality",
                "rate",
                "strategy",
                _LOCALITY,
                "events per unit of work",
            ),
            where={"by": MODEL, "pe": 0.7},
            log_y=True,
        ),
        PlotSpec(
            *(
                "Events per second of routers",
                "locality",
                "events_per_s",
                "strategy",
                _LOCALITY,
                "events per second",
            ),
            where={"by": ROUTERS},
            log_y=True,
        ),
    ),
    seconds={Scale.SMALL: 8, Scale.PAPER: 250},
)
FIGURES_OF_GROWTH: Final = (FIGURE_12, FIGURE_17, FIGURE_19)
