"""What `tamis status` says below its table."""

from __future__ import annotations

import time

import pytest

from tamis.cli.network.broken_links import broken_links
from tamis.cli.network.strategy_lines import of_strategies, strategy_problems
from tamis.cli.reach.supervised import Supervised
from tamis.router.supervisor.life import ProcessState
from tamis.router.supervisor.state import RouterState

LINK = {"neighbour": "b", "state": "dialling", "dials": "127.0.0.1:7501", "sessions": 2, "problem": ""}


@pytest.mark.parametrize(
    ("link", "said"),
    [
        (
            {"down_because": "nothing received", "problem": "Connection refused"},
            "the link to b has been down for 2 min 5 s: nothing received; 127.0.0.1:7501: Connection refused",
        ),
        (
            {"down_because": "no frame arrived for 1000 ms", "problem": "no frame arrived for 1000 ms"},
            "the link to b has been down for 2 min 5 s: no frame arrived for 1000 ms",
        ),
        (
            {"sessions": 0, "down_because": "", "state": "waiting", "dials": None},
            ("the link to b has been down, since the start of the router, for 2 min 5 s; b must connect, and does not"),
        ),
    ],
)
def test_a_link_that_is_down_says_since_when_and_why(link, said) -> None:
    status = {"network": {"links": [LINK | {"down_since_s": time.time() - 125} | link]}}
    assert list(broken_links("a", status)) == [f"a: {said}"]


def test_a_router_of_an_earlier_version_says_less() -> None:
    up = LINK | {"state": "up"}
    assert list(broken_links("a", {"network": {"links": [up, LINK]}})) == ["a: the link to b is down"]
    assert list(broken_links("a", {"network": None})) == []


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ({"state": ProcessState.READY}, []),
        (
            {"state": ProcessState.READY, "restarts": 2, "exit_code": -9},
            ["b was restarted 2 times: its last process was killed by SIGKILL"],
        ),
        (
            {"state": ProcessState.FAILED, "restarts": 4, "exit_code": 1, "last_words": "the port is taken"},
            [
                "b is failed, 5 failed starts in a row; the last process ended with exit code 1: the port is taken",
                "  tamis start net.yaml b    restarts it",
                "  tamis logs net.yaml --router b -n 20    shows its log",
            ],
        ),
    ],
)
def test_what_a_supervisor_says(state, said) -> None:
    assert list(Supervised("net.yaml", "b", RouterState(**state)).lines()) == said


def serving(
    router: str, strategy: str, roots: list[tuple[str | None, str | None, bool, str | None]] | None = None, **network
):
    """A router's status; `roots` are (class, root, named, preferred)."""
    forms = (
        None
        if roots is None
        else [dict(zip(("class", "root", "named", "preferred"), each, strict=True)) for each in roots]
    )
    sets = {"written": 0, "believed": 0, "stale": 0} | network.pop("sets", {})
    return {"router": router, "strategy": strategy, "sets": sets, "network": {"roots": forms} | network}


def test_the_default_strategy_is_not_spoken_of() -> None:
    assert list(of_strategies([serving("a", "advertise"), {"name": "b", "state": "no answer"}])) == []


def test_what_routers_say_alike_of_roots_is_said_once() -> None:
    roots = [("orders", "b", True, "b"), ("odd", "b", True, None), (None, "c", True, "c")]
    assert list(of_strategies([serving(router, "rendezvous", roots) for router in "abc"])) == [
        "strategy rendezvous",
        "roots: b of classes orders, odd; c of messages of no class",
    ]


def test_where_routers_differ_about_roots_each_is_named() -> None:
    moved = [("orders", "d", True, "b"), (None, None, False, None)]
    statuses = [serving("a", "rendezvous", moved), serving("b", "profile")]
    assert list(of_strategies(statuses)) == [
        "strategy rendezvous at a",
        "strategy profile at b",
        (
            "roots at a: d of class orders; b, preferred by the file for class orders, is unreachable; none yet for "
            "messages of no class, forwarded to all routers"
        ),
    ]


def test_sets_are_summed_over_routers() -> None:
    name = "advertise-destinations"
    statuses = [
        serving("a", name, sets={"written": 1_000}),
        serving("b", name, sets={"believed": 900, "stale": 1}),
        serving("c", name, sets={"believed": 950}),
    ]
    assert list(of_strategies(statuses))[1:] == [
        "sets of routers: 1,000 messages with one, used 1,850 times, outdated 1 time"
    ]


def test_an_incomplete_edge_is_a_problem() -> None:
    assert list(strategy_problems("a", serving("a", "profile", edges={"incomplete": 0, "heard": 3}))) == []
    assert list(strategy_problems("a", {"network": None})) == []
    assert list(strategy_problems("a", serving("a", "profile", edges={"incomplete": 1, "heard": 3}))) == [
        "a: the filters of 1 of 3 edges are incomplete: every message is forwarded there"
    ]
