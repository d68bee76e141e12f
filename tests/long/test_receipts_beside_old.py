"""Clients and routers of a commit before receipts, and of now: the old client takes the new ACK, and the new one says
of an old router's that it does not know.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tamis import NotStored
from tamis.blocking import connect
from tamis.testing import blocking, free_port
from tests.trees import is_in_history, tree_of

OLD = "6374ed70"
BEFORE_RENAMES = "73dcd346"
"""The last commit in which durable subscriptions were called keeps; it has receipts."""
PATIENCE_S = 20.0
DURABLE_KEYS = "kept: {bytes: 268435456, segment_bytes: 1048576}"
OLD_CLIENT = """
import sys, tamis
from tamis.blocking import connect
assert tamis.__file__.startswith(sys.argv[2]), tamis.__file__
with connect(sys.argv[1], name="publisher", patience_s=20) as client:
    client.keep("numbers", "n >= 0")
    for level in (True, "kept", "held"):
        client.publish({"n": 1}, confirm=level)
        client.publish({"m": 1}, confirm=level)
    client.publish_many([{"n": 1}, {"m": 1}] * 500, confirm="kept", retry=True)
    with client.attach("numbers") as work:
        for _ in range(503):
            work.receive(20).ack(confirm=True)
"""

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not is_in_history(OLD), reason=f"commit {OLD} is not in this clone's history"),
]


@pytest.fixture(name="old_tree", scope="module")
def _old_tree(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tree_of(OLD, tmp_path_factory.mktemp("old")))


def topology(folder: Path) -> Path:
    file = folder / "one.yaml"
    file.write_text(f'{DURABLE_KEYS}\nrouters: {{a: {{clients: "127.0.0.1:{free_port()}", data: data}}}}\n')
    return file


@pytest.fixture(name="kept_tree", scope="module")
def _kept_tree(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tree_of(BEFORE_RENAMES, tmp_path_factory.mktemp("kept")))


@pytest.mark.parametrize("tree", ["old_tree", "kept_tree"])
def test_an_old_client_is_confirmed_by_a_new_router(tmp_path: Path, tree: str, request: pytest.FixtureRequest) -> None:
    old_tree: str = request.getfixturevalue(tree)
    with blocking.started(topology(tmp_path), "a") as one:
        command = (sys.executable, "-P", "-c", OLD_CLIENT, one.address, old_tree)
        environment = os.environ | {"PYTHONPATH": old_tree}
        subprocess.run(command, check=True, env=environment, cwd=tmp_path, timeout=120)  # noqa: S603 - our own


def test_a_new_client_does_not_know_what_an_old_router_does_not_say(tmp_path: Path, old_tree: str) -> None:
    with blocking.started(topology(tmp_path), "a", environment=os.environ | {"PYTHONPATH": old_tree}) as one:
        assert old_tree in Path(f"/proc/{one.pid}/maps").read_text()
        with connect(one.address, name="publisher", patience_s=PATIENCE_S) as client:
            client.durable("numbers", "n >= 0")
            assert client.publish({"n": 1}, confirm="stored").is_stored is None
            assert client.publish({"m": 1}, confirm="held").is_stored is None
            assert client.publish_many([{"n": 1}] * 100, confirm="stored") == (100, 0, 0)
            with pytest.raises(NotStored, match="the router did not report"):
                client.publish({"n": 1}, confirm="stored", require_stored=True)


def test_a_new_client_uses_durable_subscriptions_of_a_router_before_the_renames(tmp_path: Path, kept_tree: str) -> None:
    with blocking.started(topology(tmp_path), "a", environment={"PYTHONPATH": kept_tree}) as one:
        with connect(one.address, name="publisher", patience_s=PATIENCE_S) as client:
            client.durable("numbers", "n >= 0")
            assert client.publish({"n": 1}, confirm="stored").is_stored
            assert client.publish({"m": 1}, confirm="stored").is_stored is False
            assert [(info.name, info.depth) for info in client.durables()] == [("numbers", 1)]
            with client.consume("numbers") as work:
                message = work.receive(PATIENCE_S)
                assert message["n"] == 1
                message.ack(confirm=True)
            client.remove_durable("numbers")
            assert client.durables() == []
