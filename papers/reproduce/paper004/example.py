"""Figures 2, 3 and 5 of paper 004: determinants of its example table, and an index of integers.

Law: what is expected was read in the paper. The engine `sff` must exclude as many interfaces as the model does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tamis.native import Table
from tamis.papers.models.forwarding import ForwardingTable
from tamis.papers.reproduce.examples import TABLE, above, below, satisfied
from tamis.papers.reproduce.figure import (
    Criterion,
    Disagreement,
    FigureRun,
    Judgement,
    PaperFigure,
    ResultRow,
    ResultRows,
    Scale,
)
from tamis.papers.reproduce.judging import chosen, ruled
from tamis.protocol.filters import Filter
from tamis.protocol.values import Value

_DETERMINANTS: Final = {"price": "I1 I3", "stock": "I3"}
_MESSAGES: Final[dict[str, tuple[Mapping[str, Value], int, str]]] = {
    "no price, no stock": ({"dest": "Milano"}, 10, "I1 I3"),
    "no price, no stock, r = 1": ({"dest": "Milano"}, 1, "I1 I3"),
    "a price alone": ({"price": 100}, 10, "I3"),
    "a price alone, r = 1": ({"price": 100}, 1, "none"),
    "a stock alone": ({"stock": "MSFT"}, 10, "I1 I3"),
    "both": ({"price": 100, "stock": "MSFT"}, 10, "none"),
    "r = 0": ({"dest": "Milano"}, 0, "none"),
}
"""Messages and rounds, and the interfaces that the text of section 4.3 excludes for them."""
_COPIES: Final = 64
_QUANTITY: Final = (
    *(below("quantity", 5), below("quantity", 20), below("quantity", 350)),
    *(above("quantity", 0), above("quantity", 3), above("quantity", 50), above("quantity", 200)),
)


def _measure(run: FigureRun) -> list[ResultRow]:
    run.say("asking the model and sff")
    model = ForwardingTable(TABLE)
    rows = dict.fromkeys(
        sorted({name for filters in TABLE.values() for each in filters for name in _names(each)}), "none"
    )
    rows |= {name: _named(interfaces) for name, interfaces in model.determinants}
    told: list[ResultRow] = [
        {"what": "determinant", "of": name, "ours": ours, "paper": _DETERMINANTS.get(name, "none")}
        for name, ours in rows.items()
    ]
    for name, (message, rounds, expected) in _MESSAGES.items():
        excluded = model.excluded(message, rounds)
        if (engine := _excluded_by_sff(message, rounds)) != _COPIES * len(excluded):
            raise Disagreement(
                f"{name}: sff excludes {engine} interfaces of {_COPIES} tables, the model {len(excluded)} of one"
            )
        told.append({"what": "excluded", "of": name, "ours": _named(excluded), "paper": expected})
    found = ", ".join(satisfied(_QUANTITY, {"product": "apples", "quantity": 10, "price": 2500}))
    expected = "quantity < 20, quantity < 350, quantity > 0, quantity > 3"
    return [*told, {"what": "index", "of": "figure 5, quantity = 10", "ours": found, "paper": expected}]


def _names(filter_: Filter) -> list[str]:
    return [constraint.name for constraint in filter_.constraints]


def _named(interfaces: frozenset[int]) -> str:
    return " ".join(f"I{number}" for number in sorted(interfaces)) or "none"


def _excluded_by_sff(message: Mapping[str, Value], rounds: int) -> int:
    """Of so many copies of the table, each with interfaces of its own: sff sorts its rows after dozens of changes."""
    with Table("sff", options={"rounds": rounds}) as table:
        for copy in range(_COPIES):
            for interface, filters in TABLE.items():
                for filter_ in filters:
                    table.add(filter_, 3 * copy + interface)
        table.match(message)
        return table.stats().excluded


def _as_in_the_paper(what: str, rows: ResultRows) -> Judgement:
    own = chosen(rows, what=what)
    wrong = [row for row in own if row["ours"] != row["paper"]]
    told = "; ".join(f"{row['of']}: {row['ours']}" for row in wrong or own)
    return ruled(not wrong, f"{len(own) - len(wrong)} of {len(own)}: {told}", "the engine or our reading is wrong")


_SETTINGS: Final = {"messages": len(_MESSAGES)}
EXAMPLE: Final = PaperFigure(
    paper="004",
    id="example",
    title="The example table and its determinants (figures 2, 3, 5)",
    shows="a table of three interfaces; price is a determinant for I1 and I3, stock for I3, and nothing else is one. "
    "Figure 5: the constraints on an integer that quantity = 10 satisfies.",
    chosen="the contents of figure 2 are lost in the text; those of figure 4 of paper 000 have the same "
    "determinants and "
    "are taken.",
    settings={Scale.SMALL: _SETTINGS, Scale.PAPER: _SETTINGS},
    measure=_measure,
    criteria=(
        Criterion(
            "004-determinants",
            "Price is a determinant for I1 and I3, stock for I3, and no other name for any",
            "section 4.3",
            lambda rows: _as_in_the_paper("determinant", rows),
        ),
        Criterion(
            "004-excluded",
            "An interface is excluded by a determinant that the message lacks, the most selective name first",
            "section 4.3",
            lambda rows: _as_in_the_paper("excluded", rows),
        ),
        Criterion(
            "004-index",
            "quantity = 10 satisfies < 20, < 350, > 3 and > 0",
            "figure 5",
            lambda rows: _as_in_the_paper("index", rows),
        ),
    ),
    seconds={Scale.SMALL: 1, Scale.PAPER: 1},
    is_exact=True,
)
