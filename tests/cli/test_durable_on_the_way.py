"""`tamis explain` and `trace` name the durable subscriptions that store a message, at each router of its way."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tamis.blocking import Client, connect
from tamis.cli.main import main
from tamis.protocol.limits import REPORT_DURABLES_MAX
from tamis.protocol.wire.numbers import stable_number
from tamis.testing import blocking, free_port
from tamis.testing.blocking import BlockingRouter
from tests.cli.test_live import until_linked

pytestmark = pytest.mark.slow
DURABLE_KEYS = "durable: {bytes: 268435456, segment_bytes: 1048576, subscriptions: 200, subscriptions_per_client: 200}"


@pytest.fixture(name="pair")
def _pair(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[dict[str, BlockingRouter]]:
    """Routers a and b, linked; both store messages."""
    file = tmp_path / "pair.yaml"
    routers = ", ".join(
        f'{name}: {{clients: "127.0.0.1:{free_port()}", admin: "unix:{name}.admin", neighbours: "unix:{name}.links",'
        f" data: data-{name}}}"
        for name in "ab"
    )
    file.write_text(f"{DURABLE_KEYS}\nrouters: {{{routers}}}\nlinks: [{{ends: [a, b]}}]\n")
    with blocking.started(file, "a") as a, blocking.started(file, "b") as b:
        until_linked(str(a.admin), "ab", capsys)
        yield {"a": a, "b": b}


def said(capsys: pytest.CaptureFixture[str], *argv: str) -> list[dict[str, Any]]:
    capsys.readouterr()
    assert main([*argv, "--json"]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def shown(capsys: pytest.CaptureFixture[str], *argv: str) -> list[str]:
    capsys.readouterr()
    assert main([*argv]) == 0
    return capsys.readouterr().out.splitlines()


def depths(client: Client, file: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, int]:
    client.publish({"other": 1}, confirm=True)
    return {form["durable"]: form["depth"] for form in said(capsys, "durable", "ls", str(file))}


def test_durables_are_named_at_each_router_and_a_dry_run_stores_nothing(
    pair: dict[str, BlockingRouter], capsys: pytest.CaptureFixture[str]
) -> None:
    a, b = pair["a"], pair["b"]
    file = str(a.file)
    with connect(a.address, name="first") as first, connect(b.address, name="second") as second:
        first.durable("audit", "n > 0")
        first.durable("twice", "n > 0 or m > 0")
        second.durable("jobs", "n > 1", dialect="jms")
        second.subscribe("n > 1", wait="network").start()
        dry = said(capsys, "trace", "--dry-run", a.address, "n=2", "m=1")
        lines = shown(capsys, "trace", "--dry-run", a.address, "n=2", "m=1")
        assert depths(first, a.file, capsys) == {"audit": 0, "jobs": 0, "twice": 0}
        why = said(capsys, "explain", "--router", file, "n=2")
        words = shown(capsys, "explain", "--router", file, "n=2")
        filters = said(capsys, "filters", str(b.admin))
        traced = said(capsys, "trace", a.address, "n=2", "--router", file)
        of_one = said(capsys, "trace", a.address, "n=1")
        assert depths(first, a.file, capsys) == {"audit": 2, "jobs": 1, "twice": 2}
    assert [(form["router"], form["durables"], form["durable_count"]) for form in dry] == [
        ("a", ["audit", "twice"], 2),
        ("b", ["jobs"], 1),
    ]
    assert [line.split() for line in lines[1:]] == [
        ["a", "0", "b", "audit", "twice"],
        ["└─", "b", "1", "jobs", f"{stable_number('second'):016x}/1"],
    ]
    assert [(form["router"], form["durables"], form["clients"]) for form in why] == [
        ("a", ["audit", "twice"], []),
        ("b", ["jobs"], ["second"]),
    ]
    assert words[0] == "router a: 2 filters match, the message is stored by audit, twice"
    assert "router b: 2 filters match, the message goes to second and is stored by jobs" in words
    assert "durable subscription jobs: n > 1" in words
    assert [(form["durable"], form["client"], form["dialect"], form["filter"]) for form in filters] == [
        ("jobs", "", "jms", "n > 1"),
        (None, "second", None, "n > 1"),
    ]
    assert [(form["router"], form["durables"], form["dropped"]) for form in traced] == [
        ("a", ["audit", "twice"], ""),
        ("b", [], ""),
    ], "jobs stores what the chain brings, which is not traced"
    assert [(form["router"], form["durables"]) for form in of_one] == [("a", ["audit", "twice"])]


def test_who_receives_and_who_keeps_are_told_apart(
    pair: dict[str, BlockingRouter], capsys: pytest.CaptureFixture[str]
) -> None:
    a = pair["a"]
    with connect(a.address, name="desk") as desk:
        desk.durable("audit", "n > 0")
        desk.subscribe("n > 0").start()
        words = shown(capsys, "explain", "--router", str(a.file), "n=1")
        [dry] = said(capsys, "trace", "--dry-run", a.address, "n=1")
        [traced] = said(capsys, "trace", a.address, "n=1", "--router", str(a.admin))
        nobody = shown(capsys, "explain", "--router", str(a.file), "n=0")
    assert words[0] == "router a: 2 filters match, the message goes to desk and is stored by audit"
    assert (dry["delivery_count"], dry["durables"]) == (1, ["audit"])
    assert (traced["clients"], traced["durables"], traced["filter_count"]) == (["desk"], ["audit"], 1)
    assert nobody[:1] == ["router a: no filter of its clients matches, the message has no receiver"]


def test_a_message_for_which_a_durable_has_no_room_is_not_said_to_be_kept(
    pair: dict[str, BlockingRouter], capsys: pytest.CaptureFixture[str]
) -> None:
    """The subscribers have it all the same, where it enters and behind a link."""
    a, b = pair["a"], pair["b"]
    with connect(b.address, name="owner") as owner:
        owner.subscribe("n > 0", wait="network").start()
        owner.durable("full", "n > 0", count=1, overflow="refuse")
        owner.publish({"n": 1}, confirm="stored")
        [here] = said(capsys, "trace", b.address, "n=2")
        away = said(capsys, "trace", a.address, "n=3")
    assert (here["durables"], here["durable_count"], here["filter_count"]) == ([], 0, 1)
    assert [(form["router"], form["durables"], form["durable_count"]) for form in away] == [("a", [], 0), ("b", [], 0)]


def test_names_of_many_durables_are_bounded_and_all_are_counted(
    pair: dict[str, BlockingRouter], capsys: pytest.CaptureFixture[str]
) -> None:
    a, count = pair["a"], REPORT_DURABLES_MAX + 6
    names = [f"keep-{number:03}" for number in range(count)]
    with connect(a.address, name="many") as many:
        for name in names:
            many.durable(name, "n > 0", bytes=1 << 20)
        [dry] = said(capsys, "trace", "--dry-run", a.address, "n=1")
        [traced] = said(capsys, "trace", a.address, "n=1")
        [why] = said(capsys, "explain", "--router", str(a.admin), "n=1")
        words = shown(capsys, "explain", "--router", str(a.admin), "n=1")
    for form in (dry, traced, why):
        assert (form["durable_count"], len(form["durables"])) == (count, REPORT_DURABLES_MAX)
        assert set(form["durables"]) < set(names)
    assert words[0].endswith(f"keep-004, and {count - 5} more")
