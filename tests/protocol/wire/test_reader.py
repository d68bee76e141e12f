"""FrameReader: any cut, any chunking, limits before buffering."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.protocol import limits
from tamis.protocol.errors import FrameError
from tamis.protocol.wire.codes import ErrorCode
from tamis.protocol.wire.frames import encode
from tamis.protocol.wire.kinds import KINDS, SKIPPED, FrameKind
from tamis.protocol.wire.reader import FrameReader
from tamis.protocol.wire.session_bodies import Ping
from tests.protocol.wire.vectors import STREAM, VECTORS, Vector

FRAMES = [vector.data for vector in VECTORS]


def authenticated(frame_bytes_max: int = limits.FRAME_BYTES_MAX) -> FrameReader:
    reader = FrameReader(frame_bytes_max)
    reader.authenticated()
    return reader


def taken(reader: FrameReader, *pieces: bytes) -> list[bytes]:
    frames = []
    for piece in pieces:
        reader.feed(piece)
        frames += reader
    return frames


@pytest.mark.parametrize("vector", VECTORS, ids=str)
def test_every_proper_prefix_needs_more_and_every_cut_gives_the_frame(vector: Vector) -> None:
    for end in range(len(vector.data)):
        reader = authenticated()
        assert taken(reader, vector.data[:end]) == []
        assert taken(reader, vector.data[end:]) == [vector.data]


def test_byte_by_byte() -> None:
    assert taken(authenticated(), *(STREAM[i : i + 1] for i in range(len(STREAM)))) == FRAMES


@given(st.lists(st.integers(0, len(STREAM))).map(sorted))
def test_any_chunking_gives_the_same_frames(cuts: list[int]) -> None:
    edges = [0, *cuts, len(STREAM)]
    pieces = [STREAM[start:end] for start, end in pairwise(edges)]
    assert taken(authenticated(), *pieces) == FRAMES
    assert taken(authenticated(), *map(memoryview, pieces)) == FRAMES


def test_feeding_between_two_frames_loses_nothing() -> None:
    reader = authenticated()
    reader.feed(STREAM)
    frames = []
    for number, frame in enumerate(reader):
        frames.append(frame)
        if number == 0:
            reader.feed(STREAM)
    assert frames == FRAMES * 2


@pytest.mark.parametrize("extra", [b"", b"\x01", b"\x7f" + bytes(100)])
def test_a_length_past_the_limit_is_refused_at_its_fourth_byte(extra: bytes) -> None:
    for length in 4_097, 2**31, 2**32 - 1:
        reader = authenticated(4_096)
        assert taken(reader, length.to_bytes(4, "little")[:3]) == []
        with pytest.raises(FrameError) as caught:
            taken(reader, length.to_bytes(4, "little")[3:] + extra)
        assert caught.value.code == ErrorCode.TOO_LONG


@pytest.mark.parametrize("length", range(8))
def test_a_length_below_the_prefix_is_refused(length: int) -> None:
    with pytest.raises(FrameError) as caught:
        taken(authenticated(), length.to_bytes(4, "little"))
    assert caught.value.code == ErrorCode.TOO_SHORT


def test_the_longest_frame_passes() -> None:
    longest = (4_096).to_bytes(4, "little") + bytes([0x15]) + bytes(4_091)
    assert taken(authenticated(4_096), longest) == [longest]


def test_an_unknown_kind_is_refused_at_its_byte() -> None:
    for kind in set(range(128)) - KINDS - SKIPPED:
        with pytest.raises(FrameError) as caught:
            taken(authenticated(), (1_000).to_bytes(4, "little") + bytes([kind]))
        assert caught.value.code == ErrorCode.UNKNOWN_KIND


def test_an_unknown_kind_that_may_be_skipped_is() -> None:
    reader = authenticated()
    ping = encode(Ping(1))
    unassigned = SKIPPED | set(range(128, 256)) - set(FrameKind)
    for kind in unassigned:
        unknown = (20).to_bytes(4, "little") + bytes([kind]) + bytes(15)
        assert taken(reader, ping + unknown + ping) == [ping, ping]
    assert reader.skipped == len(unassigned) > 100


def test_after_an_error_there_are_no_more_frames() -> None:
    reader = authenticated()
    ping = encode(Ping(1))
    reader.feed(ping + bytes(8) + ping)
    frames = iter(reader)
    assert next(frames) == ping
    with pytest.raises(FrameError) as first:
        next(frames)
    with pytest.raises(FrameError) as second:
        taken(reader, ping)
    assert first.value is second.value


def frame_of(size: int) -> bytes:
    return size.to_bytes(4, "little") + bytes([0x12]) + bytes(size - 5)


@pytest.mark.parametrize("sizes", [(8_193,), (8_192, 8), (8_000, 193), (50_000,)])
def test_a_stranger_may_not_send_more_than_its_allowance(sizes: tuple[int, ...]) -> None:
    reader = FrameReader()
    *fitting, last = (frame_of(size) for size in sizes)
    assert taken(reader, *fitting) == fitting
    with pytest.raises(FrameError) as caught:
        taken(reader, last[:5])
    assert caught.value.code == ErrorCode.UNAUTHENTICATED


def test_the_allowance_counts_frames_not_what_arrived_behind_them() -> None:
    reader = FrameReader()
    greeting, later = frame_of(100), frame_of(60_000)
    frames = []
    reader.feed(greeting + later)
    for frame in reader:
        frames.append(frame)
        reader.authenticated()
    assert frames == [greeting, later]


def test_a_skipped_frame_counts_too() -> None:
    reader = FrameReader()
    unknown = (8_100).to_bytes(4, "little") + b"\x9f" + bytes(8_095)
    assert taken(reader, unknown) == []
    with pytest.raises(FrameError):
        taken(reader, frame_of(100))
