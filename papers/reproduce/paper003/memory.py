"""Figure 21 of paper 003: how many profiles the brokers can keep, and what they take then.

Law: what the fullest broker stores is the cost model's; bytes are those that C counts in the tables of one router that
holds as much. No router swaps here: it has a limit of memory and refuses what is beyond it, so that capacity stands in
the place of the paper's decline.
"""

from __future__ import annotations

from array import array
from fractions import Fraction
from functools import partial
from typing import Final

from tamis.native import Table
from tamis.native.batch import Batch
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
from tamis.papers.reproduce.judging import chosen, listed, number, points, read, ruled
from tamis.papers.reproduce.paper003.brokers import ENGINE, MODELS, profile
from tamis.papers.reproduce.paper003.load import EVEN, OURS_S, UnitCosts, asked, network, rate, stored

_PE: Final = Fraction(8, 10)
_ALL: Final = ("EF", "RN", "PF")
_PRICES: Final = {"rate": EVEN, "rate_compared": UnitCosts(compare=Fraction(1, 2)), "rate_ours": OURS_S}
_READINGS: Final = {
    "each piece of work costs one unit": "rate",
    "half a unit is paid for each broker's profiles that an event is compared with": "rate_compared",
    "a piece costs what it costs our routers": "rate_ours",
}


def _bytes(own: int, others: int) -> int:
    """What a router's two tables take: its clients' profiles, and those of other routers."""
    with Table(ENGINE, hash_seed=1) as local, Table(ENGINE, hash_seed=1) as remote:
        for table, count, first in ((local, own, 0), (remote, others, own)):
            if count:
                table.add_many(Batch.of(profile(0, first + value) for value in range(count)), array("I", [1]) * count)
        return local.stats().memory_bytes + remote.stats().memory_bytes


def _busiest(strategy: str, total: int) -> tuple[int, int]:
    """(own, of others) of the broker that stores most, with `total` unique profiles at all."""
    setting = asked(network("bus4").tree, _PE)
    count = len(setting.tree.brokers)
    most = max(stored(MODELS[strategy], setting).values())
    return total // count, total // count * (most - 1)


def _measure(run: FigureRun) -> list[ResultRow]:
    rows: list[ResultRow] = []
    for name in _ALL:
        setting = asked(network("bus4").tree, _PE)
        rates = {what: float(rate(MODELS[name], setting, costs)) for what, costs in _PRICES.items()}
        for total in run.numbers("totals"):
            own, others = _busiest(name, total)
            size = run.cell(f"figure 21, {name}, {total}", partial(_bytes, own, others))
            rows.append({"strategy": name, "profiles": total, "kept": own + others, "memory_bytes": size, **rates})
    (full,) = chosen(rows, strategy="PF", profiles=run.whole("full"))
    return [
        {**row, "taken": number(row, "rate") if number(row, "kept") <= number(full, "kept") else 0.0} for row in rows
    ]


def _capacity(rows: ResultRows, strategy: str, what: str) -> float:
    """The profiles at which a broker is as full as one of PF is where it is said to be full, between the points that
    were built."""
    limit = max(number(row, what) for row in chosen(rows, strategy="PF") if number(row, "taken"))
    line = points(chosen(rows, strategy=strategy), "profiles", what)
    below = [point for point in line if point[1] <= limit]
    above = [point for point in line if point[1] > limit]
    if not above:
        return below[-1][0]
    (x0, y0), (x1, y1) = below[-1], above[0]
    return x0 + (x1 - x0) * (limit - y0) / (y1 - y0)


def _ef_keeps_more(rows: ResultRows) -> Judgement:
    return read(
        Reading("by the profiles that a broker keeps", _keeps_more(rows, "kept"), is_suggested=True),
        Reading("by the bytes of our tables", _keeps_more(rows, "memory_bytes")),
    )


def _keeps_more(rows: ResultRows, what: str) -> Judgement:
    pf, ef = (_capacity(rows, name, what) for name in ("PF", "EF"))
    ours = f"where a broker of PF is full with {pf:,.0f} profiles, EF keeps {ef:,.0f}: {ef / pf:.1f} times"
    why = "a table of ours grows by steps, so that a profile of a fuller one does not take as many bytes"
    return ruled(3.3 <= ef / pf <= 4.2, ours, why)


def _pf_is_best_before(rows: ResultRows) -> Judgement:
    ef, pf = (number(chosen(rows, strategy=name)[0], "rate") for name in ("EF", "PF"))
    return ruled(pf > ef, f"{listed((pf, ef))} events a unit of work with PF and EF at pe = 0.8", "EF does less work")


def _rn_is_last(rows: ResultRows) -> Judgement:
    """The text names the filtering that RN adds as the reason, which costs what is compared."""
    return read(*(Reading(name, _below_ef(rows, what), what == "rate_compared") for name, what in _READINGS.items()))


def _below_ef(rows: ResultRows, what: str) -> Judgement:
    pf, ef, rn = lines = [number(chosen(rows, strategy=name)[0], what) for name in ("PF", "EF", "RN")]
    told = listed(lines, 0 if pf > 1_000 else 2)
    why = (
        "EF sends every event on from the middle, and RN a share; comparing with all profiles at the root costs nothing"
    )
    return ruled(pf > ef > rn, f"{told} events a unit of work, or a second, with PF, EF and RN", why)


FIGURE_21: Final = PaperFigure(
    paper="003",
    id="21",
    title="events a second over the number of profiles",
    shows="PF is best until memory is full at 100,000 profiles, then EF, which holds to 350,000; RN is below EF.",
    chosen="a line of four brokers, unique profiles, pe = 0.8. The memory of a router ends at what 100,000 profiles "
    "take with PF; a router refuses more, where the paper's swapped. Routers are not asked: what they take for each "
    "piece of work is a price of the model.",
    settings={
        Scale.SMALL: {"totals": (10_000, 20_000, 50_000, 100_000, 200_000), "full": 20_000},
        Scale.PAPER: {"totals": (10_000, 50_000, 100_000, 200_000, 300_000, 400_000, 500_000), "full": 100_000},
    },
    measure=_measure,
    criteria=(
        Criterion(
            "003-21-capacity", "EF keeps about four times the profiles of PF", "350,000 and 100,000", _ef_keeps_more
        ),
        Criterion("003-21-pf", "PF is best while memory lasts", "best", _pf_is_best_before),
        Criterion("003-21-rn", "RN takes less than EF where most events match", "below EF", _rn_is_last),
    ),
    plots=(
        PlotSpec(
            *(
                "Memory of the fullest router",
                "profiles",
                "memory_bytes",
                "strategy",
                "number of profiles",
                "memory (bytes)",
            ),
            log_x=True,
            log_y=True,
        ),
        PlotSpec(
            *(
                "Events per unit of work, none where memory is full",
                "profiles",
                "taken",
                "strategy",
                "number of profiles",
                "events per unit of work",
            ),
            log_x=True,
        ),
    ),
    seconds={Scale.SMALL: 4, Scale.PAPER: 20},
    is_exact=True,
)
