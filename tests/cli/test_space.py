"""Spaces at the command line: of a file, and of a router that runs."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tamis.cli.main import main
from tests.routers import Running, running, running_line

SPACES = """
spaces:
  trades:
    version: 3
    attributes:
      price: {fixed: [0, 10000], digits: 2}
      side: {one_of: [sell, buy]}
      note: {kind: string, optional: true}
  alarms: {open: true, attributes: {severity: {one_of: [low, medium, high]}}}
"""
FILE = "version: 1\nrouters:\n  a: {clients: 127.0.0.1:7400}\n" + SPACES


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "network.yaml"
    path.write_text(FILE)
    return str(path)


def test_spaces_of_a_file_are_listed(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["space", "ls", file]) == 0
    _, first, second = capsys.readouterr().out.splitlines()
    assert first.split()[:4] == ["trades", "3", "3", "no"]
    assert second.split()[:4] == ["alarms", "1", "1", "yes"]
    assert main(["space", "ls", file, "--json"]) == 0
    forms = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    said = [(form["name"], form["version"], form["open"]) for form in forms]
    assert said == [("trades", 3, False), ("alarms", 1, True)]


def test_a_space_of_a_file_is_shown(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["space", "show", "trades", file]) == 0
    assert capsys.readouterr().out == (
        "space trades, version 3: a message has no other attributes\n"
        "  note   a string, or absent\n"
        "  price  a number of at most 2 digits behind the point from 0 to 10000\n"
        "  side   one of sell, buy\n"
    )
    assert main(["space", "show", "trades", file, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["attributes"]["price"] == {"fixed": [0, 10000], "digits": 2}
    assert main(["space", "show", "trade", file]) == 1
    assert "no space 'trade'; the spaces are trades, alarms" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["price=12.35", "side=buy"], 0, "valid in space trades\n"),
        (['{"price": 12.35, "side": "buy", "type": "trades"}'], 0, "valid in space trades\n"),
        (["price=12.345", "side=buy"], 1, "space trades: attribute price has too many digits; allowed: a number"),
        (["side=buy"], 1, "space trades: attribute price is missing; allowed: a number"),
        (["price=1", "side=buy", "type=alarms"], 1, "attribute type is 'alarms', and the message is published in"),
    ],
)
def test_a_message_is_checked(
    words: list[str], code: int, said: str, file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["space", "check", "trades", *words, "--spaces", file]) == code
    assert capsys.readouterr().out.startswith(said)


def test_explain_knows_spaces(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ['alarms: severity >= "medium"', "type=alarms", "severity=high", "--spaces", file]
    assert main(["explain", *words]) == 0
    out = capsys.readouterr().out
    assert 'severity in {"high", "medium"} and type = "alarms"' in out
    assert "match: yes" in out
    assert main(["explain", "--das", "PROFILE(PRI(side>sell,TYPE=trades))", "type=trades", "--spaces", file]) == 0
    out = capsys.readouterr().out
    assert 'side = "buy" and type = "trades"' in out
    assert "a router would refuse it: space trades: attribute price is missing" in out
    assert main(["explain", "--json", *words]) == 0
    assert "refused" not in json.loads(capsys.readouterr().out)


def test_a_mistake_in_a_predicate_is_shown_with_its_place(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "trades: prize < 3", "type=trades", "--spaces", file]) == 2
    assert "space trades has no attribute `prize`" in capsys.readouterr().err


def test_a_predicate_is_checked_before_anything_is_connected(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    address = "tamis+unix:/nonexistent/socket"
    assert main(["sub", address, "--space", "trades", "price < 10001", "--spaces", file]) == 2
    assert "10001 lies outside its range" in capsys.readouterr().err


@pytest.fixture(scope="module")
def router(tmp_path_factory: pytest.TempPathFactory):
    with running(tmp_path_factory.mktemp("router"), keys=SPACES) as found:
        yield found


@pytest.mark.slow
def test_a_running_router_checks_and_tells(router: Running, capsys: pytest.CaptureFixture[str]) -> None:
    admin = router.admin
    assert main(["space", "check", "trades", "price=1", "side=buy", "--spaces", admin]) == 0
    sent = ["pub", router.client, "--space", "trades", "--confirm"]
    assert main([*sent, "price=1", "side=buy"]) == 0
    assert main([*sent, "price=-1", "side=buy"]) == 1
    assert "space trades: attribute price lies outside its range" in capsys.readouterr().err
    assert main([*sent, "price=-1", "side=buy", "--spaces", admin]) == 2
    assert "space trades: attribute price lies outside its range" in capsys.readouterr().err
    assert main(["space", "ls", admin, "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(row["name"], row["checked"], row["refused"]) for row in rows] == [("alarms", 0, 0), ("trades", 2, 1)]
    assert main(["space", "show", "alarms", admin]) == 0
    assert "one of low, medium, high" in capsys.readouterr().out


LINES = "".join(f'{{"price": {-n if n % 5 < 3 else n}, "side": "buy"}}\n' for n in range(1, 21))
"""Of twenty, twelve do not fit: those of a price below 0."""


@pytest.mark.slow
def test_what_is_refused_is_counted_and_the_rest_is_published(
    router: Running, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def pub(*words: str) -> tuple[int, dict[str, int], str]:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(LINES.encode())))
        code = main(["pub", router.client, "--space", "trades", "--json", *words])
        out, err = capsys.readouterr()
        counts = json.loads(out)
        del counts["seconds"]
        return code, counts, err

    code, counts, err = pub("--confirm")
    assert (code, counts) == (1, {"sent": 20, "published": 8, "unknown": 0, "refused": 12})
    assert "12 messages: the router refused the message: NOT_IN_SPACE (space trades: attribute price lies" in err
    assert "8 messages published in " in err
    assert ", 12 refused by the router" in err
    code, counts, _ = pub("--confirm", "--rate", "10000")
    assert (code, counts) == (1, {"sent": 20, "published": 8, "unknown": 0, "refused": 12})
    code, counts, err = pub("--spaces", router.admin)
    assert (code, counts) == (1, {"sent": 8, "refused": 12})
    assert "<stdin>:1: space trades: attribute price lies outside its range" in err
    code, counts, _ = pub()
    assert (code, counts) == (0, {"sent": 20, "refused": 0})


@pytest.mark.slow
def test_a_router_that_reads_its_file_again_checks_by_the_new_spaces(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with running(tmp_path, keys=SPACES) as found:
        sent = ["pub", found.client, "--space", "trades", "--confirm", "price=1", "side=hold"]
        assert main(sent) == 1
        file = Path(found.file)
        file.write_text(file.read_text().replace("[sell, buy]", "[sell, hold, buy]"))
        os.kill(found.pid, signal.SIGHUP)
        end_s = time.monotonic() + 20
        while main(sent) != 0:
            assert time.monotonic() < end_s, "the router still checks by the old space"
            time.sleep(0.05)
        capsys.readouterr()
        assert main(["space", "show", "trades", found.admin]) == 0
        assert "one of sell, hold, buy" in capsys.readouterr().out


@pytest.mark.slow
def test_a_line_refuses_at_each_door_and_carries_what_fits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with running_line(tmp_path, "abc", more=SPACES) as routers:
        subscribe = ["sub", routers[2].client, "--space", "trades", "side > 'sell'", "--spaces", routers[2].file]
        command = [sys.executable, "-m", "tamis.cli.main", *subscribe, "--wait", "network", "--count", "2", "--json"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as receiver:  # noqa: S603
            assert receiver.stderr
            assert receiver.stderr.readline().startswith(b"subscribed as ")
            for router in routers[:2]:
                sent = ["pub", router.client, "--space", "trades", "--confirm"]
                assert main([*sent, "price=-1", "side=buy"]) == 1
                assert main([*sent, "price=1", "side=sell"]) == 0
                assert main([*sent, "price=1", "side=buy"]) == 0
            out, _ = receiver.communicate(timeout=30)
    forms = [json.loads(line) for line in out.splitlines()]
    assert [form["attributes"] for form in forms] == [{"price": 1, "side": "buy", "type": "trades"}] * 2
    assert capsys.readouterr().err.count("attribute price lies outside its range") == 2
