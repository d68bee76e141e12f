"""Shares of owners over TCP: whom they bind, what pages say that an owner holds, and that a start finds the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tamis import Gap
from tamis.blocking import connect
from tamis.cli.network.durable_lines import durable_lines
from tamis.cli.reach.admin_http import asked
from tamis.testing import blocking, free_port
from tamis.testing.blocking import BlockingRouter
from tests.router.durable.test_kill import PATIENCE_S, restarted

pytestmark = pytest.mark.slow
LINES = "press secret\nhall secret2\n"
ROW = 128


def started(folder: Path, tokens: str | None) -> Any:
    file = folder / "one.yaml"
    keys = "durable: {bytes: 268435456, segment_bytes: 1048576, share: 0.5}\n"
    if tokens is not None:
        (folder / "tokens").touch(mode=0o600)
        (folder / "tokens").write_text(tokens)
        keys += "tokens: tokens\n"
    ports = f'clients: "127.0.0.1:{free_port()}", admin: "127.0.0.1:{free_port()}"'
    file.write_text(f"{keys}routers: {{a: {{{ports}, data: data}}}}\n")
    return blocking.started(file, "a")


def page(one: BlockingRouter, path: str) -> str:
    _, body = asked(one.said["admin"][0].removeprefix("http://"), "GET", path, None)
    return body.decode() if isinstance(body, bytes) else str(body)


def kept_of(one: BlockingRouter) -> dict[str, Any]:
    status: dict[str, Any] = json.loads(page(one, "/status"))
    return dict(status["durable"])


@pytest.mark.parametrize(
    ("tokens", "share"), [(None, None), (LINES, 134_217_728), (LINES + "* secret3\n", None)], ids=["none", "names", "*"]
)
def test_shares_bind_where_names_are_proven_and_nowhere_else(tmp_path: Path, tokens: str | None, share: int | None):
    with started(tmp_path, tokens) as one:
        assert kept_of(one)["share_bytes"] == share
        assert f"tamis_durables_share_bytes {share or 0}" in page(one, "/metrics")


def test_an_owner_holds_what_waits_for_it_and_nothing_once_that_is_taken(tmp_path: Path):
    with started(tmp_path, LINES) as one:
        with connect(one.address, name="press", token="secret") as press:  # noqa: S106 - of the test
            press.durable("one", "n >= 0")
            press.durable("two", "n >= 5")
            for n in range(10):
                press.publish({"n": n}, bytes(100), confirm="stored")
        with connect(one.address, name="hall", token="secret2") as hall:  # noqa: S106
            hall.durable("other", "n >= 0")
        before = kept_of(one)
        held = {each["owner"]: (each["subscriptions"], each["log_bytes"]) for each in before["owners"]}
        assert held == {"press": (2, before["bytes"] + 15 * ROW), "hall": (1, 0)}
        assert f'tamis_durables_owner_log_bytes{{owner="press"}} {before["bytes"] + 15 * ROW}' in page(one, "/metrics")
        restarted(one)
        assert kept_of(one)["owners"] == before["owners"]
        with connect(one.address, name="press", token="secret") as press:  # noqa: S106
            for name, count in (("one", 10), ("two", 5)):
                with press.consume(name) as work:
                    for _ in range(count):
                        message = work.receive(PATIENCE_S)
                        assert not isinstance(message, Gap)
                        message.ack(confirm=True)
        assert {each["log_bytes"] for each in kept_of(one)["owners"]} == {0}


def test_who_is_past_a_share_is_told_while_the_log_is_nearly_full():
    log = {"bytes": 9, "bytes_max": 10, "is_failed": False, "is_full": False, "missing": 0, "is_tight": True}
    kept = {"depth": 0, "subscriptions": 2, "log": log, "commit_ms": {"p50": None, "p99": None}, "share_bytes": 2_048}
    kept["owners"] = [
        {"owner": owner, "subscriptions": 1, "log_bytes": size} for owner, size in (("press", 4_096), ("hall", 9))
    ]
    _, log_line, past = durable_lines("a", {"durable": kept})
    assert log_line == "a: log 9 B of 10 B"
    assert past.endswith("owners above their share of 2.0 KiB, whose durable subscriptions are full: press (4.0 KiB)")
    log["is_tight"] = False
    assert len([*durable_lines("a", {"durable": kept})]) == 2
