"""Figures 8, 9, 14 and 15 of paper 003: events a second over matching events and over equal profiles.

Law: that of `rates.py`, from which their runs are.
"""

from __future__ import annotations

from collections.abc import Sequence
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
    Settings,
)
from tamis.papers.reproduce.judging import is_falling, is_rising, listed, ruled
from tamis.papers.reproduce.paper003.load import network
from tamis.papers.reproduce.paper003.points import MODEL, ROUTERS, values
from tamis.papers.reproduce.paper003.rates import (
    ALL,
    BUS,
    BUS_PAPER,
    FORWARDING,
    ORDER,
    UNITS,
    Priced,
    by_model,
    by_routers,
    family,
    gain,
    per_second,
    priced,
    rates_shown,
    shown,
    shows_it,
    tenths,
)

_PE: Final = "share of the events that some profile matches (pe)"
_PP: Final = "profiles notified for each event that is published (pp)"
_SIGMA: Final = "profiles that such an event matches, on average (sigma)"

# --- figures 8 and 9 -------------------------------------------------------------------------------------------------


def _measure_8(run: FigureRun) -> list[ResultRow]:
    shares, sigmas = tenths(run.numbers("tenths")), run.numbers("sigmas")
    bus = network("bus4")
    return [*by_model(bus, [(pe, sigma) for sigma in sigmas for pe in shares]), *by_routers(run, bus)]


def _over_pe(rows: ResultRows) -> Judgement:
    ef, pf = (values(rows, name, "pe", "rate", sigma=1) for name in FORWARDING)
    holds = is_falling(ef) and is_falling(pf) and gain(pf) < 0.5 < 0.8 < gain(ef) and pf[0] >= 2.5 * ef[0]
    ours = (
        f"{shown(FORWARDING, (ef, pf))} events a unit of work over pe; left of them {gain(ef):.0%} and {gain(pf):.0%}"
    )
    return ruled(holds, ours, ORDER)


def _rn_between(rows: ResultRows, what: str) -> Priced:
    lines = [values(rows, name, "pe", what, sigma=1) for name in ALL]
    ef, rn, pf = map(gain, lines)
    ours = f"{rates_shown(ALL, lines)}; left at pe = 1: {ef:.1%}, {rn:.1%}, {pf:.1%}"
    return Priced(ef > rn > pf, min(abs(ef - rn), abs(rn - pf)), ours)


def _routers_over_pe(rows: ResultRows) -> Judgement:
    ef, pf = (per_second(rows, name, "pe", sigma=1) for name in FORWARDING)
    first, last = pf[0] / ef[0], pf[-1] / ef[-1]
    ours = f"{shown(FORWARDING, (ef, pf), 0)} events a second over pe; PF {first:.1f} times EF at 0, {last:.1f} at 1"
    return shows_it(rows, first - last, first >= 2.5 and last <= 2, ours, "what is spared costs our routers little")


FIGURE_8: Final = PaperFigure(
    paper="003",
    id="8",
    title="events a second over matching events",
    shows="PF is very fast at small pe and falls steeply, EF falls little, and RN lies between them in slope.",
    chosen=UNITS,
    settings={
        Scale.SMALL: {**BUS, "tenths": (0, 2, 5, 8, 10), "sigmas": (1, 2, 5, 20)},
        Scale.PAPER: {
            **BUS_PAPER,
            "tenths": tuple(range(11)),
            "sigmas": (1, 2, 5, 10, 20),
        },
    },
    measure=_measure_8,
    criteria=(
        Criterion(
            "003-8-order", "PF is far faster at small pe, and falls steeply; EF falls little", "orders", _over_pe
        ),
        Criterion("003-8-rn", "RN falls more than EF and less than PF", "between", priced(_rn_between)),
        Criterion(
            "003-8-routers",
            "Routers show it: PF is over 2.5 times as fast as EF at pe = 0, and at most twice at pe = 1",
            "orders, no numbers in the text",
            _routers_over_pe,
        ),
    ),
    plots=(
        *family("pe", _PE, "sigma", _SIGMA),
        PlotSpec(
            *("Events per unit of work, sigma = 1", "pe", "rate", "strategy", _PE, "events per unit of work"),
            where={"by": MODEL, "sigma": 1},
            log_y=True,
        ),
        PlotSpec(
            *("Events per second of routers", "pe", "events_per_s", "strategy"),
            *(_PE, "events per second"),
            where={"by": ROUTERS, "sigma": 1},
            log_y=True,
        ),
    ),
    seconds={Scale.SMALL: 8, Scale.PAPER: 700},
)


def _measure_9(run: FigureRun) -> list[ResultRow]:
    shares, sigmas = tenths(run.numbers("tenths")), run.numbers("sigmas")
    bus = network("bus4")
    return [*by_model(bus, [(pp / sigma, sigma) for sigma in sigmas for pp in shares]), *by_routers(run, bus)]


def _gains(rows: ResultRows, names: Sequence[str], pp: float, what: str = "rate") -> tuple[list[float], str]:
    lines = [values(rows, name, "sigma", what, pp=pp) for name in names]
    found = [gain(line) for line in lines]
    told = f"{rates_shown(names, lines)} over sigma at pp = {pp:g}"
    return found, f"{told}; at the end {listed(found)} times the start"


def _over_pp(rows: ResultRows) -> Judgement:
    (ef, pf), ours = _gains(rows, FORWARDING, 1.0)
    return ruled(pf > 1.2 and 1 <= ef < 1.15, ours, ORDER)


def _rn_over_pp(rows: ResultRows, what: str) -> Priced:
    (ef, rn, pf), ours = _gains(rows, ALL, 1.0, what)
    return Priced(ef < rn < pf, min(abs(ef - rn), abs(rn - pf)), ours)


def _routers_over_pp(rows: ResultRows) -> Judgement:
    ef, pf = (per_second(rows, name, "sigma", pp=1.0) for name in FORWARDING)
    told = shown(FORWARDING, (ef, pf), 0)
    ours = f"{told} events a second over sigma at pp = 1; {gain(ef):.1f} and {gain(pf):.1f} times"
    why = (
        "a client of several equal profiles gets one frame here, so that fewer matching events spare EF deliveries, too"
    )
    return shows_it(rows, gain(pf) - gain(ef), gain(pf) > gain(ef) and gain(ef) < 1.15, ours, why)


FIGURE_9: Final = PaperFigure(
    paper="003",
    id="9",
    title="events a second over matching profiles",
    shows="at a fixed pp a higher sigma is faster, most with PF and hardly with EF; RN lies between.",
    chosen=UNITS,
    settings={
        Scale.SMALL: {**BUS, "tenths": (1, 2, 5, 8, 10), "sigmas": (1, 2, 5, 20)},
        Scale.PAPER: {
            **BUS_PAPER,
            "tenths": tuple(range(1, 11)),
            "sigmas": (1, 2, 5, 10, 20),
        },
    },
    measure=_measure_9,
    criteria=(
        Criterion("003-9-order", "A higher sigma is faster, most with PF, hardly with EF", "orders", _over_pp),
        Criterion("003-9-rn", "RN gains more than EF and less than PF", "between", priced(_rn_over_pp)),
        Criterion("003-9-routers", "Routers show it", "orders, no numbers in the text", _routers_over_pp),
    ),
    plots=(
        *family("pp", _PP, "sigma", _SIGMA),
        PlotSpec(
            *("Events per unit of work, sigma = 5", "pp", "rate", "strategy", _PP, "events per unit of work"),
            where={"by": MODEL, "sigma": 5},
            log_y=True,
        ),
    ),
    seconds={Scale.SMALL: 6, Scale.PAPER: 120},
)


# --- figures 14 and 15 -----------------------------------------------------------------------------------------------


def _measure_14(run: FigureRun) -> list[ResultRow]:
    shares, sigmas = tenths(run.numbers("tenths")), run.numbers("sigmas")
    bus = network("bus4")
    return [*by_model(bus, [(pe, sigma) for pe in shares for sigma in sigmas]), *by_routers(run, bus)]


def _falls_with_sigma(rows: ResultRows) -> Judgement:
    lines = [values(rows, name, "sigma", "rate", pe=0.3) for name in FORWARDING]
    ef, pf = map(gain, lines)
    ours = f"{shown(FORWARDING, lines)} over sigma at pe = 0.3; left {ef:.0%} and {pf:.0%}"
    return ruled(all(map(is_falling, lines)) and pf < ef < 1, ours, ORDER)


def _marginal_at_high_pe(rows: ResultRows) -> Judgement:
    ratios = [
        pf / ef
        for pe in (0.1, 0.9)
        for ef, pf in [[values(rows, name, "sigma", "rate", pe=pe)[-1] for name in FORWARDING]]
    ]
    ours = f"PF takes {listed(ratios, 1)} times the events of EF at pe = 0.1 and 0.9, at the highest sigma"
    return ruled(ratios[1] <= ratios[0] / 2, ours, "what PF spares does not shrink with pe")


def _rn_falls_less(rows: ResultRows, what: str) -> Priced:
    lines = [values(rows, name, "sigma", what, pe=0.1) for name in ALL]
    ef, rn, pf = map(gain, lines)
    ours = f"{rates_shown(ALL, lines)} over sigma at pe = 0.1; left {ef:.1%}, {rn:.1%}, {pf:.1%}"
    return Priced(pf < min(ef, rn), min(ef, rn) - pf, ours)


def _routers_over_sigma(rows: ResultRows) -> Judgement:
    lines = [per_second(rows, name, "sigma", pe=0.9) for name in FORWARDING]
    ours = f"{shown(FORWARDING, lines, 0)} events a second over sigma at pe = 0.9"
    ef, pf = map(gain, lines)
    why = "profiles that are equal are one entry, and their subscribers one frame with several numbers"
    return shows_it(rows, max(ef, pf) - 1, max(ef, pf) < 1, ours, why)


COVERING: Final[Settings] = {**BUS, "tenths": (1, 3, 9), "sigmas": (1, 2, 5, 20)}
COVERING_PAPER: Final[Settings] = {**BUS_PAPER, "tenths": (1, 3, 5, 7, 9), "sigmas": (1, 2, 5, 10, 20)}
FIGURE_14: Final = PaperFigure(
    paper="003",
    id="14",
    title="events a second over sigma, by matching events",
    shows="efficiency falls with sigma at fixed pe, most with PF; at high pe the algorithms hardly differ.",
    chosen=UNITS,
    settings={Scale.SMALL: COVERING, Scale.PAPER: COVERING_PAPER},
    measure=_measure_14,
    criteria=(
        Criterion("003-14-falls", "Efficiency falls with sigma, with PF most", "orders", _falls_with_sigma),
        Criterion("003-14-marginal", "At high pe the algorithms hardly differ", "marginal", _marginal_at_high_pe),
        Criterion("003-14-rn", "RN falls less than PF", "lower", priced(_rn_falls_less)),
        Criterion("003-14-routers", "Routers fall with sigma", "orders, no numbers in the text", _routers_over_sigma),
    ),
    plots=(
        *family("sigma", _SIGMA, "pe", _PE),
        PlotSpec(
            *("Events per unit of work, pe = 0.9", "sigma", "rate", "strategy", _SIGMA, "events per unit of work"),
            where={"by": MODEL, "pe": 0.9},
            log_y=True,
        ),
    ),
    seconds={Scale.SMALL: 8, Scale.PAPER: 150},
)


def _measure_15(run: FigureRun) -> list[ResultRow]:
    shares, sigmas = tenths(run.numbers("tenths")), run.numbers("sigmas")
    return by_model(network("bus4"), [(pp / sigma, sigma) for pp in shares for sigma in sigmas])


def _rises_with_sigma(rows: ResultRows) -> Judgement:
    (ef, pf), ours = _gains(rows, FORWARDING, 0.3)
    return ruled(pf > 1.2 and abs(ef - 1) < 0.15, ours, ORDER)


def _rn_rises_less(rows: ResultRows, what: str) -> Priced:
    (ef, rn, pf), ours = _gains(rows, ALL, 0.3, what)
    return Priced(ef <= rn < pf, pf - rn, ours)


def _distance_grows(rows: ResultRows) -> Judgement:
    ratios = [
        pf / ef for ef, pf in zip(*(values(rows, name, "sigma", "rate", pp=0.9) for name in FORWARDING), strict=True)
    ]
    ours = f"PF takes {listed(ratios, 1)} times the events of EF over sigma at pp = 0.9"
    return ruled(is_rising(ratios) and ratios[-1] > ratios[0], ours, ORDER)


FIGURE_15: Final = PaperFigure(
    paper="003",
    id="15",
    title="events a second over sigma, by matching profiles",
    shows="efficiency rises with sigma at fixed pp, most with PF; RN gains less, EF nothing; the distance grows.",
    chosen=UNITS,
    settings={
        Scale.SMALL: {"tenths": (1, 3, 9), "sigmas": (1, 2, 5, 20)},
        Scale.PAPER: {"tenths": (1, 3, 5, 7, 9), "sigmas": (1, 2, 5, 10, 20)},
    },
    measure=_measure_15,
    criteria=(
        Criterion(
            "003-15-rises", "Efficiency rises with sigma with PF, and is flat with EF", "orders", _rises_with_sigma
        ),
        Criterion("003-15-distance", "The distance of PF to EF grows with sigma", "grows", _distance_grows),
        Criterion(
            "003-15-rn", "RN gains, and less than PF", "lower dimension", priced(_rn_rises_less, is_measured=False)
        ),
    ),
    plots=(
        *family("sigma", _SIGMA, "pp", _PP),
        PlotSpec(
            *("Events per unit of work, pp = 0.3", "sigma", "rate", "strategy", _SIGMA, "events per unit of work"),
            where={"by": MODEL, "pp": 0.3},
            log_y=True,
        ),
    ),
    seconds={Scale.SMALL: 3, Scale.PAPER: 6},
    is_exact=True,
)
FIGURES_OF_EFFICIENCY: Final = (FIGURE_8, FIGURE_9, FIGURE_14, FIGURE_15)
