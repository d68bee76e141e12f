"""`tamis gateway` as a process."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from tamis.blocking import connect
from tamis.cli.main import main
from tests.routers import running

COMMAND = [sys.executable, "-m", "tamis.cli.main", "gateway"]


def test_it_serves_until_it_is_told_to_stop(tmp_path: Path) -> None:
    with running(tmp_path) as router, connect(router.client) as client, client.subscribe("n = 1") as wanted:
        command = [*COMMAND, router.client, "--http", "127.0.0.1:0"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603
            assert process.stdout
            said = process.stdout.readline()
            assert said.startswith("gateway is ready: http://127.0.0.1:")
            at = said.split()[-1]
            with urllib.request.urlopen(f"{at}/v1/messages?n=1", data=b"hello", timeout=20) as answer:  # noqa: S310
                assert json.load(answer)["id"]
            message = wanted.receive(20)
            process.send_signal(signal.SIGTERM)
            assert process.wait(20) == 0
    assert getattr(message, "payload", None) == b"hello"


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["nowhere"], 2, "an address is"),
        (["tamis://127.0.0.1:7400", "--http", "nothing"], 2, "nothing"),
        (["tamis://127.0.0.1:7400", "--http", "0.0.0.0:0"], 1, "--insecure"),
    ],
)
def test_what_it_cannot_do_it_says(words: list[str], code: int, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gateway", *words]) == code
    assert said in capsys.readouterr().err
