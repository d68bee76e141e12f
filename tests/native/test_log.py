"""The log from Python: what is open is read again, in order and whole, by every later life; a replay finds what the
evaluator says.

The C tests crash it on a faulty disk (native/tests/test_log_crashes.c); here it lies on a real one, beside a model of a
few dictionaries.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.native import Table
from tamis.native._tm import lib
from tamis.native.log import Log, LogBusy, LogFailed, LogFull, LogRecord
from tamis.protocol.evaluate import predicate_matches
from tamis.protocol.language import parse
from tamis.protocol.wire.data_frames import encode_publish

SMALL = {"bytes_max": 1 << 20, "segment_bytes": 1 << 16, "ring_bytes": 1 << 15}
WIDE = {**SMALL, "ring_bytes": 1 << 20}  # nothing waits for a commit
DURABLES = (1, 2, 3)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.sets(st.sampled_from(DURABLES)), st.binary(max_size=3000)),
        st.tuples(st.just("ack"), st.sampled_from(DURABLES), st.floats(0, 1), st.floats(0, 1)),
        st.tuples(st.just("reopen")),
    ),
    max_size=60,
)


@given(STEPS)
@settings(max_examples=settings.default.max_examples * 4 // 10, deadline=None)
def test_what_is_open_is_read_again(steps: list[tuple]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        log, last = Log(Path(folder) / "log", **SMALL), 0
        model: dict[int, dict[int, bytes]] = {durable: {} for durable in DURABLES}
        given_out: list[int] = []
        for kind, *rest in steps:
            if kind == "append":
                durables, body = rest
                last = log.append(body, sorted(durables))
                assert not given_out or last > given_out[-1]
                given_out.append(last)
                for durable in durables:
                    model[durable][last] = body
            elif kind == "ack" and given_out:
                durable, one, other = rest
                first, end = sorted(given_out[round(at * (len(given_out) - 1))] for at in (one, other))
                last = log.ack(durable, first, end)
                given_out.append(last)
                model[durable] = {n: body for n, body in model[durable].items() if not first <= n <= end}
            elif kind == "reopen":
                log.close()
                log = Log(Path(folder) / "log", **SMALL)
                assert log.missing() == []
        with log:
            log.wait(last)
            for durable in DURABLES:
                assert [(record.n, record.body) for record in log.read(durable)] == list(model[durable].items())


def test_a_replay_finds_what_the_evaluator_says(tmp_path: Path) -> None:
    predicate = parse("a > 3 and b = 'x'".replace("'", '"'))
    messages = [{"a": i % 9, "b": "xyz"[i % 3], "i": i} for i in range(500)]
    table = Table()
    for filter_ in predicate.filters:
        table.add(filter_, 0)
    with Log(tmp_path / "log", **SMALL) as log:
        frames = [encode_publish(1, i + 1, 0, attributes) for i, attributes in enumerate(messages)]
        log.wait(log.append_messages(frames, [1]))
        found = [record.body for record in log.replay(table)]
        assert found == [
            frame for frame, message in zip(frames, messages, strict=True) if predicate_matches(predicate, message)
        ]
        assert 0 < len(found) < len(frames)
        middle = list(log.replay())[250].n
        assert next(record.n for record in log.replay(None, middle)) == middle


def fill(log: Log) -> None:
    """Append until the log is full."""
    for _ in range(10_000):
        try:
            log.wait(log.append(b"x" * 1000, [1]))
        except LogBusy:  # it was not looked yet whether something can go
            time.sleep(0.01)


def test_a_full_log_says_so_and_acks_make_room(tmp_path: Path) -> None:
    with Log(tmp_path / "log", bytes_max=1 << 18, segment_bytes=1 << 15, ring_bytes=1 << 14) as log:
        with pytest.raises(LogFull, match="acknowledge messages"):
            fill(log)
        last = log.state()["appended"]
        log.wait(log.ack(1, 0, last))
        for _ in range(100):
            try:
                log.wait(log.append(b"again", [1]))
                break
            except (LogFull, LogBusy):
                time.sleep(0.05)
        assert [record.body for record in log.read(1)] == [b"again"]


def test_a_log_is_full_only_where_nothing_can_go(tmp_path: Path) -> None:
    """What was acknowledged and is not let go yet makes the log busy, not full."""
    with Log(
        tmp_path / "log", bytes_max=1 << 18, segment_bytes=1 << 15, ring_bytes=1 << 14, has_no_threads=True
    ) as log:

        def fill() -> type[Exception]:
            while True:
                try:
                    log.append(b"x" * 1000, [1])
                except (LogBusy, LogFull) as error:
                    return type(error)
                log.commit()

        assert fill() is LogBusy, "it was not looked yet whether something can go"
        while not log.maintain():
            pass
        assert fill() is LogFull
        log.ack(1, 0, log.state()["appended"])
        assert fill() is LogBusy, "an acknowledgement is on its way to the disk"
        log.commit()
        assert fill() is LogBusy, "what it lets go is still there"
        while not log.maintain():
            pass
        log.append(b"again", [1])
        log.commit()


def test_a_folder_is_open_once_and_options_are_named(tmp_path: Path) -> None:
    with Log(tmp_path / "log", **SMALL), pytest.raises(LogFailed, match="in use"):
        Log(tmp_path / "log", **SMALL)
    with pytest.raises(ValueError, match="segment_bytes 1000 "):
        Log(tmp_path / "log", segment_bytes=1000)


CHILD = """
import sys
from pathlib import Path
from tamis.native.log import Log
with Log(Path(sys.argv[1]), bytes_max=1 << 22, segment_bytes=1 << 16, ring_bytes=1 << 15) as log:
    print("before", log.committed, flush=True)
    for i in range(1 << 20):
        n = log.append(i.to_bytes(8, "big") * 10, [1])
        if i % 50 == 0:
            log.wait(n)
            print(n, flush=True)
            log.ack(1, 0, n - 200)
"""


@pytest.mark.slow
def test_what_a_killed_process_had_committed_is_there(tmp_path: Path) -> None:
    highest = 0
    for life in range(1, 4):
        run = [sys.executable, "-c", CHILD, str(tmp_path / "log")]
        with subprocess.Popen(run, stdout=subprocess.PIPE, text=True) as child:  # noqa: S603 - fixed arguments
            assert child.stdout is not None
            told = [child.stdout.readline() for _ in range(20 + 7 * life)]
            child.send_signal(signal.SIGKILL)
            told += child.stdout.read().splitlines()
        numbers = [int(line) for line in told if line.strip().isdigit()]
        assert min(numbers) > highest
        with Log(tmp_path / "log", **{**SMALL, "bytes_max": 1 << 22}) as log:
            assert log.missing() == []
            assert log.recovery()["damages"] == 0
            read = {record.n for record in log.read(1)}
            end = numbers[-1]
            acks = {n for n in range(end - 100, end + 1) if (n - end) % 51 == 1}
            assert set(range(end - 100, end + 1)) - acks <= read
            highest = max(log.state()["committed"], *numbers)


def wait_for_answer(log: Log) -> tuple[int, list[LogRecord]]:
    """The next answer; the descriptor says when."""
    while (answer := log.answer()) is None:
        assert select.select([log.descriptor()], [], [], 10)[0], "no answer"
        os.eventfd_read(log.descriptor())
    return answer


def test_an_answer_is_what_a_read_gives(tmp_path: Path) -> None:
    with Log(tmp_path / "log", **WIDE) as log:
        for i in range(2000):
            last = log.append(i.to_bytes(4, "big") * (i % 50), [i % 3 + 1])
        log.wait(last)
        log.wait(log.ack(2, 0, last // 2))
        for durable in DURABLES:
            whole, found, after = list(log.read(durable)), [], 0
            while records := wait_for_answer_of(log, log.ask(durable, after, 5000)):
                assert len(records) > 1
                found += records
                after = records[-1].n
            assert found == whole
            assert [summary.n for summary in log.summaries(durable)] == [record.n for record in whole]


def wait_for_answer_of(log: Log, ticket: int) -> list[LogRecord]:
    """The records of the one ticket that waits."""
    answered, records = wait_for_answer(log)
    assert answered == ticket
    return records


def test_no_more_is_asked_for_than_the_bounds_allow(tmp_path: Path) -> None:
    with Log(tmp_path / "log", **SMALL) as log:
        log.wait(log.append(b"x" * 9000, [1]))
        tickets = [log.ask(1, 0, 100) for _ in range(lib.TM_LOG_ASKED_MAX)]
        with pytest.raises(LogBusy, match="too many requests wait"):
            log.ask(1, 0, 100)
        for ticket in tickets:
            answered, (record,) = wait_for_answer(log)
            assert (answered, record.body) == (ticket, b"x" * 9000)
        log.ask(1, 0, lib.TM_LOG_ASKED_BYTES_MAX)
        with pytest.raises(LogBusy, match="too many requests wait"):
            log.ask(1, 0, 100)


def test_policies_stay_until_later_ones_come_or_the_durable_is_forgotten(tmp_path: Path) -> None:
    with Log(tmp_path / "log", **WIDE) as log:
        for durable in range(1, 200):
            log.append(b"terms %d" % durable, [durable], kind=lib.TM_LOG_DURABLE)
            log.append_messages([b"message"] * 12, [durable])
        last = log.append(b"later terms", [7], kind=lib.TM_LOG_DURABLE)
        for durable in range(1, 200):
            last = log.ack(durable, 0, last)
        last = log.forget(9)
        for _ in range(200):  # so that the first segments go
            log.wait(log.append(b"x" * 5000, [500]))
            last = log.ack(500, 0, log.committed)
        assert log.state()["copied"] >= 100
        log.wait(last)
        with pytest.raises(RuntimeError, match="misused"):
            log.append(b"", [1, 2], kind=lib.TM_LOG_DURABLE)
    with Log(tmp_path / "log", **SMALL) as log:
        policy = {record.durables[0]: record.body for record in log.durables()}
        assert list(policy) == [durable for durable in range(1, 200) if durable != 9]
        assert all(
            body == (b"later terms" if durable == 7 else b"terms %d" % durable) for durable, body in policy.items()
        )
        assert not list(log.read(7))
        assert log.done_with(7)[0] > 0
        assert log.done_with(9) == (0, [])


def test_a_full_segment_has_a_footer_so_that_a_start_does_not_read_all_of_it(tmp_path: Path) -> None:
    with Log(tmp_path, bytes_max=64 << 20, segment_bytes=1 << 20, ring_bytes=1 << 20) as log:
        log.wait(log.append_blocks(b"x" * 100, [7, 8], 1024, 64))
    segments = sorted(tmp_path.glob("segment-*"))
    assert len(segments) > 8
    assert all(segment.read_bytes()[-16:-12] == b"FOOT" for segment in segments)
    with Log(tmp_path, bytes_max=64 << 20, segment_bytes=1 << 20, ring_bytes=1 << 20) as log:
        assert log.recovery()["scanned_bytes"] == 0


@pytest.mark.slow
def test_a_held_log_tells_of_what_cannot_be_read_however_long_it_is_looked_at(tmp_path: Path) -> None:
    """The scrubber finds the damage first, and would have the segment set aside before anybody has read it."""
    bodies = [b"%06d" % number * 100 for number in range(1000)]
    with Log(tmp_path, segment_bytes=1 << 20) as log:
        numbers = [log.append(body, durables=[1]) for body in bodies]
        log.wait(numbers[-1])
    [segment] = tmp_path.glob("segment-*")
    data = bytearray(segment.read_bytes())
    data[data.index(bodies[500])] ^= 1
    segment.write_bytes(data)
    with Log(tmp_path, segment_bytes=1 << 20, scrub_bytes_per_s=1 << 30, is_held=True) as log:
        until(lambda: log.state()["damaged"] == 1)
        time.sleep(0.3)  # the thread that tends looks ten times a second
        found = list(log.read(1))
        assert [record.n for record in found] == numbers
        assert [record.n for record in found if record.kind == lib.TM_LOG_LOST] == [numbers[500]]
        assert log.state()["copied"] == 0
        log.release()
        until(lambda: log.state()["copied"] == 999)


def until(is_so: Callable[[], bool]) -> None:
    ends = time.monotonic() + 20
    while not is_so():
        assert time.monotonic() < ends
        time.sleep(0.01)
