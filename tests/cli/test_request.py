"""`tamis request` and `tamis respond`, each as a process, over a real router."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tamis.blocking import connect as blocking_client
from tamis.testing import blocking

pytestmark = pytest.mark.slow

WAIT_S = 30.0
TOPOLOGY = """
name: one
routers:
  rome:
    clients: unix:{path}
"""


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    file = tmp_path / "one.yaml"
    file.write_text(TOPOLOGY.format(path=tmp_path / "clients"))
    with blocking.started(file, "rome") as router:
        yield router.address


def tamis(*words: str) -> tuple[int, str, str]:
    command = [sys.executable, "-m", "tamis.cli.main", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=WAIT_S)  # noqa: S603 - ours
    return done.returncode, done.stdout, done.stderr


@contextmanager
def responding(*words: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "tamis.cli.main", "respond", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:  # noqa: S603
        try:
            assert process.stderr is not None
            assert process.stderr.readline().startswith("responding as ")
            yield process
        finally:
            process.kill()


def test_a_question_is_answered_by_a_template(address: str) -> None:
    with responding(address, 'do = "greet"', "--answer", "hello, {{name}}: {{.payload}}") as process:
        asked = ("request", address, "do=greet", "name=Zoe", "--payload", "hi")
        assert tamis(*asked, "--format", "raw") == (0, "hello, Zoe: hi\n", "")
        code, out, _ = tamis(*asked, "--json")
        assert (code, json.loads(out)["payload"]) == (0, "hello, Zoe: hi")
        assert process.poll() is None


def test_so_many_answers_and_no_more(address: str) -> None:
    with responding(address, "true", "--answer", "yes", "--count", "1") as process:
        assert tamis("request", address, "{}", "--format", "raw") == (0, "yes\n", "")
        assert process.wait(WAIT_S) == 0


def test_nobody_answers(address: str) -> None:
    code, out, err = tamis("request", address, "do=nothing")
    assert (code, out, err) == (1, "", "Error: no subscription matches the message\n")
    with blocking_client(address) as client, client.subscribe('do = "listen"'):
        code, out, err = tamis("request", address, "do=listen", "--timeout", "0.2")
        assert (code, out) == (1, "")
        assert err == "Error: no answer within 0.2 s; `route` shows which clients would receive the question\n"


def test_what_is_wrong_is_said_before_anything_is_asked(tmp_path: Path) -> None:
    nobody = f"tamis+unix:{tmp_path}/nobody"
    assert tamis("request", nobody)[0] == 2
    assert tamis("request", nobody, "a=1", "--format", "xml")[0] == 2
    assert tamis("respond", nobody)[0] == 2
    assert tamis("respond", nobody, "n >")[0] == 2
    assert tamis("respond", nobody, "true", "--answer", "{{.nothing}}")[0] == 2
