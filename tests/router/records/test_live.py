"""Whole routers that keep records: the schema, the choice of messages, a crash."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tamis.blocking import connect
from tamis.protocol.messages import MessageId
from tamis.protocol.records import KINDS
from tamis.protocol.sampling import is_sampled, threshold_of
from tamis.router.records.converting import CLOSED
from tamis.router.records.reading import Reader, router_folders
from tests.router.conftest import Process
from tests.routers import Running, running_line
from tests.schema_of_records import OF_DURABLES, check_record

pytestmark = pytest.mark.slow
NAMES = "abc"
PATIENCE_S = 30.0


def read(folder: Path, family: str) -> list[dict[str, object]]:
    reader = Reader.of(router_folders(folder / "records"), [family])
    found = [line.record for line in reader.read()]
    assert reader.broken == 0
    for record in found:
        check_record(record, family)
    return found


def publish_over_the_line(routers: list[Running], count: int) -> None:
    """From a to c, until all has come."""
    with (
        connect(routers[0].client, name="pub") as pub,
        connect(routers[2].client, name="sub") as sub,
    ):
        with sub.subscribe("x >= 0", wait="network") as wanted:
            pub.publish_many(({"x": number, "y": 0.5} for number in range(count)), confirm=True)
            for _ in range(count):
                assert wanted.receive(PATIENCE_S) is not None


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """The folder of three routers that have recorded every fourth of 400 messages."""
    folder = tmp_path_factory.mktemp("line")
    with running_line(folder, NAMES, "records: {messages: 0.25}") as routers:
        until(folder, lambda events: {r["router"] for r in events if len(r.get("routers", ())) == 3} == set(NAMES))
        publish_over_the_line(routers, 400)
        until(folder, lambda events: len({(r["router"], r["neighbour"]) for r in events if r["kind"] == "clock"}) == 4)
    return folder


def until(folder: Path, is_so: Callable[[list[dict[str, object]]], bool]) -> None:
    """Something is told by the events that are written."""
    deadline_s = time.monotonic() + PATIENCE_S
    while not is_so(read(folder, "events")):
        assert time.monotonic() < deadline_s
        time.sleep(0.05)


def test_every_record_has_the_fields_of_its_kind(recorded):
    kinds = {record["kind"] for family in ("events", "messages") for record in read(recorded, family)}
    assert kinds == KINDS.keys() - {"lost", *OF_DURABLES}


def test_records_are_numbered_without_gaps(recorded):
    for family, name in itertools.product(("events", "messages"), NAMES):
        numbers = [record["n"] for record in read(recorded, family) if record["router"] == name]
        assert sorted(numbers) == list(range(len(numbers)))


def test_all_routers_choose_the_same_messages(recorded):
    chosen = {
        name: {
            MessageId(int(str(r["origin"]), 16), int(str(r["number"])))
            for r in read(recorded, "messages")
            if r["router"] == name
        }
        for name in NAMES
    }
    assert chosen["a"] == chosen["b"] == chosen["c"]
    assert 50 < len(chosen["a"]) < 150
    assert all(is_sampled(id_, threshold_of(0.25)) for id_ in chosen["a"])


def test_a_message_is_followed_from_its_source_to_its_client(recorded):
    for _, hops in itertools.groupby(
        sorted(read(recorded, "messages"), key=lambda r: (r["number"], r["hop"])), lambda r: r["number"]
    ):
        a, b, c = hops
        assert [(r["router"], r["hop"], r["source"], r["to_neighbours"]) for r in (a, b, c)] == [
            ("a", 0, "a", ["b"]),
            ("b", 1, "a", ["c"]),
            ("c", 2, "a", []),
        ]
        assert (b["from_neighbour"], c["from_neighbour"]) == ("a", "b")
        assert (len(c["to_connections"]), c["matched"]) == (1, 1)
        assert json.loads(a["attributes"])["y"] == 0.5


def test_what_clients_want_is_told_with_its_end(recorded):
    [added, removed] = [record for record in read(recorded, "events") if record["kind"] == "subscription"]
    assert (added["router"], added["client"], added["what"], added["own"]) == ("c", "sub", "added", False)
    assert [json.loads(filter_) for filter_ in added["filters"]] == [[["x", ">=", 0]]]
    assert [len(key) for key in added["keys"]] == [16]
    assert (removed["what"], removed["subscription"]) == ("removed", added["subscription"])
    assert (removed["filters"], removed["keys"]) == (added["filters"], added["keys"])


def test_counters_of_interfaces_add_up(recorded):
    events = [record for record in read(recorded, "events") if record["kind"] == "interface"]
    sums = {
        (name, end): sum(
            r[field] for r in events if r["router"] == name and end in (r.get("client"), r.get("neighbour"))
        )
        for name, end, field in (("a", "pub", "messages_in"), ("b", "c", "messages_out"), ("c", "sub", "messages_out"))
    }
    assert set(sums.values()) == {400}


def test_neighbours_on_one_machine_have_one_clock(recorded):
    clocks = [record for record in read(recorded, "events") if record["kind"] == "clock"]
    assert {(record["router"], record["neighbour"]) for record in clocks} == {
        ("a", "b"),
        ("b", "a"),
        ("b", "c"),
        ("c", "b"),
    }
    assert all(abs(record["offset_us"]) <= record["error_us"] for record in clocks)


@pytest.mark.parametrize(("form", "size", "closed"), [("jsonl", 65_536, 4), ("parquet", 600_000, 2)])
def test_a_router_that_is_killed_under_traffic_leaves_whole_files(tmp_path, form, size, closed):
    router = Process(
        tmp_path,
        f"records: {{messages: all, format: {form}, rotate: {{bytes: {size}}}}}\n"
        "routers: {a: {clients: ['unix:a.sock']}}",
    )
    with connect(router.where, name="pub") as pub:
        files = tmp_path / "records" / "a"
        number = itertools.count()
        while len(list(files.glob(f"messages-*{CLOSED[form]}"))) < closed:
            pub.publish_many({"x": next(number)} for _ in range(1_000))
        router.close()  # SIGKILL
    reader = Reader.of([files], ["messages"])
    records = [line.record for line in reader.read()]
    assert reader.broken == 0
    assert [record["n"] for record in records] == list(range(len(records)))
    assert len(records) > 500
    for record in records:
        check_record(record, "messages")


def test_columns_are_refused_at_the_start_where_pyarrow_is_not_installed(tmp_path):
    (tmp_path / "without").mkdir()
    (tmp_path / "without" / "pyarrow.py").write_text("raise ModuleNotFoundError('as if', name='pyarrow')\n")
    (tmp_path / "net.yaml").write_text("records: {format: parquet}\nrouters: {a: {clients: ['unix:a.sock']}}")
    done = subprocess.run(  # noqa: S603 - ourselves
        [sys.executable, "-m", "tamis.cli.main", "router", "--topology", str(tmp_path / "net.yaml"), "--id", "a"],
        env=os.environ | {"PYTHONPATH": str(tmp_path / "without")},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 2
    assert "records: format: parquet needs pyarrow: pip install 'tamis[parquet]'" in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr


def test_a_folder_that_cannot_be_written_harms_nobody(tmp_path):
    (tmp_path / "records").write_text("in the way")
    router = Process(tmp_path, "records: {messages: all}\nrouters: {a: {clients: ['unix:a.sock']}}")
    with connect(router.where, name="one") as client, client.subscribe("x = 1", own_messages=True) as wanted:
        client.publish({"x": 1}, confirm=True)
        assert wanted.receive(PATIENCE_S) is not None
    router.signal(15)
    assert router.wait(PATIENCE_S) == 0
    said = [line["message"] for line in router.logged()]
    router.close()
    assert said.count("records cannot be written") == 1
