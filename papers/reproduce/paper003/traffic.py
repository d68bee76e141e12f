"""Figures 10, 13, 16, 18 and 20 of paper 003: network load and stored profiles, in frames and filters.

Law: nothing is timed, and every row of routers equals the cost model. Event forwarding is the strategy `flood` with
`prune: false`, profile forwarding is `profile`; `advertise`, whose filters go to all routers, stands beside them.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
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
from tamis.papers.reproduce.judging import is_falling, is_rising, ruled
from tamis.papers.reproduce.paper003.brokers import STRATEGIES, BrokersAsked
from tamis.papers.reproduce.paper003.load import network
from tamis.papers.reproduce.paper003.points import load_row, told, values

_FORWARDING: Final = ("EF", "PF")
_ALL: Final = ("EF", "RN", "PF")


def _tenths(run: FigureRun, name: str) -> list[Fraction]:
    return [Fraction(each, 10) for each in run.numbers(name)]


def _each(rows: ResultRows, names: tuple[str, ...], x: str, y: str, **where: float | str | None) -> str:
    return "; ".join(f"{name} {told(rows, name, x, y, **where)}" for name in names)


# --- figure 10 -------------------------------------------------------------------------------------------------------


def _measure_10(run: FigureRun) -> list[ResultRow]:
    bus, shares, sigmas = network("bus4"), _tenths(run, "tenths"), run.numbers("sigmas")
    over_pe = [(share, sigma) for sigma in sigmas for share in shares]
    over_pp = [(share / sigma, sigma) for sigma in sigmas for share in shares]
    wanted = dict.fromkeys([*over_pe, *over_pp])
    return [load_row(run, BrokersAsked(bus, name, pe, sigma)) for name in STRATEGIES for pe, sigma in wanted]


def _sigmas(rows: ResultRows) -> list[int]:
    return sorted({int(str(row["sigma"])) for row in rows})


def _sigma_does_not_matter(rows: ResultRows) -> Judgement:
    shared = set.intersection(
        *({float(str(row["pe"])) for row in rows if row["sigma"] == sigma} for sigma in _sigmas(rows))
    )
    loads = {
        (name, pe): {tuple(values(rows, name, "pe", "frames", sigma=sigma, pe=pe)) for sigma in _sigmas(rows)}
        for name in _FORWARDING
        for pe in shared
    }
    ours = f"{_each(rows, _FORWARDING, 'pe', 'frames', sigma=1)} frames, and so at every sigma"
    return ruled(all(len(found) == 1 for found in loads.values()), ours, "equal profiles travel apart")


def _ef_is_constant(rows: ResultRows) -> Judgement:
    ef, pf = (values(rows, name, "pe", "frames") for name in _FORWARDING)
    ours = (
        f"EF {', '.join(f'{each:g}' for each in sorted(set(ef)))} frames, at least {min(ef) - max(pf):.2f} more than PF"
    )
    return ruled(set(ef) == {3.0} and min(ef) > max(pf), ours, "an event does not go to every broker")


def _sigma_spares(rows: ResultRows) -> Judgement:
    ef, pf = (values(rows, name, "sigma", "frames", pp=1.0) for name in _FORWARDING)
    ours = f"{_each(rows, _FORWARDING, 'sigma', 'frames', pp=1.0)} frames over sigma at pp = 1"
    return ruled(set(ef) == {3.0} and is_falling(pf) and pf[-1] < pf[0], ours, "fewer events do not mean fewer frames")


def _order_10(rows: ResultRows) -> Judgement:
    ef, rn, pf = (values(rows, name, "pe", "frames", sigma=1) for name in _ALL)
    holds = all(a > b > c for a, b, c in zip(ef, rn, pf, strict=True))
    return ruled(holds, f"{_each(rows, _ALL, 'pe', 'frames', sigma=1)} frames over pe", "the order is another")


FIGURE_10: Final = PaperFigure(
    paper="003",
    id="10",
    title="network load over matching events",
    shows="(a) over pe, network load does not depend on sigma, and EF > RN > PF, EF constant; (b) over pp, at a "
    "fixed pp a higher sigma means less load, but for EF.",
    chosen="a line of four brokers, one type with one attribute, events laid out evenly over brokers.",
    settings={
        Scale.SMALL: {"tenths": (0, 3, 10), "sigmas": (1, 5)},
        Scale.PAPER: {"tenths": tuple(range(11)), "sigmas": (1, 2, 5, 10, 20)},
    },
    measure=_measure_10,
    criteria=(
        Criterion(
            "003-10-sigma", "Network load over pe does not depend on sigma", "no dependence", _sigma_does_not_matter
        ),
        Criterion(
            "003-10-ef", "Event forwarding loads the network most, and always alike", "constant", _ef_is_constant
        ),
        Criterion("003-10-pp", "At a fixed pp a higher sigma spares frames, but for EF", "decreasing", _sigma_spares),
        Criterion("003-10-order", "Network load is EF above RN above PF", "EF > RN > PF", _order_10),
    ),
    plots=(
        PlotSpec(
            "Frames per event",
            "pe",
            "frames",
            "strategy",
            "share of the events that some profile matches (pe)",
            "frames per event",
            where={"sigma": 1},
        ),
    ),
    seconds={Scale.SMALL: 6, Scale.PAPER: 60},
    is_exact=True,
)


# --- figure 13 -------------------------------------------------------------------------------------------------------


def _measure_13(run: FigureRun) -> list[ResultRow]:
    return [
        load_row(run, BrokersAsked(network("das9", brokers), name, pe))
        for name in STRATEGIES
        for pe in _tenths(run, "tenths")
        for brokers in run.numbers("brokers")
    ]


def _duplication(rows: ResultRows) -> Judgement:
    ef, pf = (values(rows, name, "brokers", "duplication", pe=0.3) for name in _FORWARDING)
    counts = [brokers for brokers, _ in sorted({(float(str(row["brokers"])), 0) for row in rows})]
    holds = set(ef) == {1.0} and pf == counts
    return ruled(holds, _each(rows, _FORWARDING, "brokers", "duplication", pe=0.3), "filters are stored otherwise")


def _ef_load(rows: ResultRows) -> Judgement:
    frames = values(rows, "EF", "brokers", "frames", pe=0.3)
    ours = f"{told(rows, 'EF', 'brokers', 'frames', pe=0.3)} frames an event"
    brokers = values(rows, "EF", "brokers", "brokers", pe=0.3)
    return ruled(frames == [count - 1 for count in brokers], ours, "an event takes other ways")


def _order_13(rows: ResultRows) -> Judgement:
    ef, rn, pf = (values(rows, name, "brokers", "frames", pe=0.3) for name in _ALL)
    stored = values(rows, "RN", "brokers", "duplication", pe=0.3)
    ours = (
        f"{_each(rows, _ALL, 'brokers', 'frames', pe=0.3)} frames; RN stores each profile "
        f"{told(rows, 'RN', 'brokers', 'duplication', pe=0.3)} times"
    )
    holds = all(c < b < a for a, b, c in zip(ef, rn, pf, strict=True)) and max(stored) < 2.5
    return ruled(holds, ours, "the order is another")


FIGURE_13: Final = PaperFigure(
    paper="003",
    id="13",
    title="stored profiles and network load over brokers",
    shows="(a) duplication: PF as many as brokers, EF 1, RN under 2.5; (b) network load: EF steadily up, PF least.",
    chosen="das9, whose links are deduced, and its first brokers.",
    settings={
        Scale.SMALL: {"tenths": (3,), "brokers": (2, 5, 9)},
        Scale.PAPER: {"tenths": (1, 3, 5, 7), "brokers": tuple(range(2, 10))},
    },
    measure=_measure_13,
    criteria=(
        Criterion(
            "003-13-duplication",
            "Event forwarding stores each profile once, and profile forwarding at each broker",
            "EF 1; PF n",
            _duplication,
        ),
        Criterion("003-13-ef", "The load of event forwarding grows with every broker", "steadily up", _ef_load),
        Criterion(
            "003-13-order",
            "PF loads the network least, and RN stores fewer than 2.5 of each",
            "PF < RN < EF",
            _order_13,
        ),
    ),
    plots=(
        PlotSpec(
            "Stored copies of profiles",
            "brokers",
            "duplication",
            "strategy",
            "number of brokers",
            "copies per profile",
            where={"pe": 0.3},
        ),
        PlotSpec(
            "Frames per event, pe = 0.3",
            "brokers",
            "frames",
            "strategy",
            "number of brokers",
            "frames per event",
            where={"pe": 0.3},
        ),
    ),
    seconds={Scale.SMALL: 8, Scale.PAPER: 80},
    is_exact=True,
)


# --- figure 16 -------------------------------------------------------------------------------------------------------


def _measure_16(run: FigureRun) -> list[ResultRow]:
    bus, shares = network("bus4"), _tenths(run, "tenths")
    rows: list[ResultRow] = []
    for name in STRATEGIES:
        for sigma, share in product(run.numbers("sigmas"), shares):
            for fixed, pe in (("pe", share), ("pp", share / sigma)):
                rows.append({**load_row(run, BrokersAsked(bus, name, pe, sigma)), "fixed": fixed})
    return rows


def _load_by_sigma(rows: ResultRows) -> Judgement:
    constant = [values(rows, name, "sigma", "frames", fixed="pe", pe=0.5) for name in _FORWARDING]
    falling = values(rows, "PF", "sigma", "frames", fixed="pp", pp=0.5)
    ours = (
        f"{_each(rows, _FORWARDING, 'sigma', 'frames', fixed='pe', pe=0.5)} at pe = 0.5; "
        f"{_each(rows, _FORWARDING, 'sigma', 'frames', fixed='pp', pp=0.5)} at pp = 0.5"
    )
    holds = all(len(set(found)) == 1 for found in constant) and is_falling(falling) and falling[-1] < falling[0]
    return ruled(holds, ours, "equal profiles travel apart")


def _stored_by_sigma(rows: ResultRows) -> Judgement:
    ef, pf = (values(rows, name, "sigma", "duplication", fixed="pe", pe=0.5) for name in _FORWARDING)
    sigmas = values(rows, "PF", "sigma", "sigma", fixed="pe", pe=0.5)
    holds = set(ef) == {1.0} and all(abs(y - (1 + 3 / x)) < 1e-9 for x, y in zip(sigmas, pf, strict=True))
    ours = f"{_each(rows, _FORWARDING, 'sigma', 'duplication', fixed='pe', pe=0.5)}: 1 + 3 / sigma"
    return ruled(holds, ours, "equal profiles are stored apart")


def _order_16(rows: ResultRows) -> Judgement:
    ef, rn, pf = (values(rows, name, "sigma", "duplication", fixed="pe", pe=0.5) for name in _ALL)
    holds = all(a > b > c for a, b, c in zip(pf, rn, ef, strict=True))
    return ruled(holds, _each(rows, _ALL, "sigma", "duplication", fixed="pe", pe=0.5), "the order is another")


FIGURE_16: Final = PaperFigure(
    paper="003",
    id="16",
    title="network load and stored profiles over sigma",
    shows="(a) load over sigma is constant at fixed pe; (b) it falls, flattening, at fixed pp; (c) duplication "
    "PF > RN > EF, towards 1.",
    chosen="a line of four brokers, pe or pp from 0.1 to 0.9; equal profiles are those of one broker's clients.",
    settings={
        Scale.SMALL: {"sigmas": (1, 2, 20), "tenths": (1, 5, 9)},
        Scale.PAPER: {"sigmas": (1, 2, 5, 10, 20), "tenths": (1, 3, 5, 7, 9)},
    },
    measure=_measure_16,
    criteria=(
        Criterion(
            "003-16-load", "Load is constant at fixed pe, and falls at fixed pp but for EF", "(a), (b)", _load_by_sigma
        ),
        Criterion("003-16-stored", "Stored profiles go towards one as sigma grows", "towards 1", _stored_by_sigma),
        Criterion("003-16-order", "Stored profiles are PF above RN above EF", "PF > RN > EF", _order_16),
    ),
    plots=(
        PlotSpec(
            "Stored copies of profiles",
            "sigma",
            "duplication",
            "strategy",
            "profiles that such an event matches, on average (sigma)",
            "copies per profile",
            where={"fixed": "pe", "pe": 0.5},
        ),
        *(
            PlotSpec(
                *(f"Frames per event, {name}, by {by}", "sigma", "frames", by),
                *("profiles that such an event matches, on average (sigma)", "frames per event"),
                where={"strategy": name, "fixed": by},
            )
            for by in ("pe", "pp")
            for name in ("PF", "RN")
        ),
    ),
    seconds={Scale.SMALL: 20, Scale.PAPER: 60},
    is_exact=True,
)


# --- figure 18 -------------------------------------------------------------------------------------------------------


def _measure_18(run: FigureRun) -> list[ResultRow]:
    return [
        load_row(run, BrokersAsked(network("das9"), name, pe, kinds=kinds))
        for name in STRATEGIES
        for pe in _tenths(run, "tenths")
        for kinds in run.numbers("types")
    ]


def _types_do_not_matter(rows: ResultRows) -> Judgement:
    stored = [set(values(rows, name, "types", "duplication", pe=0.3)) for name in _FORWARDING]
    frames = [set(values(rows, name, "types", "frames", pe=0.3)) for name in _FORWARDING]
    ours = (
        f"{_each(rows, _FORWARDING, 'types', 'duplication', pe=0.3)} times; "
        f"{_each(rows, _FORWARDING, 'types', 'frames', pe=0.3)} frames"
    )
    return ruled(stored == [{1.0}, {9.0}] and all(len(each) == 1 for each in frames), ours, "types change the ways")


def _falls_then_rises(rows: ResultRows) -> Judgement:
    stored, frames = (values(rows, "RN", "types", what, pe=0.3) for what in ("duplication", "frames"))
    ours = (
        f"RN {told(rows, 'RN', 'types', 'duplication', pe=0.3)} times; "
        f"{told(rows, 'RN', 'types', 'frames', pe=0.3)} frames over types"
    )
    holds = all(min(each) < each[0] and is_rising(each[each.index(min(each)) :]) for each in (stored, frames))
    return ruled(holds, ours, "roots at the border make no longer ways")


FIGURE_18: Final = PaperFigure(
    paper="003",
    id="18",
    title="stored profiles and network load over event types",
    shows="(a) duplication: PF 9, EF 1, and RN between, falling up to two types and rising beyond; (b) the load of RN "
    "alike, PF little, EF much and constant.",
    chosen="das9; the root of type i is broker i, so that with one type it is b1.",
    settings={
        Scale.SMALL: {"tenths": (3,), "types": (1, 2, 3, 6, 9)},
        Scale.PAPER: {"tenths": (1, 3, 5, 7), "types": tuple(range(1, 10))},
    },
    measure=_measure_18,
    criteria=(
        Criterion(
            "003-18-forwarding",
            "Stored profiles and load of PF and EF do not depend on the number of types",
            "PF 9, EF 1",
            _types_do_not_matter,
        ),
        Criterion(
            "003-18-rn",
            "Stored profiles and load of RN fall first, and rise with further roots",
            "minimum at 2",
            _falls_then_rises,
        ),
    ),
    plots=(
        PlotSpec(
            "Stored copies of profiles",
            "types",
            "duplication",
            "strategy",
            "number of event types",
            "copies per profile",
            where={"pe": 0.3},
        ),
        PlotSpec(
            "Frames per event, pe = 0.3",
            "types",
            "frames",
            "strategy",
            "number of event types",
            "frames per event",
            where={"pe": 0.3},
        ),
    ),
    seconds={Scale.SMALL: 12, Scale.PAPER: 120},
    is_exact=True,
)


# --- figure 20 -------------------------------------------------------------------------------------------------------


def _measure_20(run: FigureRun) -> list[ResultRow]:
    return [
        load_row(run, BrokersAsked(network("bus4"), name, pe, locality=locality))
        for name in STRATEGIES
        for pe in (Fraction(3, 10), Fraction(7, 10))
        for locality in _tenths(run, "tenths")
    ]


def _ef_stays(rows: ResultRows) -> Judgement:
    ef, pf = (values(rows, name, "locality", "frames", pe=0.7) for name in _FORWARDING)
    ours = f"{_each(rows, _FORWARDING, 'locality', 'frames', pe=0.7)} frames from locality 0 to 1, pe = 0.7"
    holds = set(ef) == {3.0} and is_falling(pf) and pf[-1] == 0
    return ruled(holds, ours, "events for the own broker leave it")


def _rn_to_one(rows: ResultRows) -> Judgement:
    rn = values(rows, "RN", "locality", "frames", pe=0.7)
    ours = f"RN {told(rows, 'RN', 'locality', 'frames', pe=0.7)} frames, pe = 0.7"
    return ruled(is_falling(rn) and rn[-1] == 1.0, ours, "the way to the root is another")


FIGURE_20: Final = PaperFigure(
    paper="003",
    id="20",
    title="network load over locality",
    shows="PF falls to 0, RN to 1.0, and EF stays at 3 as more of the matching events are wanted where they are "
    "published.",
    chosen="a line of four brokers; what is not local is spread evenly over the other three.",
    settings={Scale.SMALL: {"tenths": (0, 5, 10)}, Scale.PAPER: {"tenths": tuple(range(0, 11, 2))}},
    measure=_measure_20,
    criteria=(
        Criterion(
            "003-20-ef",
            "Locality is nothing to event forwarding, and spares profile forwarding all frames",
            "EF 3, PF to 0",
            _ef_stays,
        ),
        Criterion("003-20-order", "The load of RN falls to the way to the root", "1.0", _rn_to_one),
    ),
    plots=(
        PlotSpec(
            "Frames per event, pe = 0.7",
            "locality",
            "frames",
            "strategy",
            "share of matching events wanted where they are published (locality)",
            "frames per event",
            where={"pe": 0.7},
        ),
    ),
    seconds={Scale.SMALL: 12, Scale.PAPER: 30},
    is_exact=True,
)
FIGURES_OF_FRAMES: Final = (FIGURE_10, FIGURE_13, FIGURE_16, FIGURE_18, FIGURE_20)
