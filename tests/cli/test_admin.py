"""Whom `tamis status` and its like ask, and what they make of figures."""

from __future__ import annotations

import pytest

from tamis.cli.main import main
from tamis.cli.network.rates import Sample, view
from tamis.cli.network.status import lost
from tamis.cli.network.top import as_text
from tamis.cli.reach.admin import DEFAULT, AdminTarget, NoAnswer, routers
from tamis.cli.tables import byte_count, columns, duration, so_many

TWO = "routers:\n  a: {admin: 127.0.0.1:1, neighbours: 127.0.0.1:2}\n  b: {}\nlinks: [[a, b]]\n"


def test_a_target_is_a_file_or_an_address(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    file = tmp_path / "two.yaml"
    file.write_text(TWO)
    assert routers(str(file)) == [AdminTarget("a", "127.0.0.1:1"), AdminTarget("b", None)]
    assert routers(None) == [AdminTarget(DEFAULT, DEFAULT)]
    assert [router.address for router in routers("http://[::1]:7600/")] == ["[::1]:7600"]
    assert [router.address for router in routers("unix:/run/a.sock")] == ["unix:/run/a.sock"]


@pytest.mark.parametrize("command", [["status"], ["filters"], ["top", "--once"], ["explain", "a=1", "--router"]])
def test_a_target_that_is_neither(command, capsys) -> None:
    assert main([*command, "network.yaml"]) == 2
    assert "'network.yaml' is neither a file nor an admin address" in capsys.readouterr().err


def test_a_router_that_does_not_answer_is_told_about(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    file = tmp_path / "two.yaml"
    file.write_text(TWO)
    for command in (["status"], ["filters"], ["explain", "a=1", "--router"]):
        assert main([*command, str(file)]) == 1
        err = capsys.readouterr().err
        assert "a: 127.0.0.1:1 does not answer: " in err
        assert "b: no `admin` address" in err
    with pytest.raises(NoAnswer, match="No such file"):
        AdminTarget("u", f"unix:{tmp_path / 'none'}").ask("/status")


STATUS = {
    "router": "a",
    "epoch": 1,
    "state": "serving",
    "lost": {"queue_full": 5, "no_link": 0},
    "longest_stall_ms": 1.0,
} | dict.fromkeys(("clients", "connections", "filters", "queued_bytes", "memory_bytes", "bytes_in", "bytes_out"), 2)
STATUS |= {"messages_in": 100, "deliveries": 300, "matches_timed": 10, "match_ns_sum": 9000}

CONNECTION = {
    "interface": 1,
    "client": "c",
    "peer": "p",
    "state": "open",
    "is_blocked": False,
    "messages_in": 10,
    "deliveries": 20,
} | dict.fromkeys(("filters", "queued_bytes", "queued_peak", "dropped"), 0)


def sample(at_s: float, status: dict[str, object], **connection: object) -> Sample:
    return Sample("x", at_s, STATUS | status, {(1, "c"): CONNECTION | connection})


def test_rates_are_what_changed_by_the_second() -> None:
    later = {"messages_in": 150, "deliveries": 400, "lost": {"queue_full": 9, "no_link": 0}}
    later |= {"matches_timed": 12, "match_ns_sum": 13_000}
    shown = view([sample(5.0, {})], [sample(7.0, later, messages_in=14, deliveries=20)], 10)
    [router], [connection] = shown["routers"], shown["connections"]
    assert (router["router"], router["in_s"], router["out_s"], router["lost_s"], router["match_us"]) == (
        "a",
        25,
        50,
        2,
        2.0,
    )
    assert (connection["in_s"], connection["out_s"]) == (2, 0)


def test_a_router_or_connection_made_anew_counts_from_nothing() -> None:
    anew = sample(7.0, {"epoch": 2, "messages_in": 4})
    assert view([sample(5.0, {})], [anew], 10)["routers"][0]["in_s"] == 2
    other = sample(7.0, {}, messages_in=6, deliveries=0)
    assert view([sample(5.0, {})], [other], 10)["connections"][0]["in_s"] == 3
    assert view([Sample("x", 5.0)], [sample(7.0, {})], 10)["routers"][0]["in_s"] == 50
    silent = view([sample(5.0, {})], [Sample("x", 7.0)], 10)
    assert silent == {"routers": [{"router": "x", "state": "no answer"}], "connections": []}
    assert view([sample(5.0, {})], [sample(7.0, {})], 10)["routers"][0]["match_us"] is None


WIDE = STATUS | {
    "messages_in": 123_456,
    "deliveries": 2_345_678,
    "forwarded": 98_765,
    "bytes_in": 10**9,
    "router": "r" * 9,
}
WIDE |= {"network": {"links": [{"state": "up"}, {"state": "dialling"}]}, "lost": {"queue_full": 4321}, "clients": 4711}


@pytest.mark.parametrize("width", [60, 80, 132])
def test_a_table_fits_its_terminal_and_keeps_what_matters(width) -> None:
    begun = Sample("x", 5.0, WIDE | dict.fromkeys(("messages_in", "deliveries", "forwarded"), 0) | {"lost": {}})
    connection = CONNECTION | {"client": "c" * 12, "peer": "2001:db8:aaaa:bbbb::1:50000", "deliveries": 123_456}
    later = Sample("x", 6.0, WIDE, {(1, "c"): connection})
    text = as_text(view([begun], [later], 10), width)
    assert max(map(len, text.splitlines())) <= width, text
    for head in ("links", "in/s", "out/s", "fwd/s", "lost/s"):
        assert head in text.splitlines()[0]
    assert {"1/2", "98,765.0", "4,321.0"} <= set(text.split())
    assert ("match" in text) is (width > 80)


def test_routers_and_connections_are_sorted() -> None:
    before = [Sample(name, 0.0, STATUS | {"router": name, "lost": {}}) for name in "ba"]
    now = [Sample("b", 1.0, STATUS | {"router": "b", "lost": {"queue_full": 1}}), Sample("a", 1.0, STATUS)]
    assert [row["router"] for row in view(before, now, 9)["routers"]] == ["b", "a"]
    assert [row["router"] for row in view(before, now, 9, "name")["routers"]] == ["a", "b"]
    assert [row["router"] for row in view(before, now, 9, "lost")["routers"]] == ["a", "b"]


def test_the_busiest_connections_come_first() -> None:
    before = Sample("x", 0.0, STATUS)
    many = {(n, "c"): CONNECTION | {"interface": n, "messages_in": n} for n in range(5)}
    shown = view([before], [Sample("x", 1.0, STATUS, many)], 2)
    assert [row["interface"] for row in shown["connections"]] == [4, 3]


def test_what_nobody_wanted_is_not_lost() -> None:
    assert lost({"dropped": {"unmatched": 5, "queue_full": 3}, "lost": {"queue_full": 3, "no_link": 2}}) == 5
    assert lost({"dropped": {"unmatched": 5}}) == 0


def test_tables() -> None:
    assert columns(("name", "n"), [("a", 1234), ("bb", 5)]) == "name      n\na     1,234\nbb        5"
    assert columns(("name", "n"), []) == "name  n"
    assert [byte_count(n) for n in (0, 1023, 1024, 5 * 2**30, 2**50)] == [
        "0 B",
        "1023 B",
        "1.0 KiB",
        "5.0 GiB",
        "1048576.0 GiB",
    ]
    assert [duration(s) for s in (0.5, 61, 3_700, 90_000)] == ["0.50 s", "1 min 1 s", "1 h 1 min", "1 d 1 h"]
    assert [so_many(n, "line") for n in (0, 1, 2, 1_200)] == ["0 lines", "1 line", "2 lines", "1,200 lines"]
