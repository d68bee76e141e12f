"""What `tamis status` says below its table."""

from __future__ import annotations

import time

import pytest

from tamis.cli.broken_links import broken_links
from tamis.cli.supervised import Supervised
from tamis.router.supervisor.life import ProcessState
from tamis.router.supervisor.state import RouterState

LINK = {"neighbour": "b", "state": "dialling", "dials": "127.0.0.1:7501", "sessions": 2, "problem": ""}


@pytest.mark.parametrize(
    ("link", "said"),
    [
        (
            {"down_because": "nothing came for 1000 ms", "problem": "Connection refused"},
            "the link to b has been down for 2 min 5 s: nothing came for 1000 ms; 127.0.0.1:7501: Connection refused",
        ),
        (
            {"down_because": "nothing came for 1000 ms", "problem": "nothing came for 1000 ms"},
            "the link to b has been down for 2 min 5 s: nothing came for 1000 ms",
        ),
        (
            {"sessions": 0, "down_because": "", "state": "waiting", "dials": None},
            (
                "the link to b has been missing, since the start of the router, for 2 min 5 s; b has to connect, and "
                "does not"
            ),
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
            ["b was started again 2 times: its last process was killed by SIGKILL"],
        ),
        (
            {"state": ProcessState.FAILED, "restarts": 4, "exit_code": 1, "last_words": "the port is taken"},
            [
                "b is failed, 5 starts in a row; the last process ended with exit code 1: the port is taken",
                "  tamis start net.yaml b    starts it again",
                "  tamis logs net.yaml --router b -n 20    shows its log",
            ],
        ),
    ],
)
def test_what_a_supervisor_says(state, said) -> None:
    assert list(Supervised("net.yaml", "b", RouterState(**state)).lines()) == said
