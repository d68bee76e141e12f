"""Figure 6 of paper 004: one index for all operators on strings.

Law: expected is what each constraint says alone (`protocol/evaluate.py`).
"""

from __future__ import annotations

import random
from typing import Final

from tamis.papers.reproduce.examples import satisfied, told
from tamis.papers.reproduce.figure import Criterion, FigureRun, Judgement, PaperFigure, ResultRow, ResultRows, Scale
from tamis.papers.reproduce.judging import chosen, number, ruled
from tamis.protocol.evaluate import constraint_holds
from tamis.protocol.filters import Constraint, Op

_OPS: Final = (Op.EQ, Op.LT, Op.GT, Op.PREFIX, Op.SUFFIX, Op.CONTAINS)
_LETTERS: Final = "abn"


def _word(dice: random.Random) -> str:
    return "".join(dice.choices(_LETTERS, k=dice.randint(1, 5)))


def _measure(run: FigureRun) -> list[ResultRow]:
    dice = random.Random(f"figure 6 {run.seed}")
    words = sorted({_word(dice) for _ in range(run.whole("words"))})
    constraints = [Constraint("s", op, (word,)) for word in words for op in _OPS]
    rows: list[ResultRow] = []
    for text in ["banana", "abba", "zzz", *(_word(dice) for _ in range(run.whole("inputs")))]:
        run.say(f"looking up {text}")
        expected = [told(each) for each in constraints if constraint_holds(each, {"s": text})]
        found = satisfied(constraints, {"s": text})
        for op in _OPS:
            sign = told(Constraint("s", op, ("",))).split()[1]
            ours, theirs = ([each for each in all_ if each.split()[1] == sign] for all_ in (found, expected))
            rows.append({"input": text, "operator": sign, "found": len(ours), "wrong": len(set(ours) ^ set(theirs))})
    return rows


def _all_operators(rows: ResultRows) -> Judgement:
    sums = {op: sum(number(row, "found") for row in chosen(rows, operator=op)) for op in dict.fromkeys(_signs(rows))}
    wrong = sum(number(row, "wrong") for row in rows)
    told_sums = ", ".join(f"{int(count)} by {op}" for op, count in sums.items())
    return ruled(
        wrong == 0, f"{len(rows) // len(sums)} inputs: {told_sums}; {wrong:.0f} wrong", "an index answers wrongly"
    )


def _signs(rows: ResultRows) -> list[str]:
    return [str(row["operator"]) for row in rows]


_SETTINGS: Final = {"words": 40, "inputs": 20}
FIGURE_6: Final = PaperFigure(
    paper="004",
    id="6",
    title="one index for all operators on strings",
    shows="a ternary search trie whose nodes carry =, <, >, prefix (pf), suffix (sf) and substring (ss) "
    "constraints, with "
    "chains that link the less-than and greater-than ones.",
    chosen="the strings of the drawing are not in the text; 40 short words over three letters, under all six "
    "operators. "
    "Branches of our trie are sorted arrays and not ternary nodes.",
    settings={Scale.SMALL: _SETTINGS, Scale.PAPER: _SETTINGS},
    measure=_measure,
    criteria=(
        Criterion(
            "004-6",
            "One index finds the satisfied constraints of all six operators",
            "section 4.2",
            _all_operators,
        ),
    ),
    seconds={Scale.SMALL: 1, Scale.PAPER: 1},
    is_exact=True,
)
