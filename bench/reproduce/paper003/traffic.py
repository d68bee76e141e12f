"""Figures 10, 13, 16 and 20 of paper 003: network load, stored profiles and the load of brokers, in frames and filters.

Law: nothing is timed, and every row equals the arithmetic (`brokers.py`). Event forwarding is the strategy `flood`
with `prune: false`. The claims about PF and RN wait for their strategies; `advertise`, whose filters go to all brokers
and whose events take the ways of PF, stands beside EF.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from tamis.bench.reproduce.figure import (
    Criterion,
    FigureRun,
    Judgement,
    PaperFigure,
    PlotSpec,
    ResultRow,
    ResultRows,
    Scale,
)
from tamis.bench.reproduce.judging import chosen, listed, missing, points, ruled
from tamis.bench.reproduce.paper003.brokers import ADVERTISE, BUS4, DAS9, EF, STRATEGIES, Links, measured

_EVERYWHERE: Final = Fraction(-1)
_WAIT: Final = "no figure runs strategy `profile` (PF) yet, and `rendezvous` (RN) is not there"
_PROFILES: Final = 40


def _row(
    run: FigureRun,
    links: Links,
    brokers: int,
    strategy: str,
    *,
    tenths: int,
    sigma: int = 1,
    local_tenths: int | None = None,
) -> ResultRow:
    """One point: pe and locality in tenths."""
    locality = _EVERYWHERE if local_tenths is None else Fraction(local_tenths, 10)

    def one() -> ResultRow:
        found = measured(links, brokers, strategy, _PROFILES, Fraction(tenths, 10), sigma, locality)
        return {
            "strategy": STRATEGIES[strategy],
            "brokers": brokers,
            "pe": tenths / 10,
            "sigma": sigma,
            "locality": None if local_tenths is None else local_tenths / 10,
            "frames": float(found.frames),
            "bytes": found.bytes,
            "duplication": float(found.duplication),
            "busiest": float(found.busiest),
        }

    row: ResultRow = run.cell(
        f"{strategy} {brokers} pe={tenths} sigma={sigma} locality={local_tenths} {len(links)}", one
    )
    return row


def _line(rows: ResultRows, strategy: str, x: str, y: str, **where: float) -> list[tuple[float, float]]:
    return points(chosen(rows, strategy=STRATEGIES[strategy], **where), x, y)


def _told(line: list[tuple[float, float]]) -> str:
    return listed([y for _, y in line])


def _waits(name: str, claim: str, paper: str) -> Criterion:
    return Criterion(name, claim, paper, missing(_WAIT))


# --- figure 10 -------------------------------------------------------------------------------------------------------


def _measure_10(run: FigureRun) -> list[ResultRow]:
    return [
        _row(run, BUS4, 4, strategy, tenths=tenths, sigma=sigma)
        for strategy in STRATEGIES
        for sigma in run.numbers("sigmas")
        for tenths in run.numbers("tenths")
    ]


def _sigma_does_not_matter(rows: ResultRows) -> Judgement:
    lines = {
        (strategy, sigma): _line(rows, strategy, "pe", "frames", sigma=sigma)
        for strategy in STRATEGIES
        for sigma in sorted({int(str(row["sigma"])) for row in rows})
    }
    equal = all(len({tuple(line) for (each, _), line in lines.items() if each == s}) == 1 for s in STRATEGIES)
    ef, other = (_told(next(line for (each, _), line in lines.items() if each == s)) for s in STRATEGIES)
    return ruled(equal, f"EF {ef}; advertise {other} frames at every sigma", "equal profiles travel apart")


def _ef_is_constant(rows: ResultRows) -> Judgement:
    values = {y for _, y in _line(rows, EF, "pe", "frames")}
    least = min(values) - max(y for _, y in _line(rows, ADVERTISE, "pe", "frames"))
    ours = f"EF {', '.join(f'{each:g}' for each in sorted(values))} frames, at least {least:.2f} more than advertise"
    return ruled(values == {3.0} and least > 0, ours, "an event does not go to every broker")


FIGURE_10: Final = PaperFigure(
    paper="003",
    id="10",
    title="network load over matching events",
    shows="(a) over pe, network load does not depend on sigma, and EF > RN > PF, EF constant; (b) over pp, at a "
    "fixed pp a "
    "higher sigma means less load, but for EF.",
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
        _waits("003-10-order", "Network load is EF above RN above PF", "EF > RN > PF"),
    ),
    plots=(PlotSpec("Frames an event", "pe", "frames", "strategy", "pe", "frames", where={"sigma": 1}),),
    seconds={Scale.SMALL: 6, Scale.PAPER: 60},
    is_exact=True,
)


# --- figure 13 -------------------------------------------------------------------------------------------------------


def _measure_13(run: FigureRun) -> list[ResultRow]:
    return [
        _row(run, DAS9[: brokers - 1], brokers, strategy, tenths=tenths)
        for strategy in STRATEGIES
        for tenths in run.numbers("tenths")
        for brokers in run.numbers("brokers")
    ]


def _duplication(rows: ResultRows) -> Judgement:
    ef, own = (_line(rows, strategy, "brokers", "duplication", pe=0.3) for strategy in STRATEGIES)
    holds = all(y == 1 for _, y in ef) and all(y == n for n, y in own)
    return ruled(holds, f"EF {_told(ef)}; advertise {_told(own)}", "filters are stored otherwise")


def _ef_load(rows: ResultRows) -> Judgement:
    line = _line(rows, EF, "brokers", "frames", pe=0.3)
    return ruled(all(y == n - 1 for n, y in line), f"{_told(line)} frames an event", "an event takes other ways")


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
            "Event forwarding stores each profile once; where filters go everywhere, each broker stores it",
            "EF 1; PF n",
            _duplication,
        ),
        Criterion("003-13-ef", "The load of event forwarding grows with every broker", "steadily up", _ef_load),
        _waits("003-13-order", "PF loads the network least, and RN stores fewer than 2.5 of each", "PF < RN < EF"),
    ),
    plots=(
        PlotSpec("Stored profiles", "brokers", "duplication", "strategy", "brokers", "times", where={"pe": 0.3}),
        PlotSpec("Frames an event, pe = 0.3", "brokers", "frames", "strategy", "brokers", "frames", where={"pe": 0.3}),
    ),
    seconds={Scale.SMALL: 8, Scale.PAPER: 80},
    is_exact=True,
)


# --- figures 16 and 20 -----------------------------------------------------------------------------------------------


def _measure_16(run: FigureRun) -> list[ResultRow]:
    return [
        _row(run, BUS4, 4, strategy, tenths=5, sigma=sigma)
        for strategy in STRATEGIES
        for sigma in run.numbers("sigmas")
    ]


def _stored_by_sigma(rows: ResultRows) -> Judgement:
    ef, own = (_line(rows, strategy, "sigma", "duplication") for strategy in STRATEGIES)
    holds = all(y == 1 for _, y in ef) and all(abs(y - (1 + 3 / sigma)) < 1e-9 for sigma, y in own)
    return ruled(holds, f"EF {_told(ef)}; advertise {_told(own)}: 1 + 3 / sigma", "equal profiles are stored apart")


FIGURE_16: Final = PaperFigure(
    paper="003",
    id="16",
    title="network load and stored profiles over sigma",
    shows="(a) load over sigma is constant at fixed pe; (b) it falls, flattening, at fixed pp; (c) duplication "
    "PF > RN > EF, "
    "towards 1.",
    chosen="a line of four brokers, pe = 0.5; equal profiles are those of one broker's clients.",
    settings={Scale.SMALL: {"sigmas": (1, 2, 20)}, Scale.PAPER: {"sigmas": (1, 2, 5, 10, 20)}},
    measure=_measure_16,
    criteria=(
        Criterion("003-16-stored", "Stored profiles go towards one as sigma grows", "towards 1", _stored_by_sigma),
        _waits("003-16-order", "Stored profiles are PF above RN above EF", "PF > RN > EF"),
    ),
    plots=(PlotSpec("Stored profiles", "sigma", "duplication", "strategy", "sigma", "times"),),
    seconds={Scale.SMALL: 4, Scale.PAPER: 10},
    is_exact=True,
)


def _measure_20(run: FigureRun) -> list[ResultRow]:
    return [
        _row(run, BUS4, 4, strategy, tenths=tenths, local_tenths=local)
        for strategy in STRATEGIES
        for tenths in (3, 7)
        for local in run.numbers("tenths")
    ]


def _ef_stays(rows: ResultRows) -> Judgement:
    ef = _line(rows, EF, "locality", "frames", pe=0.7)
    own = _line(rows, ADVERTISE, "locality", "frames", pe=0.7)
    ours = f"EF {_told(ef)}; advertise {_told(own)} frames from locality 0 to 1, pe = 0.7"
    return ruled({y for _, y in ef} == {3.0} and own[-1][1] == 0, ours, "events for the own broker leave it")


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
            "Locality is nothing to event forwarding, and spares all frames where filters are known",
            "EF 3, PF to 0",
            _ef_stays,
        ),
        _waits("003-20-order", "PF falls to no frames and RN to one", "0 and 1.0"),
    ),
    plots=(
        PlotSpec(
            "Frames an event, pe = 0.7", "locality", "frames", "strategy", "locality", "frames", where={"pe": 0.7}
        ),
    ),
    seconds={Scale.SMALL: 12, Scale.PAPER: 30},
    is_exact=True,
)
FIGURES_OF_FRAMES: Final = (FIGURE_10, FIGURE_13, FIGURE_16, FIGURE_20)
