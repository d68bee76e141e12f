"""Figure 3 of paper 003: five profiles of one type as a tree, and as a node for each attribute whose sets are
intersected.

Law: what is expected was read in the paper, and asked of no program.
"""

from __future__ import annotations

from typing import Final

from tamis.native import ENGINES, InterfaceKind, Table
from tamis.papers.models.interval import IntervalTwin
from tamis.papers.reproduce.figure import Criterion, FigureRun, Judgement, PaperFigure, ResultRow, ResultRows, Scale
from tamis.papers.reproduce.judging import chosen, ruled
from tamis.protocol.filters import Constraint, Filter, Op
from tamis.protocol.values import Value

_TYPE: Final = "T4"
PROFILES: Final = (
    {"a3": 10, "a4": 20, "a5": 50},
    {"a3": 40, "a4": 10, "a5": 80},
    {"a3": 40, "a4": 20, "a5": 100},
    {"a3": 40, "a5": 100},
    {"a3": 40, "a4": 20, "a5": 100},
)
"""p1 to p5."""
_SETS: Final = {"a3": "p2 p3 p4 p5", "a4": "p2 p4", "a5": "p2"}
EVENTS: Final = {
    "e1: a3 = 40, a4 = 10, a5 = 80": ({"a3": 40, "a4": 10, "a5": 80}, "p2"),
    "a3 = 40, a4 = 20, a5 = 100": ({"a3": 40, "a4": 20, "a5": 100}, "p3 p4 p5"),
    "a3 = 40, a4 = 30, a5 = 100": ({"a3": 40, "a4": 30, "a5": 100}, "p4"),
    "a3 = 10, a4 = 20, a5 = 50": ({"a3": 10, "a4": 20, "a5": 50}, "p1"),
    "a3 = 20, a4 = 20, a5 = 50": ({"a3": 20, "a4": 20, "a5": 50}, "none"),
}
"""Events, with the profiles of the figure that match; the first is the paper's."""
_FORMS: Final = ("interval:form=lists", "interval:form=tree")


def _measure(run: FigureRun) -> list[ResultRow]:
    run.say("asking every engine")
    (first, _), *_ = EVENTS.values()
    rows: list[ResultRow] = [
        {"what": "set", "of": f"{name} = {first[name]}", "by": "model", "ours": _set_of(name, first), "paper": expected}
        for name, expected in _SETS.items()
    ]
    for told, (event, expected) in EVENTS.items():
        rows += [
            {"what": "matched", "of": told, "by": by, "ours": _named(found), "paper": expected}
            for by, found in _found(event).items()
        ]
    return rows


def _filters(names: tuple[str, ...]) -> list[Filter]:
    of_type = Constraint("type", Op.EQ, (_TYPE,))
    return [
        Filter((of_type, *(Constraint(name, Op.EQ, (value,)) for name, value in profile.items() if name in names)))
        for profile in PROFILES
    ]


def _set_of(name: str, event: dict[str, int]) -> str:
    """The set of an attribute's node: the profiles that ask for the event's value, or for none."""
    twin = IntervalTwin()
    for place, each in enumerate(_filters((name,))):
        twin.add(place, each)
    found, _ = twin.match({"type": _TYPE, name: event[name]})
    return _named(found)


def _found(event: dict[str, int]) -> dict[str, set[int]]:
    """The places of the profiles that match, by the model in both forms, and by every engine."""
    message: dict[str, Value] = {"type": _TYPE, **event}
    found = {}
    for form, as_tree in (("nodes", False), ("tree", True)):
        twin = IntervalTwin(as_tree=as_tree)
        for place, each in enumerate(_filters(tuple(_SETS))):
            twin.add(place, each)
        found[f"model, {form}"] = twin.match(message)[0]
    for engine in (*ENGINES, *_FORMS):
        with Table(engine, hash_seed=1) as table:
            table.set_interface(0, InterfaceKind.CLIENT)
            handles = {table.add(each, 0): place for place, each in enumerate(_filters(tuple(_SETS)))}
            found[engine] = {handles[handle] for _, handle in table.match_all(message)}
    return found


def _named(places: set[int]) -> str:
    return " ".join(f"p{place + 1}" for place in sorted(places)) or "none"


def _as_in_the_paper(what: str, rows: ResultRows) -> Judgement:
    own = chosen(rows, what=what)
    wrong = [f"{row['of']}, {row['by']}: {row['ours']}" for row in own if row["ours"] != row["paper"]]
    told = "; ".join(wrong or dict.fromkeys(f"{row['of']}: {row['ours']}" for row in own))
    return ruled(not wrong, f"{len(own) - len(wrong)} of {len(own)}: {told}", "an engine or our reading is wrong")


EXAMPLE: Final = PaperFigure(
    paper="003",
    id="3",
    title="five profiles as a tree, and as sets that are intersected",
    shows="(a) a tree with a level for each attribute; (b) a node for each attribute: for the event e1 the sets are "
    "{p2, p3, p4, p5}, {p2, p4} and {p2}, and {p2} is left.",
    chosen="further events beside e1, so that each profile is matched by one.",
    settings={scale: {"events": len(EVENTS)} for scale in Scale},
    measure=_measure,
    criteria=(
        Criterion(
            "003-3-matches",
            "Tree and sets find the profiles that match",
            "{p2} for e1",
            lambda rows: _as_in_the_paper("matched", rows),
        ),
        Criterion(
            "003-3-sets",
            "The sets of e1 are {p2, p3, p4, p5}, {p2, p4} and {p2}",
            "section 4.1.1",
            lambda rows: _as_in_the_paper("set", rows),
        ),
    ),
    seconds={Scale.SMALL: 1, Scale.PAPER: 1},
    is_exact=True,
)
