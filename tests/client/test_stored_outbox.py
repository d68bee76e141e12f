"""An outbox in a file: what has no answer is sent again after a start, and no counter is given to two messages."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any, ClassVar

import pytest

import tamis
from tamis.client.connection.settings import settings_of
from tamis.client.messages import outbox_file
from tamis.client.messages.outbox_file import OutboxFile
from tamis.client.messages.stored_outbox import StoredOutbox
from tamis.protocol.errors import Refused
from tamis.protocol.wire.client_bodies import Ack, AckOf, Credit, Range, Refusal
from tamis.protocol.wire.codes import RefusalCode
from tamis.protocol.wire.data_frames import DataFrame
from tamis.protocol.wire.frames import decode
from tamis.protocol.wire.header import RETRY
from tamis.protocol.wire.reader import FrameReader

ORIGIN = 77


class Publisher:
    """One start of a publisher over the file at `path`, before a router by hand."""

    opened_files: ClassVar[list[OutboxFile]] = []
    """The files of this test's publishers, which `close_files` closes."""

    def __init__(self, path: Path, clock: int = 1_000) -> None:
        self.file = OutboxFile(path, "press", clock)
        self.opened_files.append(self.file)
        self.said: list[str] = []
        self.outbox = StoredOutbox(ORIGIN, self.file, self.said.append)

    def open(self, newest: int = 0) -> Publisher:
        self.outbox.opened(1 << 20, newest)
        self.outbox.grant(Credit(1 << 30, 1 << 40))
        return self

    def publish(self, number: int, *, confirm: bool = True) -> Future[None]:
        waiter: Future[None] = Future()
        self.outbox.publish({"n": number}, b"", 0, waiter, confirm=confirm, retry=False)
        return waiter

    def sent(self) -> list[DataFrame]:
        reader = FrameReader()
        reader.authenticated()
        while output := self.outbox.taken():
            reader.feed(bytes(output))
        found = [decode(frame) for frame in reader]
        assert all(isinstance(frame, DataFrame) for frame in found)
        return found  # type: ignore[return-value]

    def answer(self, *counters: int) -> None:
        for counter in counters:
            self.outbox.answer(Ack(AckOf.PUBLISH, 0, (Range(counter, counter),)))

    def kill(self) -> None:
        """End as a process that is killed: what was not committed is gone."""
        self.file._file.close()


@pytest.fixture(autouse=True)
def close_files() -> Iterator[None]:
    """Close what a test opened: from Python 3.13 on, a database that nobody closed is a warning, which fails a test."""
    yield
    while Publisher.opened_files:
        Publisher.opened_files.pop()._file.close()


def numbers(frames: list[DataFrame]) -> list[Any]:
    return [frame.message.attributes["n"] for frame in frames]


def test_what_has_no_answer_is_sent_again_under_its_id_before_what_is_new(tmp_path: Path) -> None:
    first = Publisher(tmp_path / "out").open()
    for number in (1, 2, 3):
        first.publish(number)
    sent = first.sent()
    first.answer(sent[1].message.id.counter)
    first.sent()
    first.kill()
    second = Publisher(tmp_path / "out", clock=5)  # the clock was put back
    waiter = second.publish(4)
    again = second.open().sent()
    assert numbers(again) == [1, 3, 4]
    assert [frame.message.id for frame in again[:2]] == [sent[0].message.id, sent[2].message.id]
    assert [bool(frame.flags & RETRY) for frame in again] == [True, True, False]
    assert again[2].message.id.counter > sent[2].message.id.counter
    second.answer(*(frame.message.id.counter for frame in again))
    assert waiter.done()
    second.sent()
    second.kill()
    assert Publisher(tmp_path / "out").open().sent() == []


def test_a_refused_message_of_an_earlier_start_is_told_and_not_sent_again(tmp_path: Path) -> None:
    first = Publisher(tmp_path / "out").open()
    first.publish(1)
    (sent,) = first.sent()
    first.kill()
    second = Publisher(tmp_path / "out").open()
    assert numbers(second.sent()) == [1]
    refusal = Refusal(sent.message.id.counter, RefusalCode.NOT_ALLOWED, "no")
    second.outbox.answer(Ack(AckOf.PUBLISH, 0, (), (refusal,)))
    assert "published before this start" in second.said[0]
    assert "NOT_ALLOWED" in second.said[0]
    second.sent()
    second.kill()
    assert Publisher(tmp_path / "out").open().sent() == []


def test_closing_leaves_what_has_no_answer_in_the_file(tmp_path: Path) -> None:
    first = Publisher(tmp_path / "out").open()
    waiter = first.publish(1)
    first.outbox.drop(tamis.ClientClosed("the client is closed"))
    assert isinstance(waiter.exception(), tamis.PublishUnknown)
    assert first.outbox.try_publish({"n": 2}, b"", 0) is None
    assert numbers(Publisher(tmp_path / "out").open().sent()) == [1]


@pytest.mark.parametrize("seed", [*range(5), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(5, 20))])
def test_in_any_history_no_counter_is_used_twice_and_nothing_without_an_answer_is_missing(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox_file, "BLOCK", 3)
    rng, said = random.Random(seed), {}
    publisher, owed, number, newest = Publisher(tmp_path / "out").open(), dict[int, int](), 0, 0
    for _ in range(150):
        step = rng.choice(("publish", "publish", "plain", "send", "send", "answer", "kill", "cut"))
        if step == "publish":
            number += 1
            publisher.publish(number)
        elif step == "plain":
            number += 1
            publisher.outbox.try_publish({"n": number}, b"", 0)
        elif step == "cut":
            publisher.outbox.cut("cut")
            newest += rng.choice((0, 0, 40))  # somebody else has published under this name
            publisher.open(max(newest, *said, 0))
        elif step == "kill":
            publisher.kill()
            publisher = Publisher(tmp_path / "out", clock=rng.randrange(2_000)).open(max(newest, *said, 0))
        sent = publisher.sent() if step == "send" else []
        for frame in sent:
            counter, content = frame.message.id.counter, frame.message.attributes["n"]
            assert said.setdefault(counter, content) == content, f"seed {seed}: counter {counter} is used twice"
            if frame.flags & 1:
                owed[counter] = content
        if step == "answer" and owed:
            counter = rng.choice(list(owed))
            del owed[counter]
            publisher.answer(counter)
            publisher.sent()
    publisher.kill()
    again = Publisher(tmp_path / "out").open().sent()
    assert set(owed) <= {frame.message.id.counter for frame in again}, f"seed {seed}"


def test_a_second_process_and_another_publisher_are_refused_in_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "out"
    held = OutboxFile(path, "press", 1)
    with pytest.raises(Refused, match="one publisher at a time"):
        OutboxFile(path, "press", 1)
    command = [
        sys.executable,
        "-c",
        "import sys, tamis.client.messages.outbox_file as o, pathlib; o.OutboxFile(pathlib.Path(",
    ]
    command[-1] += "sys.argv[1]), 'press', 1)"
    found = subprocess.run([*command, str(path)], capture_output=True, text=True, check=False)  # noqa: S603
    assert found.returncode
    assert "one publisher at a time" in found.stderr
    held.close()
    with pytest.raises(Refused, match="belongs to publisher 'press', not of 'other'"):
        OutboxFile(path, "other", 1)
    (tmp_path / "text").write_text("no database " * 100)
    with pytest.raises(Refused, match="the file of an outbox"):
        OutboxFile(tmp_path / "text", "press", 1)
    with pytest.raises(Refused, match="outbox= needs name="):
        settings_of(
            ("tamis://h:1",), name=None, token=None, tls=None, hold_s=1, inbox_bytes=4096, inbox_messages=1, outbox=path
        )


def test_the_file_has_a_bound_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbox_file, "OUTBOX_BYTES_MAX", 200)
    publisher = Publisher(tmp_path / "out").open()
    publisher.publish(1)
    publisher.publish(2)
    with pytest.raises(Refused, match="at most 200 bytes of messages without an answer"):
        publisher.publish(3)


def test_a_file_that_cannot_be_written_refuses_and_nothing_leaves(tmp_path: Path) -> None:
    publisher = Publisher(tmp_path / "out").open()
    publisher.file._file.execute("PRAGMA max_page_count=1")  # the file is as large as it may be
    with pytest.raises(tamis.OutboxFailed, match=r"out cannot be written: .* full"):
        publisher.outbox.publish({"n": 1}, bytes(100_000), 0, Future(), confirm=True, retry=False)
    assert publisher.sent() == []
