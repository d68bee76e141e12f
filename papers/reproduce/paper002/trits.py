"""Figures 4 and 5 of paper 002: how trits are combined, and a tree that is annotated with them.

Law: what the model of the paper (`pst.py`) computes node by node is compared with what a trit means: of two trits all
that they leave possible, and of a node every event that reaches it. The picture of figure 5 is lost; the tree is ours,
over the five attributes of figure 2, with the one subscription and the event of that figure that the text has.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from tamis.native import ENGINES, InterfaceKind, Table
from tamis.papers.models.pst import PaperTree, StarNode, Trit, alternative, parallel
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
from tamis.papers.reproduce.judging import chosen, number, ruled
from tamis.protocol.filters import Constraint, Filter, Op

SCHEMA: Final = ("a1", "a2", "a3", "a4", "a5")
EVENT: Final = (1, 2, 3, 1, 2)
LINKS: Final = 3
SUBSCRIPTIONS: Final[tuple[tuple[dict[str, object], int], ...]] = (
    ({"a1": 1, "a2": 2, "a3": 3, "a5": 3}, 0),  # the paper's
    ({"a1": 1, "a2": 2, "a3": 3}, 1),
    ({"a1": 1, "a3": 3, "a5": 2}, 0),
    ({"a2": 2, "a4": 1}, 2),
    ({"a2": 2}, 1),
    ({"a1": 2, "a2": 2}, 0),
    ({"a1": 1, "a2": 1, "a4": 3}, 2),
)
"""Subscriptions with their links; the event matches four, as that of the paper's figure 2 does."""
_VALUES: Final = (1, 2, 3, 0)
"""Those that subscriptions name, and one for all others."""
_POSSIBLE: Final = {Trit.YES: {True}, Trit.NO: {False}, Trit.MAYBE: {True, False}}


def _measure(run: FigureRun) -> list[ResultRow]:
    run.say("combining trits")
    return [*_combined(), *_annotated(), *_matched()]


def _combined() -> Iterator[ResultRow]:
    for one, other in product(Trit, repeat=2):
        either = _POSSIBLE[one] | _POSSIBLE[other]
        both = {a or b for a, b in product(_POSSIBLE[one], _POSSIBLE[other])}
        for name, found, possible in (
            ("alternative", alternative((one,), (other,)), either),
            ("parallel", parallel((one,), (other,)), both),
        ):
            means = next(trit.value for trit, values in _POSSIBLE.items() if values == possible)
            yield {
                "what": "figure 4",
                "of": f"{name} {one.value} {other.value}",
                "ours": found[0].value,
                "means": means,
            }


def _nodes(node: StarNode, path: tuple[int | str, ...]) -> Iterator[tuple[tuple[int | str, ...], StarNode]]:
    """Every node below one, with the branches that lead to it; `*` also where a test was left out."""
    path = (*path, *"*" * (node.level - len(path)))
    yield path, node
    for value, child in node.values.items():
        yield from _nodes(child, (*path, int(str(value))))
    if node.star is not None:
        yield from _nodes(node.star, (*path, "*"))


def _annotated() -> Iterator[ResultRow]:
    (root,) = _tree().roots.values()
    for path, node in _nodes(root, ()):
        for link in range(LINKS):
            yield {
                "what": "figure 5",
                "of": f"{' '.join(map(str, path)) or 'the root'}, link {link}",
                "ours": node.trits[link].value,
                "means": _meant(path, link),
            }


def _meant(path: tuple[int | str, ...], link: int) -> str:
    """The trit of a node by every event that reaches it: does one of the subscriptions below want it?"""
    below = [wanted for wanted, of in SUBSCRIPTIONS if of == link and _leads_to(wanted, path)]
    rest = SCHEMA[len(path) :]
    wants = {
        any(all(wanted.get(name, value) == value for name, value in zip(rest, values, strict=True)) for wanted in below)
        for values in product(_VALUES, repeat=len(rest))
    }
    return Trit.MAYBE.value if len(wants) == 2 else Trit.YES.value if wants == {True} else Trit.NO.value


def _leads_to(wanted: dict[str, object], path: tuple[int | str, ...]) -> bool:
    return all(wanted.get(name, "*") == branch for name, branch in zip(SCHEMA, path, strict=False))


def _tree() -> PaperTree:
    return PaperTree(SCHEMA, SUBSCRIPTIONS, LINKS)


def _matched() -> Iterator[ResultRow]:
    message = dict(zip(SCHEMA, EVENT, strict=True))
    event: dict[str, object] = {**message}
    central, steps = _tree().match(event)
    refined, refining = _tree().match_links(event, range(LINKS))
    matched = {name: _by_engine(name, message) for name in ENGINES}
    counts = {name: len(found) for name, found in matched.items()}
    if {frozenset(SUBSCRIPTIONS[place][1] for place in found) for found in matched.values()} != {frozenset(central)}:
        raise Disagreement(f"engines find {matched}, the tree of the paper links {sorted(central)}")
    yield {
        "what": "figure 2",
        "of": "the event 1 2 3 1 2",
        "ours": " ".join(map(str, sorted(refined))),
        "means": " ".join(map(str, sorted(central))),
        "subscriptions": max(counts.values()) if len(set(counts.values())) == 1 else None,
        "steps": steps,
        "steps of links": refining,
    }


def _by_engine(name: str, message: dict[str, int]) -> frozenset[int]:
    """The places of the subscriptions that an engine finds."""
    with Table(name, hash_seed=1) as table:
        table.set_interface(0, InterfaceKind.CLIENT)
        handles = {
            table.add(Filter(tuple(Constraint(each, Op.EQ, (int(str(v)),)) for each, v in wanted.items())), 0): place
            for place, (wanted, _) in enumerate(SUBSCRIPTIONS)
        }
        return frozenset(handles[handle] for _, handle in table.match_all({**message}))


def _all_mean(rows: ResultRows, what: str, count: str) -> Judgement:
    own = chosen(rows, what=what)
    wrong = [f"{row['of']}: {row['ours']}, not {row['means']}" for row in own if row["ours"] != row["means"]]
    return ruled(not wrong, f"{len(own) - len(wrong)} of {len(own)} {count}", "; ".join(wrong))


def _annotation_is_true(rows: ResultRows) -> Judgement:
    own = chosen(rows, what="figure 5")
    untrue = [str(row["of"]) for row in own if row["ours"] not in {"M", row["means"]}]
    careful = [str(row["of"]) for row in own if row["ours"] == "M" != row["means"]]
    told = f"; Maybe where a search of all children would find Yes: {', '.join(careful)}" if careful else ""
    ours = f"{len(own) - len(untrue)} of {len(own)} trits are true of every event that reaches their node{told}"
    return ruled(not untrue, ours, "; ".join(untrue))


def _four_match(rows: ResultRows) -> Judgement:
    (row,) = chosen(rows, what="figure 2")
    ours = (
        f"{row['subscriptions']} by every engine, at links {row['means']}; {number(row, 'steps'):.0f} steps for all, "
        f"{number(row, 'steps of links'):.0f} for links alone, which are {row['ours']}"
    )
    return ruled(row["subscriptions"] == 4 and row["ours"] == row["means"], ours, "an engine or our tree is wrong")


TRITS: Final = PaperFigure(
    paper="002",
    id="4-5",
    title="how trits are combined, and a tree with them",
    shows="(4) alternative combine takes the least specific of two trits, parallel combine the most liberal; (5) a "
    "tree whose nodes are annotated by them from the leaves up.",
    chosen="the pictures are lost: figure 4 is judged by what the two words mean, and figure 5 by a tree of ours with "
    "three links, over the attributes of figure 2, of which the text has a subscription and the event.",
    settings={scale: {"subscriptions": len(SUBSCRIPTIONS), "links": LINKS} for scale in Scale},
    measure=_measure,
    criteria=(
        Criterion(
            "002-4-combine",
            "Alternative combine takes the least specific result, and parallel combine the most liberal",
            "figure 4",
            lambda rows: _all_mean(rows, "figure 4", "results say what both trits leave possible"),
        ),
        Criterion(
            "002-5-annotation",
            "Yes and No of a node are true of every event that reaches it",
            "figure 5, and section III.A",
            _annotation_is_true,
        ),
        Criterion("002-2-example", "The event 1, 2, 3, 1, 2 matches four subscriptions", "figure 2: four", _four_match),
    ),
    seconds={Scale.SMALL: 1, Scale.PAPER: 1},
    is_exact=True,
)
