"""`tamis durable` and `tamis sub --durable --json`, against routers that store messages, and one that does not."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tamis import Gap
from tamis.blocking import connect
from tamis.cli.main import main
from tamis.testing import blocking, free_port

PATIENCE_S = 20.0
DURABLE_KEYS = "durable: {bytes: 268435456, segment_bytes: 1048576}"


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The topology file of a router `a` that runs, keeps messages, and is where clients connect."""
    with started(tmp_path, DURABLE_KEYS) as one:
        monkeypatch.setenv("TAMIS_URL", one.address)
        yield str(one.file)


@contextlib.contextmanager
def started(folder: Path, keys: str) -> Iterator[blocking.BlockingRouter]:
    path = folder / "one.yaml"
    path.write_text(
        f'{keys}\nrouters: {{a: {{clients: "127.0.0.1:{free_port()}", admin: "unix:a.admin", data: data}}}}\n'
    )
    with blocking.started(path, "a") as one:
        yield one


def said(capsys: pytest.CaptureFixture[str], *argv: str, code: int = 0) -> list[Any]:
    capsys.readouterr()
    assert main([*argv, "--json"]) == code
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def published(count: int) -> None:
    assert main(["pub", "n={{count}}", "--payload", "p", "--count", str(count), "--confirm", "stored"]) == 0


@pytest.mark.slow
def test_how_durables_stand(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "durable", "ls", file) == []
    assert main(["durable", "create", "jobs", "n > 0", "--max-unacked", "1", "--order-by", "n"]) == 0
    assert main(["durable", "create", "none", "n < 0"]) == 0
    published(3)
    with connect(client_address(file), name="worker") as client, client.consume("jobs") as work:
        assert not isinstance(work.receive(PATIENCE_S), Gap)
        jobs, none = said(capsys, "durable", "ls", file)
        assert (jobs["durable"], jobs["router"], jobs["predicate"], jobs["state"]) == ("jobs", "a", "n > 0", "served")
        figures = ("depth", "unacked", "ready", "paused", "acked", "consumers", "delivered", "redelivered")
        assert [jobs[name] for name in figures] == [3, 1, 2, 0, 0, 1, 1, 0]
        assert jobs["lag_s"] > 0
        assert (none["depth"], none["lag_s"], none["state"]) == (0, 0, "idle")
    assert (jobs["policy"]["max_unacked"], jobs["policy"]["order_by"], jobs["policy"]["idle_s"]) == (1, "n", 7 * 86_400)
    [info] = said(capsys, "durable", "info", file, "jobs")
    assert info["policy"] == jobs["policy"]
    assert main(["durable", "info", file, "jobs"]) == main(["durable", "ls", file]) == 0
    assert "max_unacked" in capsys.readouterr().out


@pytest.mark.slow
def test_peeking_takes_nothing(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["durable", "create", "jobs", "n > 0", "--max-deliveries", "1"]) == 0
    published(700)
    seen = said(capsys, "durable", "peek", file, "jobs", "--lines", "1000")
    assert [message["attributes"] for message in seen] == [{"n": n} for n in range(1, 701)]
    assert {message["payload"] for message in seen} == {"p"}
    assert len({message["id"] for message in seen}) == 700
    after = said(capsys, "durable", "peek", file, "jobs", "--after", str(seen[9]["position"]), "-n", "1")
    assert after == seen[10:11]
    assert main(["durable", "peek", file, "jobs", "-n", "2"]) == 0
    assert [line.partition(" ")[2] for line in capsys.readouterr().out.splitlines()] == [
        f"{message['position']}: n={message['attributes']['n']} 'p'" for message in seen[:2]
    ]
    taken = said(capsys, "sub", "--durable", "jobs", "--count", "700", "--timeout", "20")
    assert [(message["position"], message["deliveries"]) for message in taken] == [
        (message["position"], 1) for message in seen
    ]
    assert said(capsys, "durable", "peek", file, "jobs") == []


@pytest.mark.slow
def test_what_is_long_is_shown_by_its_beginning(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["durable", "create", "jobs", "n > 0"]) == 0
    with connect(client_address(file)) as client:
        client.publish({"n": 1}, b"\xff" * 100_000, confirm="stored")
        client.publish({"n": 2, "text": "\x01" * 60_000}, b"\xff", confirm="stored")
    one, other = said(capsys, "durable", "peek", file, "jobs")
    assert (one["attributes"], one["payload_bytes"]) == ({"n": 1}, 100_000)
    assert (other["attributes"], other["cut"], len(other["text"])) == (None, True, 16_384)
    assert main(["durable", "peek", file, "jobs"]) == 0
    assert "(payload of 100,000 bytes)" in capsys.readouterr().out


@pytest.mark.slow
def test_dead_letters_and_why(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["durable", "create", "dead", "n < 0"]) == 0
    for durable in ("jobs", "others"):
        assert main(["durable", "create", durable, "n > 0", "--dead-letter", "dead"]) == 0
    assert main(["durable", "create", "alone", "n > 0"]) == 0
    published(3)
    with connect(client_address(file)) as client:
        for durable, reason in (("others", "another's"), ("jobs", "nobody can read it")):
            with client.consume(durable, credit=1) as work:
                message = work.receive(PATIENCE_S)
                assert not isinstance(message, Gap)
                message.reject(reason)
        assert main(["sub", "--durable", "dead", "--no-ack", "--count", "2", "--timeout", "20"]) == 0
    [dead_letter] = said(capsys, "durable", "dead", file, "jobs")
    position = dead_letter["dead"].pop("position")
    assert dead_letter["dead"] == {"durable": "jobs", "keep": "jobs", "deliveries": 1, "reason": "nobody can read it"}
    assert 0 < position < dead_letter["position"]
    assert (dead_letter["attributes"], dead_letter["payload"]) == ({"n": 1}, "p")
    assert main(["durable", "dead", file, "jobs"]) == 0
    assert capsys.readouterr().out.endswith("n=1 'p'; delivered 1 time: nobody can read it\n")
    assert len(said(capsys, "durable", "peek", file, "dead")) == 2
    assert main(["durable", "dead", file, "alone"]) == 1
    assert "has no `dead_letter`" in capsys.readouterr().err


@pytest.mark.slow
def test_a_letter_about_a_message_comes_after_another_one_was_taken(file: str) -> None:
    with connect(client_address(file)) as client:
        client.durable("dead", "n > 1")
        for durable in ("jobs", "others"):
            client.durable(durable, "n > 0", dead_letter="dead")
        client.publish({"n": 2}, confirm="stored")
        with client.consume("dead") as dead:
            found = [dead.receive(PATIENCE_S)]
            for durable in ("jobs", "others"):
                with client.consume(durable) as work:
                    message = work.receive(PATIENCE_S)
                    assert not isinstance(message, Gap)
                    message.reject(durable)
                    found.append(dead.receive(PATIENCE_S))
    assert [(message.id, message.dead_letter) for message in found if not isinstance(message, Gap)] == [
        (message.id, False),
        (message.id, True),
        (message.id, True),
    ]


@pytest.mark.slow
@pytest.mark.usefixtures("file")
def test_a_replay_is_what_the_log_holds(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["durable", "create", "jobs", "n > 0"]) == 0
    published(5)
    assert len(said(capsys, "sub", "--durable", "jobs", "--count", "2", "--timeout", "20")) == 2
    seen = said(capsys, "durable", "replay", "n > 1")
    assert [(each["attributes"]["n"], each["deliveries"], each["replayed"]) for each in seen] == [
        (n, 0, True) for n in (2, 3, 4, 5)
    ]
    assert [each["attributes"]["n"] for each in said(capsys, "durable", "replay", "n > 0", "--count", "2")] == [1, 2]
    assert said(capsys, "durable", "replay", "n > 0", "--until", "1h") == []
    assert len(said(capsys, "durable", "replay", "n > 0", "--since", "1h")) == 5
    assert main(["durable", "replay", "n = 3", "--format", "{{n}}"]) == 0
    assert capsys.readouterr() == ("3\n", "1 message of the log\n")


@pytest.mark.slow
def test_what_is_not_there_is_said(file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["durable", "create", "jobs", "n > 0"]) == 0
    (tmp_path / "other").mkdir()
    with started(tmp_path / "other", keys="durable: false") as other:
        for which, says in (
            (file, "; durable subscriptions: 'jobs'"),
            (str(other.file), "; a stores no messages: no `data`, or `durable: false`"),
        ):
            for argv in (["info", which, "none"], ["peek", which, "none"], ["dead", which, "none"]):
                assert main(["durable", *argv]) == 1
                assert f"no durable subscription 'none'{says}" in capsys.readouterr().err
        assert said(capsys, "durable", "ls", str(other.file)) == []


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["info"], "the NAME of one durable subscription"),
        (["peek", "a", "b", "c"], "the NAME of one durable subscription"),
        (["ls", "127.0.0.1:1", "--router", "x"], "no router 'x'"),
        (["replay"], "give one PREDICATE"),
        (["replay", "n >"], "predicate, "),
        (["replay", "true", "--until", "soon"], "--until 'soon' is neither an age"),
        (["replay", "true", "--format", "{{.no}}"], "no placeholder .no"),
    ],
)
def test_what_cannot_be_is_said(argv: list[str], expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["durable", *argv]) == 2
    assert expected in capsys.readouterr().err


def client_address(file: str) -> str:
    from tamis.configs import load_topology

    [address, *_] = load_topology(file).router("a").clients
    return f"tamis://{address}"
