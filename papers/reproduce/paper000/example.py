"""Figures 1, 2, 4, 5 and 7 of paper 000: its example table, and which constraints one attribute satisfies.

Law: what is expected was read in the paper, and asked of no program.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tamis.papers.reproduce.examples import above, below, equal, forwarded, satisfied
from tamis.papers.reproduce.figure import Criterion, FigureRun, Judgement, PaperFigure, ResultRow, ResultRows, Scale
from tamis.papers.reproduce.judging import chosen, ruled
from tamis.protocol.values import Value

_FIGURE_1: Final[Mapping[str, Value]] = {"dest": "MXP", "price": 600, "upgradeable": True}
_CHEAPER: Final[Mapping[str, Value]] = {"dest": "MXP", "price": 300, "upgradeable": True}
MESSAGES: Final[dict[str, tuple[Mapping[str, Value], str]]] = {
    "the message of figure 1": (_FIGURE_1, "none"),
    "a cheap flight to Milano": ({"dest": "Milano", "price": 300}, "I1"),
    "from Denver with UA": ({"orig": "Denver", "airline": "UA", "dest": "Milano", "price": 499}, "I1 I2"),
    "an upgrade of UA": ({"airline": "UA", "upgradeable": True, "price": 600}, "I2"),
    "MSFT at 150": ({"stock": "MSFT", "price": 150, "quantity": 2000}, "I3"),
    "DYS at 150": ({"stock": "DYS", "price": 150, "quantity": 2000}, "I1"),
    "a cheap flight to New York": ({"dest": "New York", "price": 199}, "I2"),
}
"""Messages, with the interfaces that figure 4 sends them to."""
_FIGURE_2: Final = (equal("dest", "MXP"), below("price", 500))
_QUANTITY: Final = (
    *(equal("quantity", 200), below("quantity", 5), below("quantity", 20), below("quantity", 350)),
    *(above("quantity", 0), above("quantity", 3), above("quantity", 50), above("quantity", 200)),
)
_FIGURE_7: Final = "quantity < 20, quantity < 350, quantity > 0, quantity > 3"


def _measure(run: FigureRun) -> list[ResultRow]:
    run.say("asking every engine")
    rows: list[ResultRow] = [
        {"what": "forwarded", "of": name, "ours": _named(forwarded(message)), "paper": expected}
        for name, (message, expected) in MESSAGES.items()
    ]
    for name, message, expected in (
        ("figure 2, the message of figure 1", _FIGURE_1, "dest = MXP"),
        ("figure 2, at half the price", _CHEAPER, "dest = MXP, price < 500"),
    ):
        rows.append(_constraints(name, ", ".join(satisfied(_FIGURE_2, message)), expected))
    rows.append(_constraints("figure 7", ", ".join(satisfied(_QUANTITY, {"quantity": 10})), _FIGURE_7))
    return rows


def _constraints(name: str, ours: str, expected: str) -> ResultRow:
    return {"what": "satisfied", "of": name, "ours": ours, "paper": expected}


def _named(interfaces: list[int]) -> str:
    return " ".join(f"I{number}" for number in interfaces) or "none"


def _all_as_in_the_paper(what: str, rows: ResultRows) -> Judgement:
    own = chosen(rows, what=what)
    wrong = [row for row in own if row["ours"] != row["paper"]]
    told = "; ".join(f"{row['of']}: {row['ours']}" for row in wrong or own)
    return ruled(not wrong, f"{len(own) - len(wrong)} of {len(own)}: {told}", "an engine or our reading is wrong")


EXAMPLE: Final = PaperFigure(
    paper="000",
    id="example",
    title="The example table",
    shows="three interfaces with seven filters (figure 4), a message (1), a filter (2), and the constraints on "
    "quantity "
    "that quantity = 10 satisfies (7).",
    chosen="messages beside that of figure 1, so that every filter of the table decides something.",
    settings={Scale.SMALL: {"messages": len(MESSAGES)}, Scale.PAPER: {"messages": len(MESSAGES)}},
    measure=_measure,
    criteria=(
        Criterion(
            "000-example",
            "A message goes to the interfaces of figure 4 one of whose filters it satisfies",
            "figure 4, and the definition under it",
            lambda rows: _all_as_in_the_paper("forwarded", rows),
        ),
        Criterion(
            "000-constraints",
            "quantity = 10 satisfies < 20, < 350, > 3 and > 0",
            "figure 7",
            lambda rows: _all_as_in_the_paper("satisfied", rows),
        ),
    ),
    seconds={Scale.SMALL: 1, Scale.PAPER: 1},
    is_exact=True,
)
