"""Section 2.1 of paper 004: do advertisements, requests and replies, to the letter, keep tables right?

Law: networks are simulated, real cores and all, and judged by the simulator's oracle; a run is a function of its seed.
"""

from __future__ import annotations

from typing import Final

from tamis.papers.measures import literal
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
from tamis.papers.reproduce.judging import chosen, number, ruled, undecided

_TOLD_BY: Final = 20
"""Networks without a loss that tell that nothing is lost."""
_CHOICE: Final = 4
"""Filters that clients choose among: losses need filters that several routers ask for."""


def _measure(run: FigureRun) -> list[ResultRow]:
    rows: list[ResultRow] = []
    for prune in literal.PRUNINGS:
        lost = [_of_network(run, prune, run.seed + number) for number in range(run.whole("networks"))]
        for moment, counts in literal.count(lost).items():
            rows.append({"moment": moment, "pruned by": prune, **counts})
    return rows


def _of_network(run: FigureRun, prune: str, seed: int) -> dict[str, int]:
    """Messages that are missing in one network, by moment."""
    key = f"losses {prune} network {seed}"
    found: dict[str, int] = run.cell(
        key, lambda: literal.literal(seed, _CHOICE, prune) | literal.changed(seed, _CHOICE, prune)
    )
    return found


def _none_missing(moment: str, why: str, rows: ResultRows) -> Judgement:
    own = [*chosen(rows, moment=moment)]
    told = "; ".join(
        f"pruned by {row['pruned by']}: {number(row, 'with losses'):.0f} of {number(row, 'networks'):.0f} "
        f"networks miss "
        f"{number(row, 'missing'):.0f} messages"
        for row in own
    )
    lost = sum(number(row, "missing") for row in own)
    if not lost and all(number(row, "networks") < _TOLD_BY for row in own):
        return undecided(
            told or "no network came to that", f"that few networks lose nothing says little: {_TOLD_BY} do"
        )
    return ruled(not lost, told, why)


LOSSES: Final = PaperFigure(
    paper="004",
    id="losses",
    title="Messages that the protocol loses (section 2.1)",
    shows="receiver advertisements widen the tables on their way and stop where nothing is new; requests and replies "
    "balance that. No measurement; the text proposes the protocol as one that works.",
    chosen="random networks of 5 to 20 routers with links that do not fail, a few filters that many ask for. An "
    "advertisement stops where the predicate of the interface already covers it, or, as a second reading, where it has "
    "the same bytes.",
    settings={Scale.SMALL: {"networks": _TOLD_BY}, Scale.PAPER: {"networks": 60}},
    measure=_measure,
    criteria=(
        Criterion(
            "004-advertised",
            "Advertisements alone reach everybody who will need them",
            "stopping saves advertisements on paths that are set up already",
            lambda rows: _none_missing(
                "advertised",
                "A path that is set up for one issuer is not set up for another one's senders. The interface has the "
                "predicate already, so the advertisement stops, and routers behind never hear of the issuer. One round "
                "of requests repairs every network",
                rows,
            ),
        ),
        Criterion(
            "004-requested",
            "Requests and replies make the tables right",
            "balanced by sender requests",
            lambda rows: _none_missing("one round", "a reply narrows what a later advertisement had widened", rows),
        ),
        Criterion(
            "004-changed",
            "Tables stay right while predicates change",
            "the same",
            lambda rows: _none_missing(
                "changed on one tree",
                "A reply that was collected before a change narrows an interface after it. Statements have no "
                "versions, so that nothing tells which is later. It takes a change during a request, and few networks "
                "show it",
                rows,
            ),
        ),
    ),
    plots=(
        PlotSpec(
            *("Networks in which messages are missing", "moment", "with losses", "pruned by"),
            *("what happens while messages are on their way", "number of networks"),
            kind="bars",
        ),
    ),
    seconds={Scale.SMALL: 30, Scale.PAPER: 100},
    is_exact=True,
)
