"""A router's folders of data and records go to a later version and back: its epoch rises at each start, whoever starts
it, and each version reads the records that the other has written.

The older version is commit da1168e, and for stored messages 020733f2, which stored only if its file said so;
docs/how-to/upgrade.md says what is promised.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import tamis.blocking
from tamis.testing import blocking
from tests.trees import is_in_history, tree_of

OLD = "da1168e"
OLD_STORED = "020733f2"
DURABLE_KEYS = """\
{kept}
data: data
routers: {{a: {{clients: "127.0.0.1:0"}}}}
"""
PATIENCE_S = 30
GROUPS = {"old": "logs", "new": "records"}
"""What each version calls the commands that show records."""
FILE = """\
records: {folder: records, messages: all}
data: data
routers: {a: {clients: "127.0.0.1:0", admin: "127.0.0.1:0"}}
"""

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not is_in_history(OLD), reason=f"commit {OLD} is not in this clone's history"),
]


@pytest.fixture(name="environments", scope="module")
def _environments(tmp_path_factory) -> dict[str, dict[str, str]]:
    return {"old": {"PYTHONPATH": str(tree_of(OLD, tmp_path_factory.mktemp("old")))}, "new": {}}


def lived(file: Path, environments: dict[str, dict[str, str]], version: str, life: int, is_killed: bool) -> int:
    """Start the router, publish a message through it and end it; its epoch. It is killed when its life is recorded."""
    environment = environments[version]
    with blocking.started(file, "a", environment=environment) as router:
        loaded = Path(f"/proc/{router.pid}/maps").read_text()
        assert environment.get("PYTHONPATH", str(Path(tamis.__file__).parents[1])) in loaded
        epoch = int(router.ask("/status")["epoch"])
        with tamis.blocking.connect(router.address, name="press-1") as client:
            with client.subscribe("exists life", own_messages=True) as lives:
                client.publish({"life": life}, confirm=True)
                assert lives.receive(timeout_s=20)["life"] == life
        if is_killed:
            deadline = time.monotonic() + 20
            while epoch not in lives_in(read(file, environment, GROUPS[version])):
                assert time.monotonic() < deadline, f"life {life} is not recorded"
            router.kill()
    return epoch


def read(file: Path, environment: dict[str, str], group: str) -> list[dict]:
    """The records as the command of that version shows them."""
    command = [sys.executable, "-m", "tamis.cli.main", group, "cat", str(file), "--json"]
    done = subprocess.run(  # noqa: S603
        command, check=False, capture_output=True, text=True, env=os.environ | environment, cwd=file.parent
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def lives_in(records: list[dict]) -> set[int]:
    return {each["epoch"] for each in records if each["kind"] == "life"}


@pytest.mark.parametrize("is_killed", [False, True], ids=["stopped", "killed"])
def test_data_and_records_go_forward_and_back(tmp_path, environments, is_killed):
    file = tmp_path / "network.yaml"
    file.write_text(FILE)
    versions = ("old", "new", "old", "new")
    epochs = [lived(file, environments, each, life, is_killed) for life, each in enumerate(versions)]
    assert epochs == sorted(set(epochs))
    assert int((tmp_path / "data" / "a" / "epoch").read_text()) == epochs[-1]
    for version, group in GROUPS.items():
        found = read(file, environments[version], group)
        assert lives_in(found) == set(epochs), version
        if not is_killed:  # one that is killed has not written its last second
            attributes = [json.dumps(each["attributes"]) for each in found if each["kind"] == "message"]
            assert len(attributes) == len(versions), version
            assert all(f"{life}" in said for life, said in enumerate(attributes)), version


@pytest.mark.skipif(not is_in_history(OLD_STORED), reason=f"commit {OLD_STORED} is not in this clone's history")
@pytest.mark.parametrize("first", ["old", "new"])
def test_what_is_kept_goes_forward_and_back(tmp_path: Path, tmp_path_factory, first: str) -> None:
    """The older version with `kept` in its file, this one by default: both have the log in the folder of data. Each
    life takes the oldest message, and leaves two of its own."""
    folder = tmp_path_factory.getbasetemp() / "old-kept"
    if not folder.exists():
        folder.mkdir()
        tree_of(OLD_STORED, folder)
    environments = {"old": {"PYTHONPATH": str(folder / "tree")}, "new": {}}
    file, waiting = tmp_path / "network.yaml", []
    second = "new" if first == "old" else "old"
    for life, version in enumerate((first, second, first, second)):
        file.write_text(DURABLE_KEYS.format(kept="kept: {}" if version == "old" else ""))
        with blocking.started(file, "a", environment=environments[version]) as router:
            with tamis.blocking.connect(router.address, name="press-1") as client:
                client.durable("lives", "exists life")
                for n in range(3):
                    client.publish({"life": life, "n": n}, confirm="stored")
                    waiting.append((life, n))
                with client.consume("lives", credit=1) as work:
                    message = work.receive(PATIENCE_S)
                    assert (message["life"], message["n"]) == waiting.pop(0)
                    message.ack(confirm=True)
            router.kill()
    file.write_text(DURABLE_KEYS.format(kept=""))
    with blocking.started(file, "a") as router, tamis.blocking.connect(router.address, name="press-1") as client:
        with client.consume("lives") as work:
            for expected in waiting:
                message = work.receive(PATIENCE_S)
                assert (message["life"], message["n"]) == expected
                message.ack()
