"""`tamis unmatched` against routers that run: what nobody wanted, and how it is turned on."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import tamis.blocking
from tamis.cli.main import main
from tests.routers import Running, running, running_line

pytestmark = pytest.mark.slow


@contextlib.contextmanager
def client(router: Running, name: str) -> Iterator[tamis.blocking.Client]:
    with tamis.blocking.connect(router.client, name=name) as connected:
        yield connected


def shown(capsys, *argv: str) -> list[dict]:
    assert main(["unmatched", *argv, "--json"]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_it_shows_what_nobody_wanted(tmp_path: Path, capsys) -> None:
    with running(tmp_path, "unmatched: {share: 1}") as router, client(router, "sensor") as sensor:
        with client(router, "reader") as reader, reader.subscribe("wanted = true"):
            sensor.publish({"wanted": True}, confirm=True)
            id_ = sensor.publish({"wanted": False, "t": 1.5, "word": "two words"}, b"12345", confirm=True)
        [found] = shown(capsys, router.admin)
        assert found["attributes"] == {"wanted": False, "t": 1.5, "word": "two words"}
        assert (found["client"], found["payload_bytes"], found["n"]) == ("sensor", 5, 1)
        assert found["id"] == f"{id_.origin:016x}-{id_.counter}"
        assert main(["unmatched", router.admin]) == 0
        line = capsys.readouterr().out.rstrip()
        said = 'sensor: wanted=false t=1.5 word="two words" (payload of 5 bytes)'
        assert line == f"{found['time']} {router.admin.removeprefix('http://')} {said}"
        sensor.publish({"n": 2}, confirm=True)
        assert [each["n"] for each in shown(capsys, router.admin, "--lines", "1")] == [2]


def test_in_a_network_it_is_kept_where_it_was_published_and_wanted_by_no_router(tmp_path: Path, capsys) -> None:
    with running_line(tmp_path, "ab", "unmatched: {share: 1}") as (a, b):
        assert main(["status", a.file, "--wait-quiet", "30"]) == 0
        capsys.readouterr()
        with client(a, "sensor") as sensor, client(b, "reader") as reader, reader.subscribe("x > 1", wait="network"):
            sensor.publish({"x": 1}, confirm=True)
            sensor.publish({"x": 2}, confirm=True)
        found = shown(capsys, a.file)
        assert [(each["router"], each["attributes"]) for each in found] == [("a", {"x": 1})]
        assert len(found[0]["client"]) in (0, len("sensor"))  # it has left, or is about to
        assert shown(capsys, a.file, "--router", "b") == []
        assert main(["unmatched", a.file, "--router", "c"]) == 2
        assert "no router 'c'" in capsys.readouterr().err


def test_it_is_off_unless_the_file_says_so_and_a_reload_turns_it_on(tmp_path: Path, capsys) -> None:
    with running(tmp_path) as router, client(router, "sensor") as sensor:
        sensor.publish({"x": 1}, confirm=True)
        assert main(["unmatched", router.admin]) == 1
        assert "unmatched messages are not stored; write `unmatched: {share: 1}`" in capsys.readouterr().err
        file = Path(router.file)
        file.write_text("unmatched: {share: 1}\n" + file.read_text())
        os.kill(router.pid, signal.SIGHUP)
        deadline_s = time.monotonic() + 10
        while main(["unmatched", router.admin]) != 0 and time.monotonic() < deadline_s:
            time.sleep(0.02)
        capsys.readouterr()
        sensor.publish({"x": 2}, confirm=True)
        assert [each["attributes"] for each in shown(capsys, router.admin)] == [{"x": 2}]


def test_it_follows(tmp_path: Path) -> None:
    with running(tmp_path, "unmatched: {share: 1, bytes: 65536}") as router, client(router, "sensor") as sensor:
        sensor.publish({"x": 1}, confirm=True)
        command = [sys.executable, "-m", "tamis.cli.main", "unmatched", router.admin, "-f", "--json"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:  # noqa: S603
            assert process.stdout
            try:
                assert json.loads(process.stdout.readline())["attributes"] == {"x": 1}
                sensor.publish({"x": 2}, confirm=True)
                assert json.loads(process.stdout.readline())["attributes"] == {"x": 2}
                sensor.publish_many([{"x": n, "text": "t" * 1_000} for n in range(500)])
                sensor.publish({"last": True}, confirm=True)
                numbers = []
                while True:
                    form = json.loads(process.stdout.readline())
                    numbers.append(form["n"])
                    if "last" in form["attributes"]:
                        break
            finally:
                process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=30)
        assert process.returncode == 130
        assert numbers == sorted(set(numbers))
        assert numbers[-1] == 503
        missed = 503 - 2 - len(numbers)
        assert (f"{missed:,} more were overwritten" in err.decode()) is (missed > 0)


def test_attributes_of_any_size_fit_into_a_page(tmp_path: Path, capsys) -> None:
    with running(tmp_path, "unmatched: {share: 1, bytes: 8388608}") as router, client(router, "sensor") as sensor:
        for _ in range(4):
            sensor.publish({f"n{k}": "\x01" * 16_000 for k in range(60)}, confirm=True)
        found = shown(capsys, router.admin)
        assert [each["cut"] for each in found] == [True] * 4
        assert all(each["attributes"] is None and len(each["text"]) == 16_384 for each in found)
        assert main(["unmatched", router.admin]) == 0
        assert capsys.readouterr().out.count(" ...\n") == 4
