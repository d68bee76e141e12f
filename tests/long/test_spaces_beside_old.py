"""A router of an earlier commit, which does not know SPACE, in a ring whose other routers change a space.

Commit da1168e speaks version 1 of the wire, 52d8778 version 2 without SPACE. Either skips what it is sent of spaces:
its links stay up, the others hear of the change the other way round, and what enters at it is not checked by it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

import tamis.blocking
from tamis.cli.main import main
from tamis.client.errors import PublishRefused
from tamis.testing import NetworkPlan, blocking
from tests.trees import is_in_history, tree_of

NEW = ("a", "b", "c", "d")
RING = (("a", "b", 1), ("b", "c", 1), ("c", "d", 1), ("d", "old", 1), ("old", "a", 1))

pytestmark = pytest.mark.long


def until(is_so: Callable[[], bool], what: str) -> None:
    end_s = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < end_s, what
        time.sleep(0.2)


def versions(router: blocking.BlockingRouter) -> dict[str, int]:
    return {space["name"]: space["version"] for space in router.ask("/spaces")["spaces"]}


def sessions(network: blocking.BlockingNetwork) -> list[object]:
    """The links at the old router and how often each has come up."""
    return [
        (link["neighbour"], link["state"], link["sessions"])
        for link in network["old"].ask("/status")["network"]["links"]
    ]


@pytest.mark.parametrize("commit", ["da1168e", "52d8778"])
def test_a_router_that_does_not_know_spaces_skips_them(commit: str, tmp_path: Path) -> None:
    if not is_in_history(commit):
        pytest.skip(f"commit {commit} is not in this clone's history")
    folder = tmp_path / "tree"
    folder.mkdir()
    before = {"PYTHONPATH": str(tree_of(commit, folder))}
    file = tmp_path / "spaces.yaml"
    file.write_text("spaces: {trades: {attributes: {price: {integer: [0, 10]}}}}\n")
    plan = NetworkPlan((*NEW, "old"), RING, environments={"old": before})
    with blocking.running(tmp_path, plan) as network:
        network.until_linked()
        linked = sessions(network)
        assert main(["space", "put", str(file), network["a"].admin]) == 0
        until(lambda: all(versions(network[name]) == {"trades": 1} for name in NEW), "not all have heard")
        with tamis.blocking.connect(network["d"].address) as client:
            with pytest.raises(PublishRefused, match="price lies outside its range"):
                client.publish({"type": "trades", "price": 11}, confirm=True)
        with (
            tamis.blocking.connect(network["b"].address) as reader,
            reader.subscribe('type = "trades"', wait="network") as trades,
            tamis.blocking.connect(network["old"].address) as writer,
        ):
            writer.publish({"type": "trades", "price": 11}, confirm=True)
            assert trades.receive(timeout_s=20)["price"] == 11
        assert sessions(network) == linked
        network["old"].kill()
        assert main(["space", "drop", "trades", "--at", network["c"].admin]) == 0
        network["old"].start()
        network.until_linked()
        until(lambda: not any(versions(network[name]) for name in NEW), "not all have heard")
        log = network["old"].log.read_text()
    assert "Traceback" not in log
    assert "refused" not in log.lower()
