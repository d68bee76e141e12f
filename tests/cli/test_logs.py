"""`tamis logs`: what routers log, and what used to be called so."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from tamis.cli.main import main
from tamis.cli.operate import logs
from tamis.cli.operate.router_logs import LogFollower, in_order, more_of
from tamis.router.supervisor.state import StateFolder


def line(second: int, message: str, level: str = "info", **more: object) -> str:
    return json.dumps({"time": f"2026-11-22T10:00:{second:02}.000Z", "level": level, "message": message} | more) + "\n"


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    found = StateFolder.of(tmp_path / "net.yaml").logs
    found.mkdir(parents=True)
    (found / "a.log.1").write_text(line(1, "ready", router="a"))
    (found / "a.log").write_text(line(4, "link down", "warning", neighbour="b", reason="no frame arrived for 1000 ms"))
    (found / "b.log").write_text(line(2, "ready") + "Traceback (most recent call last):\n" + line(3, "bug", "error"))
    return found


def told(capsys, tmp_path, *options: str) -> list[str]:
    assert main(["logs", str(tmp_path / "net.yaml"), *options]) == 0
    return capsys.readouterr().out.splitlines()


@pytest.mark.usefixtures("folder")
def test_all_routers_in_order_of_time(tmp_path, capsys) -> None:
    assert told(capsys, tmp_path) == [
        "2026-11-22T10:00:01.000Z a info    ready  router=a",
        "2026-11-22T10:00:02.000Z b info    ready",
        "b Traceback (most recent call last):",
        "2026-11-22T10:00:03.000Z b error   bug",
        '2026-11-22T10:00:04.000Z a warning link down  neighbour=b reason="no frame arrived for 1000 ms"',
    ]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("options", "messages"),
    [
        (["--router", "a"], ["ready", "link down"]),
        (["--level", "warning"], ["Traceback (most recent call last):", "bug", "link down"]),
        (["--since", "2026-11-22T10:00:03+00:00"], ["bug", "link down"]),
        (["-n", "1"], ["link down"]),
    ],
)
def test_some_of_them_as_json(tmp_path, capsys, options, messages) -> None:
    assert [json.loads(each)["message"] for each in told(capsys, tmp_path, *options, "--json")] == messages


def test_what_comes_while_it_is_read(folder) -> None:
    """A file that is rotated is read to its end first; half a line waits for its other half."""
    logs = [LogFollower(name, folder / f"{name}.log") for name in ("a", "b")]
    assert len(list(in_order(logs))) == 5
    with (folder / "a.log").open("a") as file:
        file.write(line(5, "the last of this file"))
    (folder / "a.log").replace(folder / "a.log.1")
    (folder / "a.log").write_text(line(6, "the first of the next") + line(7, "half")[:20])
    assert [each.fields["message"] for each in more_of(logs)] == ["the last of this file", "the first of the next"]
    with (folder / "a.log").open("a") as file:
        file.write(line(7, "half")[20:])
    assert [each.fields["message"] for each in more_of(logs)] == ["half"]
    assert more_of(logs) == []


@pytest.mark.usefixtures("folder")
def test_following_shows_what_comes(folder, tmp_path, monkeypatch, capsys) -> None:
    def sleep(_: float) -> None:
        if (folder / "done").exists():
            raise KeyboardInterrupt
        (folder / "done").touch()
        with (folder / "b.log").open("a") as file:
            file.write(line(8, "more"))

    monkeypatch.setattr(logs.time, "sleep", sleep)
    assert main(["logs", str(tmp_path / "net.yaml"), "-n", "1", "-f"]) == 130
    assert [each.split("  ")[0][27:] for each in capsys.readouterr().out.splitlines()] == ["warning link down", "info"]
    assert time.sleep is sleep


@pytest.mark.usefixtures("folder")
def test_what_is_not_there(tmp_path, capsys) -> None:
    assert main(["logs", str(tmp_path / "net.yaml"), "--router", "c"]) == 2
    assert "--router c: no log of this router; logs exist of a, b" in capsys.readouterr().err
    assert main(["logs", str(tmp_path / "other.yaml")]) == 1
    assert "no router of this file was started by `tamis up`" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["cat", "tail"])
def test_the_old_names_of_records_go_on(name, tmp_path, capsys) -> None:
    (tmp_path / "records" / "a").mkdir(parents=True)
    (tmp_path / "records" / "a" / "events-5-000000.jsonl").touch()
    assert main(["logs", name, str(tmp_path / "records")]) == 0
    assert capsys.readouterr().err == f"`tamis logs {name}` is now `tamis records {name}`\n"
