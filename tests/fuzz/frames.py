"""Fuzz target: a stream of bytes, as a peer may send it.

Law: FrameError (VersionRefused is one) is the only thing that any bytes may raise. What decodes encodes again to bytes
that decode to the same. Python and C read attribute maps alike. Bodies in parts stay within the assembler's bound.
"""

from __future__ import annotations

from collections.abc import Iterator

from tamis.native import decode_attributes as native_decode
from tamis.protocol.errors import FrameError, Refused
from tamis.protocol.values import Value, canonical
from tamis.protocol.wire.attributes import decode_attributes
from tamis.protocol.wire.codes import is_fatal
from tamis.protocol.wire.data_frames import DataFrame
from tamis.protocol.wire.frames import Frame, decode, encode
from tamis.protocol.wire.header import HEADER_BYTES
from tamis.protocol.wire.packed_filters import decode_filter, encode_filter
from tamis.protocol.wire.parts import Part, PartAssembler, Whole, split
from tamis.protocol.wire.reader import FrameReader
from tamis.protocol.wire.routing_bodies import ReceiverAdvertisement
from tamis.protocol.wire.session_bodies import Hello
from tamis.protocol.wire.versions import SPOKEN, negotiate
from tests.protocol.wire.vectors import STREAM, VECTORS

ASSEMBLY_BYTES_MAX = 65_536

SEEDS: list[bytes] = [*(bytes([i]) + vector.data for i, vector in enumerate(VECTORS)), b"\x11" + STREAM]
"""The first byte of an input chooses how the rest is cut; its top bit keeps the peer unauthenticated."""


def target(data: bytes) -> None:
    assembler = PartAssembler(ASSEMBLY_BYTES_MAX)
    try:
        for frame in _frames(data[:1], data[1:]):
            _one_or_its_loss(frame, assembler)
    except FrameError:
        return
    finally:
        assert 0 <= assembler.bytes_held <= ASSEMBLY_BYTES_MAX


def _frames(choice: bytes, stream: bytes) -> Iterator[bytes]:
    """Cut into pieces whose sizes depend on the data; the frames must be those of the stream in one piece."""
    reader = FrameReader()
    if choice < b"\x80":
        reader.authenticated()
    at, step = 0, choice[0] if choice else 1
    while at < len(stream):
        step = (step * 31 + stream[at]) % 97 + 1
        reader.feed(stream[at : at + step])
        at += step
        yield from reader


def _one_or_its_loss(data: bytes, assembler: PartAssembler) -> None:
    """A fatal error ends the input; any other costs the frame alone."""
    try:
        _one(data, assembler)
    except FrameError as error:
        if is_fatal(error.code):
            raise


def _one(data: bytes, assembler: PartAssembler) -> None:
    """One frame, as a connection takes it."""
    if data[4] < 0x10:
        _compare_attributes(data)
    frame = decode(data)
    _check_again(frame)
    if isinstance(frame, Hello):
        negotiate(SPOKEN, frame.versions)
    if isinstance(frame, Part):
        whole = assembler.add(frame)
        if whole is not None:
            _check_whole(whole)


def _check_again(frame: Frame) -> None:
    again = decode(encode(frame))
    assert again == frame
    if isinstance(frame, DataFrame) and isinstance(again, DataFrame):
        assert repr(dict(again.message.attributes)) == repr(dict(frame.message.attributes))


def _check_whole(whole: Whole) -> None:
    assembler = PartAssembler()
    assert [assembler.add(part) for part in split(whole, 100)][-1] == whole
    for _, packed in whole.added if isinstance(whole, ReceiverAdvertisement) else ():
        _check_filter(packed)


def _check_filter(packed: bytes) -> None:
    try:
        filter_ = decode_filter(packed)
    except FrameError:
        return
    assert decode_filter(encode_filter(filter_)) == filter_


def _compare_attributes(data: bytes) -> None:
    start = HEADER_BYTES + int.from_bytes(data[56:58], "little")
    area = data[start : start + int.from_bytes(data[60:64], "little")]
    assert _by_python(area) == _by_c(area), area.hex()


def _by_python(area: bytes) -> str:
    try:
        return _shown(decode_attributes(area))
    except FrameError:
        return "refused"


def _by_c(area: bytes) -> str:
    try:
        return _shown(native_decode(area))
    except Refused:
        return "refused"


def _shown(attributes: dict[str, Value]) -> str:
    return repr({name: canonical(value) for name, value in attributes.items()})
