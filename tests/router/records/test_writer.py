"""The writer of records: what is noted is written, and what cannot be is counted and told."""

from __future__ import annotations

import errno
import json
import logging
import os

import pytest

from tamis.native import RecordRing, Switch, SwitchOptions, Table
from tamis.protocol.wire.data_frames import encode_publish
from tamis.router.records import writer as module
from tamis.router.records.files import Bounds
from tamis.router.records.lines import RecordLines
from tamis.router.records.reading import Reader
from tamis.router.records.writer import Writer
from tests.native.test_switch import opened
from tests.schema_of_records import check_record

PATIENCE_S = 60.0
"""The compressor is a thread of low priority, and waits for its turn on a busy machine."""


class Desk:
    """A writer whose turns are the test's, with a switch that notes messages."""

    def __init__(self, folder) -> None:
        self.now_s = 1_000.0
        self.folder = folder / "records" / "a"
        lines = RecordLines("a", 5)
        self.records = RecordRing(lines.prefix("message"), 2**64 - 1)
        self.writer = Writer(self.folder, Bounds(10**6, 60.0, 10**7), lines, self.records, lambda: self.now_s)
        self.table = Table()
        self.switch = Switch(self.table, SwitchOptions(1, 2, connections_max=3, publishers_max=3, hop_limit=9))
        self.switch.record(self.records)
        self.alice, self.sent = opened(self.switch, 7), 0

    def publish(self, count: int) -> None:
        for _ in range(count):
            self.sent += 1
            self.switch.feed(self.alice, encode_publish(7, self.sent, 0, {"x": 1}))

    def written(self, family: str) -> list[dict[str, object]]:
        found = [line.record for line in Reader.of([self.folder], [family]).read()]
        for record in found:
            check_record(record, family)
        return found

    def close(self) -> None:
        self.switch.close()
        self.table.close()
        self.records.close()


@pytest.fixture
def desk(tmp_path):
    made = Desk(tmp_path)
    yield made
    made.close()


def note(desk: Desk, count: int = 1) -> None:
    for _ in range(count):
        desk.writer.note("link", {"neighbour": "b", "what": "up", "session": 1, "interface": 3, "cost": None})


def test_events_and_messages_are_written_apart_and_numbered(desk):
    note(desk, 120)
    desk.publish(3)
    desk.writer.turn()
    assert [record["n"] for record in desk.written("events")] == list(range(120))
    assert [record["number"] for record in desk.written("messages")] == [1, 2, 3]
    assert "cost" not in desk.written("events")[0]
    assert desk.written("events")[0]["t_us"] == 1_000_000_000


def test_what_takes_long_to_say_is_said_by_the_writer(desk):
    desk.writer.note("lost", lambda: {"family": "events", "count": 3})
    assert not desk.folder.exists()
    desk.writer.turn()
    assert [record["count"] for record in desk.written("events")] == [3]


def test_a_full_queue_loses_events_and_says_so(desk, monkeypatch):
    monkeypatch.setattr(module, "EVENTS_MAX", 10)
    note(desk, 15)
    desk.writer.turn()
    desk.writer.turn()
    *_, told = desk.written("events")
    assert (told["kind"], told["family"], told["count"], told["n"]) == ("lost", "events", 5, 15)


def test_a_folder_that_cannot_be_written_is_said_once_and_what_is_lost_is_counted(desk, caplog, monkeypatch):
    monkeypatch.setattr(logging.getLogger("tamis"), "propagate", True)
    desk.folder.parent.parent.mkdir(exist_ok=True)
    desk.folder.parent.write_text("in the way")
    for _ in range(3):
        note(desk)
        desk.publish(2)
        desk.writer.turn()
        desk.now_s += 0.6
    assert [record.getMessage() for record in caplog.records] == ["records cannot be written"]
    desk.folder.parent.unlink()
    desk.now_s += 1
    note(desk)
    desk.writer.turn()
    desk.writer.turn()
    assert [record.getMessage() for record in caplog.records][1:] == ["records are written again"]
    link, *losses = desk.written("events")
    assert (link["kind"], link["n"]) == ("link", 3)
    assert {(loss["family"], loss["count"]) for loss in losses} == {("events", 3), ("messages", 6)}


def test_a_full_disk_garbles_nothing(desk, monkeypatch):
    note(desk, 2)
    desk.writer.turn()
    write = os.write

    def half(descriptor: int, data) -> int:
        monkeypatch.setattr(os, "write", full)
        return write(descriptor, data[:20])

    def full(*_) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", half)
    note(desk, 3)
    desk.writer.turn()
    monkeypatch.setattr(os, "write", write)
    desk.now_s += 2
    note(desk)
    desk.writer.turn()
    desk.writer.turn()
    reader = Reader.of([desk.folder])
    assert [line.record["n"] for line in reader.read()] == [0, 1, 5, 6]
    assert reader.broken == 0


def test_a_bug_in_one_record_does_not_end_the_writer(desk, caplog, monkeypatch):
    monkeypatch.setattr(logging.getLogger("tamis"), "propagate", True)
    desk.writer.note("link", lambda: {"neighbour": object()})
    desk.writer.turn()
    assert "failed to write records" in caplog.text
    note(desk)
    desk.writer.turn()
    assert [record["n"] for record in desk.written("events")] == [1]


def test_names_are_known_before_the_messages_that_need_them(desk):
    desk.writer.name(1, json.dumps("rome").encode(), 0)
    desk.publish(1)
    desk.writer.turn()
    assert [record["source"] for record in desk.written("messages")] == ["rome"]


def test_all_that_is_noted_is_written_at_the_end(desk):
    desk.writer.start()
    note(desk, 1_000)
    desk.publish(50)
    desk.writer.close()
    assert (len(desk.written("events")), len(desk.written("messages"))) == (1_000, 50)


def test_what_a_life_has_written_is_compressed_at_its_end(desk, monkeypatch):
    monkeypatch.setattr(module, "CLOSING_S", PATIENCE_S)
    desk.writer.start()
    note(desk)
    desk.writer.close()
    assert [path.name for path in desk.folder.iterdir()] == ["events-5-000000.jsonl.gz"]
    assert len(desk.written("events")) == 1


def test_what_there_is_no_time_for_at_the_end_is_left_to_the_next_life(desk, monkeypatch):
    monkeypatch.setattr(module, "CLOSING_S", -1.0)
    desk.writer.start()
    note(desk)
    desk.writer.close()
    assert [path.name for path in desk.folder.iterdir()] == ["events-5-000000.jsonl"]


def test_what_earlier_lives_have_left_is_compressed(desk, monkeypatch):
    monkeypatch.setattr(module, "CLOSING_S", PATIENCE_S)
    desk.folder.mkdir(parents=True)
    (desk.folder / "messages-4-000002.jsonl").write_bytes(b"{}\n")
    desk.writer.start()
    desk.writer.compress_earlier()
    desk.writer.close()
    assert [path.name for path in desk.folder.iterdir()] == ["messages-4-000002.jsonl.gz"]
