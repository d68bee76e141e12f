"""One body as a frame and back, where its kind is known; `frames.py` has the table of all kinds.

Law: a frame that is not a data frame is a prefix and one msgpack array, with nothing behind it.
"""

from __future__ import annotations

from typing import TypeVar, cast

from tamis.protocol.wire._msgpack import pack
from tamis.protocol.wire.body_reader import BodyReader
from tamis.protocol.wire.kinds import FrameKind
from tamis.protocol.wire.prefix import PREFIX_BYTES, pack_prefix
from tamis.protocol.wire.schema import record_of
from tamis.protocol.wire.slices import at_once, packed

B = TypeVar("B")


def encode_body(kind: FrameKind, body: object) -> bytes:
    """Return the frame of `body`, which is one of `kind`; Refused if that could not be decoded."""
    record = record_of(type(body))
    return frame_of(kind, at_once(packed(record, body)) if record.rest(body) else pack(record.plain(body)))


def frame_of(kind: FrameKind, data: bytes) -> bytes:
    """Return the frame of a packed body."""
    return pack_prefix(kind, PREFIX_BYTES + len(data)) + data


def decode_body(kind: FrameKind, form: type[B], frame: bytes) -> B:
    """Return the body of a frame of `kind`, whose bodies are of the class `form`; FrameError if anything behind its
    prefix is invalid."""
    reader = BodyReader(memoryview(frame)[PREFIX_BYTES:], kind.name)
    body = cast("B", record_of(form).read(reader))
    reader.finish()
    return body
