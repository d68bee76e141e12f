"""Spaces are changed at one router, and hold at all."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tamis.cli.main import main
from tamis.testing import blocking
from tamis.testing.network import line, ring
from tests.routers import running

TRADES = "spaces: {trades: {%sattributes: {price: {integer: [0, %d]}, note: {kind: string, optional: true}}}}\n"


def written(folder: Path, most: int, version: int | None = None) -> str:
    file = folder / f"spaces-{most}.yaml"
    file.write_text(TRADES % ("" if version is None else f"version: {version}, ", most))
    return str(file)


def until(is_so: Callable[[], bool], what: str) -> None:
    end_s = time.monotonic() + 30
    while not is_so():
        assert time.monotonic() < end_s, what
        time.sleep(0.05)


def known(admin: str, capsys: pytest.CaptureFixture[str]) -> dict[str, int]:
    capsys.readouterr()
    assert main(["space", "ls", admin, "--json"]) == 0
    rows = map(json.loads, capsys.readouterr().out.splitlines())
    return {row["name"]: row["version"] for row in rows}


@pytest.mark.slow
def test_a_change_at_one_router_of_a_ring_holds_at_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with blocking.running(tmp_path, ring("a", "b", "c", "d", "e")) as network:
        network.until_linked()
        routers = [network[name] for name in "abcde"]
        assert main(["space", "put", written(tmp_path, 10), routers[0].admin]) == 0
        assert capsys.readouterr().out == "space trades, version 1, is in force\n"
        until(lambda: all(known(router.admin, capsys) == {"trades": 1} for router in routers), "not all have heard")
        sent = ["pub", routers[2].address, "--space", "trades", "--confirm"]
        assert main([*sent, "price=7"]) == 0
        capsys.readouterr()
        assert main([*sent, "price=11"]) == 1
        assert "space trades: attribute price lies outside its range" in capsys.readouterr().err

        assert main(["space", "put", written(tmp_path, 20), routers[3].admin]) == 0
        until(lambda: main([*sent, "price=11"]) == 0, "c still checks by the old space")
        capsys.readouterr()
        assert main(["space", "put", written(tmp_path, 5), routers[1].admin]) == 1
        said = capsys.readouterr().err
        assert "attribute price was an integer from 0 to 20, and is an integer from 0 to 5 now" in said
        assert main(["space", "put", written(tmp_path, 5), routers[1].admin, "--force", "--json"]) == 0
        assert json.loads(capsys.readouterr().out) == {"name": "trades", "version": 3, "withdrawn": False}

        network["e"].leave()
        network["e"].start()
        until(lambda: known(network["e"].admin, capsys) == {"trades": 3}, "the neighbours have not told e")
        assert main(["space", "drop", "trades", "--at", network["e"].admin]) == 0
        until(lambda: not any(known(router.admin, capsys) for router in routers), "not all have heard")


@pytest.mark.slow
def test_a_router_alone_keeps_what_it_was_told_in_its_data_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = line("a", data=str(tmp_path / "data"))
    with blocking.running(tmp_path, plan) as network:
        router = network["a"]
        assert main(["space", "put", written(tmp_path, 10), router.admin]) == 0
        assert main(["space", "put", written(tmp_path, 10), router.admin]) == 0
        assert "no space has changed" in capsys.readouterr().out
        router.kill()
        router.start()
        assert known(router.admin, capsys) == {"trades": 1}


@pytest.mark.slow
def test_what_is_wrong_with_a_change_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with running(tmp_path, keys=TRADES % ("version: 3, ", 10)) as router:
        for file, options, sentence in (
            (
                written(tmp_path, 11, version=3),
                [],
                "version 3 is in force, and 3 is not higher; raise the version",
            ),
            (written(tmp_path, 12), ["--only", "trade"], "no space 'trade'; the spaces are trades"),
            (written(tmp_path, 9), [], "space trades: attribute price was an integer from 0 to 10, and is an integer"),
        ):
            assert main(["space", "put", file, router.admin, *options]) == 1
            assert sentence in capsys.readouterr().err
        file = tmp_path / "bad.yaml"
        file.write_text("spaces:\n  trades:\n    attributes: {price: text}\n")
        assert main(["space", "put", str(file), router.admin]) == 1
        assert f"{file}:3:25: spaces.trades.attributes.price" in capsys.readouterr().err
        file.write_text("routers: {}\n")
        assert main(["space", "put", str(file), router.admin]) == 1
        assert "spaces" in capsys.readouterr().err
        assert known(router.admin, capsys) == {"trades": 3}


@pytest.mark.slow
def test_a_file_that_narrows_a_space_is_not_used_when_it_is_read_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with running(tmp_path, keys=TRADES % ("", 10)) as router:
        file = Path(router.file)
        file.write_text(file.read_text().replace("[0, 10]", "[0, 5]"))
        os.kill(router.pid, signal.SIGHUP)
        refused = "the file that was read again is not used"

        def status() -> str:
            capsys.readouterr()
            main(["status", router.admin, "--json"])
            return capsys.readouterr().out

        until(lambda: "attribute price was an integer from 0 to 10" in status(), refused)
        assert known(router.admin, capsys) == {"trades": 1}
        assert main(["space", "put", router.file, router.admin, "--force"]) == 0
        os.kill(router.pid, signal.SIGHUP)
        until(lambda: "attribute price was an integer" not in status(), "the file is still refused")
        assert known(router.admin, capsys) == {"trades": 2}


@pytest.mark.slow
def test_a_refusal_names_filters_that_would_match_nothing_any_more(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from tamis import blocking as clients

    with running(tmp_path, keys=TRADES % ("", 10)) as router, clients.connect(router.client) as client:
        with client.subscribe('type = "trades" and price = 8'):
            assert main(["space", "put", written(tmp_path, 7), router.admin]) == 1
        said = capsys.readouterr().err
        assert "1 filters of clients here would match nothing, such as price = 8 and type" in said
