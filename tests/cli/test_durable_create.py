"""Keeps from the command line, against routers that keep messages, and one that does not."""

from __future__ import annotations

import io
import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tamis import Gap
from tamis.blocking import connect
from tamis.cli.main import main
from tamis.testing import blocking, free_port

pytestmark = pytest.mark.slow
PATIENCE_S = 20.0
DURABLE_KEYS = "durable: {bytes: 268435456, segment_bytes: 1048576}"


@pytest.fixture
def router(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[blocking.BlockingRouter]:
    file = tmp_path / "one.yaml"
    file.write_text(f'{DURABLE_KEYS}\nrouters: {{a: {{clients: "127.0.0.1:{free_port()}", data: data}}}}\n')
    with blocking.started(file, "a") as one:
        monkeypatch.setenv("TAMIS_URL", one.address)
        yield one


def taken(one: blocking.BlockingRouter, durable: str, count: int) -> list[object]:
    values: list[object] = []
    with connect(one.address, patience_s=PATIENCE_S) as client, client.consume(durable) as work:
        for _ in range(count):
            message = work.receive(PATIENCE_S)
            assert not isinstance(message, Gap), message
            values.append(message["n"])
            message.ack(confirm=True)
    return values


def test_what_is_confirmed_as_stored_is_there_after_a_kill(
    router: blocking.BlockingRouter, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["durable", "create", "jobs", "n > 1", "--json"]) == 0
    made = {"durable": "jobs", "predicate": "n > 1", "keep": "jobs", "known_at": [], "unknown_at": []}
    made["is_best_effort"] = False
    assert json.loads(capsys.readouterr().out) == made
    assert main(["pub", "n={{count}}", "--count", "3", "--confirm", "stored", "--json"]) == 0
    assert main(["pub", "n=4", "--confirm", "held"]) == 0
    assert json.loads(capsys.readouterr().out)["published"] == 3
    router.kill()
    router.start()
    assert taken(router, "jobs", 3) == [2, 3, 4]


@pytest.mark.usefixtures("router")
def test_what_no_durable_wants_is_said_to_be_stored_nowhere(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["durable", "create", "jobs", "n > 1"]) == 0
    capsys.readouterr()
    for level in ("stored", "held"):
        assert main(["pub", "n=1", "--confirm", level]) == 0
        assert "1 message published; not stored: no durable subscription" in capsys.readouterr().err
        assert main(["pub", "n=1", "--confirm", level, "--require-stored"]) == 1
        assert "not stored: no durable subscription that the router knows matches" in capsys.readouterr().err
        assert main(["pub", "n=2", "--confirm", level, "--require-stored"]) == 0
        assert "stored" not in capsys.readouterr().err
    assert main(["pub", "n={{count}}", "--count", "5", "--confirm", "stored", "--json"]) == 0
    out, err = capsys.readouterr()
    told = json.loads(out)
    assert [told[key] for key in ("published", "stored", "unstored")] == [5, 4, 1]
    assert "; 1 of them not stored: no durable subscription that the router knows matches" in err
    assert main(["pub", "n={{count}}", "--count", "5", "--confirm", "stored", "--require-stored"]) == 1
    capsys.readouterr()
    assert main(["pub", "n=1", "--confirm"]) == 0
    assert "stored" not in capsys.readouterr().err
    assert main(["pub", "n=2", "--require-stored"]) == 2
    assert "--require-stored needs --confirm stored" in capsys.readouterr().err
    assert main(["pub", "n=2", "--retry"]) == 2
    assert "--retry needs --confirm" in capsys.readouterr().err


def test_the_policies_arrive(router: blocking.BlockingRouter, capsys: pytest.CaptureFixture[str]) -> None:
    policy = [*("--bytes", "64 MiB", "--count", "2", "--overflow", "refuse", "--idle", "never", "--ack-wait", "1m")]
    policy += [
        *("--max-deliveries", "0", "--backoff", "2s", "--max-unacked", "7", "--order-by", "n", "--until", "acked")
    ]
    assert main(["durable", "create", "dead", "n < 0"]) == 0
    assert main(["durable", "create", "jobs", "n > 0", *policy, "--dead-letter", "dead"]) == 0
    with connect(router.address, patience_s=PATIENCE_S) as client:  # refused if one of them were another
        client.durable(
            "jobs",
            "n > 0",
            bytes="64 MiB",
            count=2,
            overflow="refuse",
            idle=None,
            ack_wait_s=60,
            max_deliveries=None,
            backoff_s=[2],
            max_unacked=7,
            order_by="n",
            dead_letter="dead",
        )
    capsys.readouterr()
    assert main(["durable", "create", "jobs", "n > 0"]) == 1
    assert "differs in" in capsys.readouterr().err
    assert main(["pub", "n=1", "--count", "3", "--confirm", "stored"]) == 1
    assert "LOG_FULL" in capsys.readouterr().err


def test_a_durable_is_gone_once(router: blocking.BlockingRouter, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["durable", "create", router.address, "jobs", "true"]) == 0
    assert main(["durable", "rm", "jobs", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"removed": "jobs", "forgotten": "jobs"}
    assert main(["durable", "rm", "jobs"]) == 1
    assert "no durable subscription 'jobs'" in capsys.readouterr().err


def printed(capsys: pytest.CaptureFixture[str], *argv: str) -> list[object]:
    """What `tamis sub --durable jobs` prints of the attribute n."""
    capsys.readouterr()
    assert main(["sub", "--durable", "jobs", "--json", "--timeout", "20", *argv]) == 0
    out, err = capsys.readouterr()
    assert err.startswith("consuming jobs as ")
    return [json.loads(line)["attributes"]["n"] for line in out.splitlines()]


def test_what_is_printed_is_done_with(router: blocking.BlockingRouter, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["durable", "create", "jobs", "n > 0"]) == 0
    assert main(["pub", "n={{count}}", "--count", "5", "--confirm", "stored"]) == 0
    assert printed(capsys, "--count", "2", "--no-ack") == [1, 2]
    assert printed(capsys, "--count", "2") == [1, 2]
    router.kill()
    router.start()
    assert printed(capsys, "--count", "2", "--ack") == [3, 4]
    assert printed(capsys, "--timeout", "2") == [5]
    assert printed(capsys, "--timeout", "1") == []


@pytest.mark.usefixtures("router")
def test_a_time_to_live_runs_out(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["durable", "create", "jobs", "n > 0"]) == 0
    assert main(["pub", "n=1", "--ttl", "500ms", "--confirm", "stored"]) == 0
    assert main(["pub", "n=2", "--ttl", "1h", "--confirm", "stored"]) == 0
    time.sleep(0.5)
    capsys.readouterr()
    assert main(["sub", "--durable", "jobs", "--json", "--timeout", "2"]) == 0
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [form["attributes"] for form in told if "gap" not in form] == [{"n": 2}]
    assert [form["gap"]["messages"] for form in told if "gap" in form] == [1]


@pytest.mark.parametrize("argv", [[], ["--", "{}"], ["--confirm"], ["--confirm", "--", "{}"]])
def test_confirm_needs_no_level(
    argv: list[str],
    router: blocking.BlockingRouter,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"{}\n")))
    assert main(["pub", *argv]) == 0, router
    assert f"1 message {'published' if '--confirm' in argv else 'sent'} in " in capsys.readouterr().err


def test_attaching_to_no_durable_is_refused(
    router: blocking.BlockingRouter, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sub", router.address, "--durable", "jobs"]) == 1
    assert "no durable subscription 'jobs'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["durable", "create", "jobs"], "give a NAME and one PREDICATE"),
        (["durable", "create", "jobs", "n >"], "predicate, "),
        (["durable", "create", "jobs", "true", "--bytes", "many"], "a size such as '64 MiB'"),
        (["durable", "create", "jobs", "true", "--idle", "soon"], "never, or a time such as 30s"),
        (["durable", "create", "jobs", "true", "--ack-wait", "never"], "a time such as 30s"),
        (["durable", "rm"], "the NAME of one durable subscription"),
        (["sub", "--durable", "jobs", "true"], "a durable subscription has its own predicate: omit 'true'"),
        (["sub", "--durable", "jobs", "--own", "--group", "g"], "--durable cannot be used with --own, --group"),
        (["sub", "true", "--no-ack"], "need --durable NAME"),
        (["sub", "--durable", "jobs", "--format", "{{.no}}"], "no placeholder .no"),
        (["pub", "n=1", "--confirm=printed"], "'accepted', 'stored', 'held'"),
        (["pub", "n=1", "--ttl", "soon"], "expected a time such as 30s, 15m, 12h and 7d, at most 36500d, not 'soon'"),
    ],
)
def test_what_cannot_be_is_said(argv: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(argv) == 2
    assert said in capsys.readouterr().err


def test_a_router_that_stores_nothing_refuses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "one.yaml"
    file.write_text(f'routers: {{a: {{clients: "127.0.0.1:{free_port()}"}}}}\n')
    with blocking.started(file, "a") as one:
        monkeypatch.setenv("TAMIS_URL", one.address)
        assert main(["durable", "create", "jobs", "true"]) == 1
        assert main(["pub", "n=1", "--confirm", "stored"]) == 1
        assert main(["pub", "--confirm", "n=1"]) == 0
    assert capsys.readouterr().err.count("Error: ") == 2
