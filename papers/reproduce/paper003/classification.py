"""Table 1 of paper 003: 17 algorithms, ordered by traffic, memory, filtering and growth, by the cost model.

Law: no router takes part; a claim is a list of orderings that section 3.5 states, each of which must hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final, NamedTuple

from tamis.papers.models.das import ALGORITHMS, Algorithm
from tamis.papers.models.das_costs import costs, crowd
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
from tamis.papers.reproduce.judging import Judge, chosen, number, read, ruled
from tamis.papers.reproduce.paper003.load import network

_SHOWN: Final = (
    *("frames", "direct", "link_most", "stored", "stored_busiest", "evaluated", "evaluated_busiest"),
    *("compared_most", "visits_busiest", "subscribe", "unsubscribe", "unsubscribe_most", "hops"),
)


class Ordering(NamedTuple):
    """Algorithms of `less` have less of `what` than those of `more`; `or_equal`: not more."""

    what: str
    less: Sequence[str]
    more: Sequence[str]
    or_equal: bool = False

    def __str__(self) -> str:
        return f"{self.what} of {', '.join(self.less)} {'<=' if self.or_equal else '<'} {', '.join(self.more)}"

    def holds(self, found: dict[str, ResultRow]) -> bool:
        less = max(number(found[name], self.what) for name in self.less)
        more = min(number(found[name], self.what) for name in self.more)
        return less <= more if self.or_equal else less < more


def _of(kind: str, numbers: Sequence[int]) -> list[str]:
    return [f"{kind}{number_}" for number_ in numbers]


_KINDS: Final = ("PF", "RN")
_TRAFFIC: Final = (
    *(Ordering("frames", _of(kind, (5, 8)), _of(kind, (2, 4, 7))) for kind in _KINDS),
    *(Ordering("frames", _of(kind, (5, 8)), ["EF"]) for kind in _KINDS),
    *(Ordering("frames", [f"PF{each}"], [f"RN{each}"]) for each in (1, 3, 5, 6, 8)),
    *(Ordering("link_most", _of(kind, (5, 8)), _of(kind, (2, 4, 7))) for kind in _KINDS),
)
_MEMORY: Final = (
    Ordering("stored", ["EF"], [name for name in ALGORITHMS if name != "EF"], or_equal=True),
    *(Ordering("stored", [f"{kind}{each + 3}"], [f"{kind}{each}"]) for kind in _KINDS for each in (3, 4, 5)),
    *(Ordering("stored", [f"{kind}5"], _of(kind, (3, 4))) for kind in _KINDS),
    *(Ordering("stored", [f"{kind}8"], _of(kind, (6, 7))) for kind in _KINDS),
    Ordering("stored", _of("PF", (3, 4, 5, 6, 7, 8)), _of("PF", (1, 2))),
    Ordering("stored_busiest", [name for name in ALGORITHMS if name[:2] == "EF"], _of("RN", (1, 2))),
)
_FILTERING: Final = (
    *(Ordering("evaluated", _of(kind, (3, 6)), _of(kind, (1, 2))) for kind in _KINDS),
    *(Ordering("evaluated_busiest", [f"PF{each}"], [f"RN{each}"]) for each in (5, 8)),
)
_COMPARED: Final = {
    "at the broker that compares an event with most": "compared_most",
    "at the busiest broker, over all events": "evaluated_busiest",
    "at all brokers together": "evaluated",
}
"""What is added up, by its column."""
_GROWTH: Final = (
    Ordering("visits_busiest", _of("PF", range(1, 9)), ["EF", *_of("RN", range(1, 9))]),
    *(Ordering("evaluated_busiest", _of(kind, (5, 8)), _of(kind, (1, 2))) for kind in _KINDS),
)
_UNSUBSCRIBING: Final = (
    *(Ordering("unsubscribe_most", [f"{kind}5"], [f"{kind}8"]) for kind in _KINDS),
    *(Ordering("subscribe", [f"{kind}8"], [f"{kind}5"]) for kind in _KINDS),
)


def _measure(run: FigureRun) -> list[ResultRow]:
    setting = crowd(network("bus4").tree, ("b2",), Fraction(run.whole("tenths"), 10))
    rows: list[ResultRow] = []
    for name, algorithm in ALGORITHMS.items():

        def one(algorithm: Algorithm = algorithm) -> dict[str, float]:
            found = costs(algorithm, setting)
            return {what: float(getattr(found, what)) for what in _SHOWN}

        rows.append({"algorithm": name, "kind": name[:2], **run.cell(f"table 1, {name}", one)})
    return rows


def _all_hold(orderings: Sequence[Ordering], told: Sequence[str], why: str) -> Judge:
    """Judge whether all of the orderings hold, and tell (algorithm, what) of some."""

    def judge(rows: ResultRows) -> Judgement:
        found = {str(row["algorithm"]): row for row in rows}
        wrong = [str(each) for each in orderings if not each.holds(found)]
        what = orderings[0].what
        some = ", ".join(f"{name} {number(chosen(rows, algorithm=name)[0], what):.2f}" for name in told)
        ours = f"{len(orderings) - len(wrong)} of {len(orderings)} orderings; {what}: {some}"
        return ruled(not wrong, ours, f"{why}; not so: {'; '.join(wrong)}")

    return judge


def _proxies(rows: ResultRows) -> Judgement:
    """Section 3.5.2 says of PF5 and PF8 what one broker filters: what it needs for its neighbours, and no more."""
    return read(
        *(
            Reading(name, _filter_less(what)(rows), is_suggested=what == "compared_most")
            for name, what in _COMPARED.items()
        )
    )


def _filter_less(what: str) -> Judge:
    return _all_hold(
        [Ordering(what, _of(kind, (5, 8)), _of(kind, (4, 7))) for kind in _KINDS],
        ("PF4", "PF8", "RN4", "RN8"),
        "each of these brokers on the way compares the event again, where a notification of the others goes on by its "
        "address",
    )


def _claim(
    name: str,
    claim: str,
    orderings: Sequence[Ordering],
    told: Sequence[str],
    why: str = "the model orders them otherwise",
) -> Criterion:
    return Criterion(f"003-table-1-{name}", claim, "orders of section 3.5", _all_hold(orderings, told, why))


TABLE_1: Final = PaperFigure(
    paper="003",
    id="table-1",
    title="Table 1: a classification of 17 algorithms",
    shows="for event forwarding, eight of profile forwarding and eight with rendezvous nodes, from ++ to -- : network "
    "traffic, memory, efficiency and scalability.",
    chosen="the columns of the signs are lost in the text at hand; judged are the orders that section 3.5 states. Four "
    "brokers in a line, three subscribers each, who share interests, repeat themselves and ask for less besides; half "
    "of the events match. Direct notifications are in the model alone: no router of Tamis dials a client.",
    settings={Scale.SMALL: {"tenths": 5}, Scale.PAPER: {"tenths": 5}},
    measure=_measure,
    criteria=(
        _claim(
            "traffic", "Proxies make the least traffic, and roots more than none", _TRAFFIC, ("EF", "PF2", "PF8", "RN8")
        ),
        _claim(
            "memory", "Covering and optimistic storing take less memory", _MEMORY, ("EF", "PF1", "PF5", "PF8", "RN8")
        ),
        _claim("filtering", "Covering spares filtering", _FILTERING, ("PF1", "PF3", "PF8", "RN8")),
        Criterion(
            "003-table-1-proxies",
            "Where brokers stand for others, an event is compared with fewest profiles",
            "orders of section 3.5",
            _proxies,
        ),
        _claim("growth", "The load of EF and of roots does not fall with brokers", _GROWTH, ("EF", "PF8", "RN8")),
        _claim(
            "unsubscribing",
            "What is not stored makes unsubscribing dearer, and subscribing cheaper",
            _UNSUBSCRIBING,
            ("PF5", "PF8", "RN5", "RN8"),
        ),
    ),
    plots=tuple(
        PlotSpec(title, "algorithm", what, "kind", "algorithm", label, kind="bars")
        for title, what, label in (
            ("Frames per event", "frames", "frames per event"),
            ("Profiles stored at all brokers", "stored", "number of profiles"),
            ("Profiles that an event is compared with", "evaluated", "profiles per event"),
        )
    ),
    seconds={Scale.SMALL: 3, Scale.PAPER: 3},
    is_exact=True,
)
