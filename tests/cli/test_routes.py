"""What `tamis show routes --edges` shows of routers: edges by root and neighbour, and the trees of all roots."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from tamis.cli.main import main
from tamis.cli.network.edge_tables import edges_text, in_words, trees_text
from tests.routers import running_line

ROOTS = """
strategy:
  name: rendezvous
  classes: {odd: 'x in {1, 3}', none: 'type = "z"'}
  roots: {odd: [a], none: [a]}
  others: [c]
"""


def page(router: str, *edges: dict) -> dict:
    return {"router": router, "strategy": "rendezvous", "by_edges": True, "edges": list(edges)}


def edge(root: str, neighbour: str, routers: int, held: int | None, said: int | None, **more) -> dict:
    """An edge of which `held` filters are held and `said` filters were said; None: by the strategy nothing is said."""
    sides = [None if count is None else {"complete": True, "filters": count} for count in (held, said)]
    form = {"root": root, "neighbour": neighbour, "routers": routers, "held": sides[0], "said": sides[1]}
    return form | {"towards_root": held is None, "classes": ["odd"], "number": 1} | more


def test_a_neighbour_has_a_row_for_each_root():
    text = edges_text(page("b", edge("a", "a", 1, None, 3), edge("c", "a", 1, 1, None, classes=["other", None])))
    assert text.splitlines() == [
        "root  edge to  routers behind  filters there                    filters sent",
        "a     a                     1  every message, towards the root  3 filters",
        "c     a                     1  1 filter                         none: every message comes from there",
        "a is the root of class odd",
        "c is the root of class other and messages of no class",
    ]


def test_an_edge_that_is_not_complete_counts_as_everything():
    held = {"complete": False, "filters": 2}
    text = edges_text(page("b", edge("a", "c", 1, 0, 0, classes=None) | {"held": held, "said": held}))
    assert text.splitlines()[1:] == [
        "a     c                     1  every message, until complete (2 filters so far)  2 filters, not complete"
    ]


def test_without_edges_it_is_said_why():
    page_of_flood = {"strategy": "flood", "by_edges": False, "edges": []}
    assert edges_text(page_of_flood) == "edges: none: strategy flood uses no edges"
    assert "no other router is reachable" in edges_text(page("b"))


@pytest.mark.parametrize(
    ("classes", "words"),
    [
        ([None], "messages of no class"),
        (["a"], "class a"),
        (["a", "b"], "classes a, b"),
        (["a", None], "class a and messages of no class"),
    ],
)
def test_classes_in_words(classes, words):
    assert in_words(classes) == words


def test_the_tree_of_a_root_is_drawn_from_what_its_routers_hold():
    """Root b of b - a - d and b - c: what each holds of those below it."""
    pages = [
        page("b", edge("b", "a", 2, 5, None), edge("b", "c", 1, 0, None)),
        page("a", edge("b", "b", 2, None, 5), edge("b", "d", 1, 1, None)),
        page("d", edge("b", "a", 3, None, 1)),
    ]
    assert trees_text(pages).splitlines() == [
        "tree of b, the root of class odd",
        "router   routers  filters there",
        "b              4",
        "├─ a           2  5 filters",
        "│  └─ d        1  1 filter",
        "└─ c           1  0 filters",
    ]
    assert trees_text([page("a"), page("b")]) == ""


@pytest.mark.slow
@pytest.mark.usefixtures("_no_contexts")
def test_a_line_with_two_roots(tmp_path, capsys):
    """a - b - c, of which a and c are roots: b has the edge to each of them in both trees."""
    with running_line(tmp_path, "abc", ROOTS) as routers:
        admins = [router.admin for router in routers]
        found = until_complete(admins, capsys)
        by_router = [{(each["root"], each["neighbour"]): each for each in form["edges"]} for form in found]
        assert [sorted(each) for each in by_router] == [
            [("a", "b"), ("c", "b")],
            [("a", "a"), ("a", "c"), ("c", "a"), ("c", "c")],
            [("a", "b"), ("c", "b")],
        ]
        for here, there in pairwise(zip("abc", by_router, strict=True)):
            name, edges = here
            other, others = there
            for root in "ac":
                one, two = edges[root, other], others[root, name]
                assert one["routers"] + two["routers"] == 3
                assert {one["towards_root"], two["towards_root"]} == {True, False}
                for held, said in ((one["held"], two["said"]), (two["held"], one["said"])):
                    assert held == said
                assert one["classes"] == (["odd", "none"] if root == "a" else [None])
        assert main(["show", "routes", "--edges", admins[1]]) == 0
        text = capsys.readouterr().out
        assert "every message, towards the root" in text
        assert "a is the root of classes odd, none" in text
        assert main(["show", "routes", "--json", admins[1]]) == 0
        assert "edges" not in json.loads(capsys.readouterr().out)


def until_complete(admins: list[str], capsys) -> list[dict]:
    """Each look is a request that the router answers between others."""
    while True:
        found = []
        for admin in admins:
            assert main(["show", "routes", "--edges", "--json", admin]) == 0
            found.append(json.loads(capsys.readouterr().out))
        edges = [each for form in found for each in form["edges"]]
        sides = [each[side] for each in edges for side in ("held", "said") if each[side] is not None]
        if len(edges) == 8 and len(sides) == 8 and all(side["complete"] for side in sides):
            return found
