"""Streams of messages in JSON: however a stream is cut, its frames and refusals are those of its twin."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.native._tm import lib
from tamis.native.codecs import OUTPUT_BYTES, REFUSALS_MAX, JsonStream, LinesStopped
from tamis.native.json_refusals import JsonCode, JsonRefusal
from tamis.native.results import OutOfMemory
from tests.native.codecs.json_draw import mutated
from tests.native.codecs.json_twin import read_lines

PLENTY = (10**9, 10**12)
NOW = 1_700_000_000_000_000_000
LINE = b'{"attributes":{"a":1},"payload":"p"}'
STREAM = (
    b'{"attributes":{"a":1}}\r\n\n \t\r\nbad\n'
    b'{"attributes":{"b":"\xc3\xa9","c":2.5},"payload":"x\\n"}\n{"attributes":{}}'
)


def stream(count: int, seed: int) -> bytes:
    random = Random(seed)
    ends = (b"\n", b"\r\n", b"\n\n", b"\n  \n")
    return b"".join(mutated(random).replace(b"\n", b" ") + random.choice(ends) for _ in range(count))


class Reading:
    """A stream that is read as a gateway does: what is not consumed is given again, credit comes now and then."""

    def __init__(self, frames: int = PLENTY[0], octets: int = PLENTY[1]) -> None:
        self.lines = JsonStream(7, 100)
        self.lines.grant(frames, octets)
        self.each = frames, octets
        self.frames, self.refused = b"", list[JsonRefusal]()

    def feed(self, data: bytes, *, is_last: bool = False) -> None:
        while True:
            left = self.lines.credit_frames
            read = self.lines.feed(data, NOW, is_last=is_last)
            assert left - self.lines.credit_frames == read.messages
            self.frames += read.frames
            self.refused += read.refused
            data = data[read.consumed :]
            if read.stopped is LinesStopped.ALL:
                assert not data
                return
            if read.stopped is LinesStopped.CREDIT:
                self.lines.grant(*self.each)

    @property
    def said(self) -> tuple[bytes, list[tuple[JsonCode, int, int]]]:
        return self.frames, [(one.code, one.line, one.position) for one in self.refused]


@pytest.mark.parametrize("seed", range(20))
def test_a_stream_is_what_its_twin_says(seed: int) -> None:
    data = stream(60, seed)
    random = Random(seed)
    reading = Reading(random.choice((1, 3, 10**6)), random.choice((200, 10**9)))
    while data:
        size = random.choice((1, 5, 100, 3_000))
        reading.feed(data[:size])
        data = data[size:]
    reading.feed(b"", is_last=True)
    assert reading.said == read_lines(stream(60, seed), 7, 100, NOW)


def test_a_stream_that_is_cut_at_every_byte() -> None:
    expected = read_lines(STREAM, 7, 100, NOW)
    assert len(expected[1]) == 1
    assert expected[1][0][:2] == (JsonCode.NOT_OBJECT, 4)
    for cut in range(len(STREAM) + 1):
        reading = Reading(1)
        reading.feed(STREAM[:cut])
        reading.feed(STREAM[cut:], is_last=True)
        assert reading.said == expected
    single = Reading()
    for byte in STREAM:
        single.feed(bytes([byte]))
    single.feed(b"", is_last=True)
    assert single.said == expected


@given(st.binary(max_size=200), st.integers(1, 50))
def test_any_bytes(data: bytes, size: int) -> None:
    reading = Reading()
    for first in range(0, len(data), size):
        reading.feed(data[first : first + size])
    reading.feed(b"", is_last=True)
    assert reading.said == read_lines(data, 7, 100, NOW)


def test_credit_stops_it_and_nothing_is_lost() -> None:
    lines = JsonStream(7, 1)
    lines.grant(2, 10**6)
    read = lines.feed((LINE + b"\n") * 5, NOW)
    assert (read.messages, read.stopped, lines.counter, lines.credit_frames) == (2, LinesStopped.CREDIT, 3, 0)
    assert read.consumed == 2 * (len(LINE) + 1)
    size = len(read.frames) // 2
    lines.grant(10, 2 * size - 1)
    read = lines.feed((LINE + b"\n") * 3, NOW)
    assert (read.messages, read.stopped, lines.counter, lines.credit_bytes) == (1, LinesStopped.CREDIT, 4, size - 1)
    assert read.needed == size


def test_a_full_output_stops_it() -> None:
    line = b'{"attributes":{},"payload":"' + b"x" * 60_000 + b'"}\n'
    lines = JsonStream(7, 1)
    lines.grant(*PLENTY)
    read = lines.feed(line * 10, NOW)
    assert read.stopped is LinesStopped.ROOM
    assert 3 <= read.messages <= 4
    assert len(read.frames) <= OUTPUT_BYTES
    large = b'{"attributes":{},"payload":"' + b"x" * 900_000 + b'"}\n'
    read = lines.feed(large, NOW)
    assert (read.messages, read.consumed, read.stopped) == (1, len(large), LinesStopped.ALL)


@pytest.mark.parametrize("chunk", [1_000, 65_536, 10_000_000])
def test_a_line_that_is_too_long_is_refused_and_skipped(chunk: int) -> None:
    data = (
        LINE
        + b"\n"
        + b"{" * (lib.TM_JSON_LINE_BYTES_MAX + 1)
        + b"\n"
        + LINE
        + b"\n"
        + b" " * (lib.TM_JSON_LINE_BYTES_MAX + 1)
    )
    reading = Reading()
    for first in range(0, len(data), chunk):
        reading.feed(data[first : first + chunk])
        assert lib.tm_json_lines_bytes(reading.lines._lines) < 2.1 * lib.TM_JSON_LINE_BYTES_MAX
    reading.feed(b"", is_last=True)
    assert reading.said == read_lines(data, 7, 100, NOW)
    assert [refusal.code for refusal in reading.refused] == [JsonCode.LINE_LONG] * 2
    assert lib.tm_json_lines_bytes(reading.lines._lines) < 10_000  # it holds no line any more


def test_the_longest_line_that_is_taken() -> None:
    line = LINE + b" " * (lib.TM_JSON_LINE_BYTES_MAX - len(LINE))
    for parts in ([line + b"\n"], [line, b"\n"], [line[:5], line[5:] + b"\n"]):
        reading = Reading()
        for part in parts:
            reading.feed(part)
        assert reading.said == read_lines(line + b"\n", 7, 100, NOW)
        assert reading.frames


def test_refusals_of_one_call_are_bounded() -> None:
    lines = JsonStream(7, 1)
    lines.grant(*PLENTY)
    data = b"[]\n" * (REFUSALS_MAX + 5) + LINE
    read = lines.feed(data, NOW, is_last=True)
    assert (len(read.refused), read.stopped, read.consumed) == (REFUSALS_MAX, LinesStopped.REFUSED, 3 * REFUSALS_MAX)
    read = lines.feed(data[read.consumed :], NOW, is_last=True)
    assert (len(read.refused), read.stopped, read.messages) == (5, LinesStopped.ALL, 1)
    assert [one.line for one in read.refused] == list(range(REFUSALS_MAX + 1, REFUSALS_MAX + 6))


def test_without_memory_the_line_is_not_taken() -> None:
    for held in (400, 1_000):
        reading = Reading()
        reading.feed(LINE + b"\n" + LINE[:1] + b" " * held)
        lib.tm_json_lines_fail(reading.lines._lines, 1)
        with pytest.raises(OutOfMemory):
            reading.feed(b" " * 2_000)
        reading.feed(LINE[1:] + b"\n")
        assert reading.frames == read_lines((LINE + b"\n") * 2, 7, 100, NOW)[0]
    reading = Reading()
    reading.feed(LINE[:10])
    lib.tm_json_lines_fail(reading.lines._lines, 1)
    with pytest.raises(OutOfMemory):
        reading.feed(LINE[10:] + b" " * 1_000 + b"\n")
    reading.feed(LINE[10:] + b" " * 1_000 + b"\n")
    assert reading.said == read_lines(LINE, 7, 100, NOW)
