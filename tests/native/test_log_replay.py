"""A replay by predicate and time is what a look at every record finds, whatever names its messages have, one after the
other; segments of another time are passed."""

from __future__ import annotations

import itertools
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.native import Table
from tamis.native.log import DEAD_LETTER, MESSAGE, TIME_MAX, Log
from tamis.native.log_replay import STEP_BYTES, LogReplay, StepBuffer
from tamis.protocol.errors import TamisError
from tamis.protocol.evaluate import predicate_matches
from tamis.protocol.filters import Constraint, Filter, Op, Predicate
from tamis.protocol.wire.attributes import decode_attributes
from tamis.protocol.wire.data_frames import encode_publish
from tests.strategies import attributes, attributes_near, predicates

SMALL = {"bytes_max": 1 << 21, "segment_bytes": 1 << 16, "ring_bytes": 1 << 17}


@st.composite
def frames(draw: st.DrawFn, predicate: Predicate) -> list[bytes]:
    """Runs of messages with the same names, and what stands between them; some have a byte changed."""
    found: list[bytes] = []
    for _ in range(draw(st.integers(1, 12))):
        shape = draw(attributes_near(*predicate.filters) | attributes())
        for i in range(draw(st.sampled_from([1, 1, 3, 30]))):
            message = shape if draw(st.booleans()) else dict(reversed(shape.items()))
            frame = bytearray(encode_publish(9, i + 1, 0, message, draw(st.sampled_from([b"", b"payload"]))))
            if draw(st.sampled_from([False, False, False, True])):
                at = 64 + draw(st.integers(0, 200)) % (len(frame) - 64)
                frame[at] ^= draw(st.integers(1, 255))
            found.append(bytes(frame))
    return found


def is_found(predicate: Predicate, frame: bytes) -> bool:
    """By the evaluator; what is no message satisfies nothing."""
    try:
        message = decode_attributes(frame[64 : 64 + int.from_bytes(frame[60:64], "little")])
    except TamisError:
        return False
    return predicate_matches(predicate, message)


@given(st.data(), predicates())
@settings(max_examples=settings.default.max_examples * 2 // 10, deadline=None)
def test_a_replay_is_a_look_at_every_record(data: st.DataObject, predicate: Predicate) -> None:
    bodies = data.draw(frames(predicate))
    with tempfile.TemporaryDirectory() as folder, Table() as table, Log(Path(folder) / "log", **SMALL) as log:
        for filter_ in predicate.filters:
            table.add(filter_, 0)
        log.wait(log.append_messages(bodies, [1]))
        found = [record.body for record in log.replay(table)]
        assert found == [body for body in bodies if is_found(predicate, body)]


TIMES = st.one_of(st.integers(0, 40), st.sampled_from([0, 2**63, TIME_MAX]))
DRAFTS = st.lists(
    st.tuples(TIMES, st.sampled_from([MESSAGE, MESSAGE, DEAD_LETTER, 64]), st.integers(0, 6000), st.booleans()),
    max_size=60,
)


@given(DRAFTS, st.lists(st.tuples(TIMES, TIMES, st.integers(0, 59)), max_size=6))
@settings(max_examples=settings.default.max_examples * 2 // 10, deadline=None)
def test_a_replay_keeps_to_its_time(drafts: list[tuple], spans: list[tuple[int, int, int]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        with Log(Path(folder) / "log", **SMALL) as log:
            numbers = []
            for t_us, kind, size, has_durable in drafts:
                numbers.append(log.append(bytes(size), [1] if has_durable else [], kind=kind, t_us=t_us))
            log.wait(numbers[-1] if numbers else 0)
            check_spans(log, drafts, numbers, spans)
        with Log(Path(folder) / "log", **SMALL) as log:
            check_spans(log, drafts, numbers, spans)  # by footers


def check_spans(log: Log, drafts: list[tuple], numbers: list[int], spans: list[tuple[int, int, int]]) -> None:
    kept = {record.n for record in log.read(1)}  # a segment may go once nothing in it is open
    for since_us, until_us, i in spans:
        start = numbers[i] if i < len(numbers) else 0
        expected = [
            n
            for n, (t_us, kind, _, _) in zip(numbers, drafts, strict=True)
            if kind != DEAD_LETTER and n >= start and since_us <= t_us <= until_us
        ]
        found = [record.n for record in log.replay(None, start, since_us=since_us, until_us=until_us)]
        assert set(found) <= set(expected)
        assert found == sorted(found)
        assert [n for n in expected if n in kept] == [n for n in found if n in kept]


@pytest.mark.slow  # a sync for each of 1,000 records
@pytest.mark.parametrize("is_closed", [False, True])
def test_segments_of_another_time_are_not_looked_at(tmp_path: Path, is_closed: bool) -> None:
    with Table() as table:
        log = Log(tmp_path / "log", **{**SMALL, "ring_bytes": 1 << 15})
        for t_us in range(1000):
            last = log.append(bytes(900), [1], t_us=t_us)
            log.wait(last)
        if is_closed:
            log.close()
            log = Log(tmp_path / "log", **SMALL)
        with log:
            everything, _ = log.replay_count(table)
            some, _ = log.replay_count(table, since_us=500, until_us=510)
            none, _ = log.replay_count(table, since_us=1000)
            assert [record.t_us for record in log.replay(since_us=500, until_us=510)] == list(range(500, 511))
    assert (everything, none) == (1000, 0)
    assert 11 <= some <= 2 * (1 << 16) // 900


@given(st.lists(st.sampled_from([0, 1, 7, 60, 300_000, 900_000]), max_size=12), st.lists(st.integers(1, 5), min_size=1))
@settings(max_examples=settings.default.max_examples * 1 // 10, deadline=None)
def test_steps_find_at_most_what_they_are_asked_for_and_everything_in_order(sizes: list[int], most: list[int]) -> None:
    large = SMALL | {"bytes_max": 1 << 25, "segment_bytes": 1 << 22, "ring_bytes": 1 << 23}
    bodies = [encode_publish(9, i + 1, 0, {"n": i % 2}, b"x" * size) for i, size in enumerate(sizes)]
    with tempfile.TemporaryDirectory() as folder, Table() as table, Log(Path(folder) / "log", **large) as log:
        table.add(Filter((Constraint("n", Op.EQ, (1,)),)), 0)
        if bodies:
            log.wait(log.append_messages(bodies, [1]))
        replay, buffer, found, asked = LogReplay(log), StepBuffer(), [], itertools.cycle(most)
        while not replay.is_over:
            count = next(asked)
            step = [record.frame for record in replay.step(table, count, buffer)]
            assert len(step) <= count
            assert len(step) <= 1 or sum(map(len, step)) <= STEP_BYTES
            assert step or replay.is_over
            found += step
        assert found == bodies[1::2]
