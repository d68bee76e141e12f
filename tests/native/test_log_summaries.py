"""The briefs of the log: what an index says of a record is what the record says itself, or that it must be read."""

from __future__ import annotations

import struct
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.native.log import DEAD_LETTER, MESSAGE, SEED, Log, LogFailed, LogRecord, RecordSummary
from tamis.protocol.wire.data_frames import encode_publish
from tamis.protocol.wire.extensions import ExtensionType

SMALL = {"bytes_max": 1 << 21, "segment_bytes": 1 << 16, "ring_bytes": 1 << 17}
DURABLES = (1, 2, 3)
HEADER = 64
LONGEST_MS = 2**32 - 2
"""For which a brief can say that a message lasts."""

SECONDS = st.one_of(st.none(), st.just(0), st.integers(1, 2**33), st.integers(2_000_000_000, 2_000_100_000))
FRAMES = st.builds(
    lambda expires_s, name, payload: encode_publish(
        *(9, 1, 0, {name: 1}, payload),
        extensions={} if expires_s is None else {ExtensionType.EXPIRY: expires_s * 10**9},
    ),
    SECONDS,
    st.sampled_from(["a", "name"]),
    st.binary(max_size=500),
)
BODIES = st.one_of(
    FRAMES,
    st.binary(max_size=100),
    st.tuples(FRAMES, st.integers(0, 199), st.integers(0, 255)).map(lambda drawn: flipped(*drawn)),
)
RECORDS = st.lists(
    st.tuples(st.sampled_from([MESSAGE, MESSAGE, SEED, DEAD_LETTER, 64]), st.sets(st.sampled_from(DURABLES)), BODIES),
    max_size=120,
)


def flipped(frame: bytes, at: int, by: int) -> bytes:
    """The frame with one byte changed, most of all one of its header or its extensions."""
    at %= len(frame)
    return frame[:at] + bytes([frame[at] ^ by]) + frame[at + 1 :]


def expiry_ns(frame: bytes) -> int | None:
    """By the page of the wire: the value of the first EXPIRY, 0 where there is none, None where that is not clear."""
    if len(frame) < HEADER or struct.unpack_from("<I", frame)[0] != len(frame):
        return None
    area = frame[HEADER : HEADER + struct.unpack_from("<H", frame, 56)[0]]
    if len(area) < struct.unpack_from("<H", frame, 56)[0]:
        return None
    while area:
        if len(area) < 4:
            return None
        kind, size = struct.unpack_from("<HH", area)
        if len(area) < 4 + size:
            return None
        if kind == ExtensionType.EXPIRY and size == 8:
            return struct.unpack_from("<Q", area, 4)[0] or 1
        area = area[4 + size :]
    return 0


def summary_of(record: LogRecord) -> RecordSummary:
    """What is to be told of a record."""
    expires_ns = expiry_ns(record.body) if record.kind in {MESSAGE, SEED} else None
    at_ms = record.t_us // 1000
    expires_ms = max(expires_ns // 10**6, 1) if expires_ns else 0
    if expires_ns is None or (expires_ms and not at_ms < expires_ms <= at_ms + LONGEST_MS):
        return RecordSummary(record.n, 0, 0, 0, is_enough=False)
    return RecordSummary(record.n, at_ms, expires_ms, len(record.body), is_enough=True)


def check_summaries(log: Log) -> None:
    for durable in DURABLES:
        records = list(log.read(durable))
        expected = [summary_of(record) for record in records]
        assert list(log.summaries(durable)) == expected
        if records:
            after = records[len(records) // 2].n
            assert list(log.summaries(durable, after)) == [summary for summary in expected if summary.n > after]


@given(RECORDS, st.integers(0, 200))
@settings(max_examples=settings.default.max_examples * 3 // 10, deadline=None)
def test_a_summary_says_what_its_record_says(records: list[tuple], done: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        with Log(Path(folder) / "log", **SMALL) as log:
            last = 0
            for kind, durables, body in records:
                last = log.append(body, sorted(durables), kind=kind)
            log.wait(log.ack(2, 0, last * done // 200))
            check_summaries(log)  # of an index in memory, and of segments that were sealed meanwhile
        with Log(Path(folder) / "log", **SMALL) as log:
            check_summaries(log)  # of footers


def test_a_log_of_version_1_is_refused_and_left_alone(tmp_path: Path) -> None:
    with Log(tmp_path / "log", **SMALL) as log:
        log.wait(log.append(b"x", [1]))
    (path,) = (tmp_path / "log").glob("segment-*")
    head = bytearray(path.read_bytes()[:72])
    head[7:8] = b"1"
    head[68:72] = crc32c(bytes(head[:68])).to_bytes(4, "little")
    with path.open("r+b") as file:
        file.write(head)
    before = path.read_bytes()
    with pytest.raises(LogFailed, match="a version of Tamis that is too old"):
        Log(tmp_path / "log", **SMALL)
    assert path.read_bytes() == before


def crc32c(data: bytes) -> int:
    """The checksum, a bit at a time."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF
