"""Large records packed and read a slice at a time, for whoever has other things to do between.

Law: the bytes and the values are those of `Record.plain` and `Record.read`, as is what is refused. A generator yields
between ROWS_PER_SLICE elements of a list and the next, and between any two that hold lists themselves; then it returns
the result.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any, Final, TypeVar, cast

from tamis.protocol.errors import FrameError, Refused
from tamis.protocol.wire._msgpack import array_header, pack
from tamis.protocol.wire.body_reader import BodyReader
from tamis.protocol.wire.schema import Codec, Many, Record

ROWS_PER_SLICE: Final = 1_000
"""A few milliseconds."""

T = TypeVar("T")
Slices = Generator[None, None, T]


def at_once(slices: Slices[T]) -> T:
    """The result, with nothing between the slices."""
    while True:
        try:
            next(slices)
        except StopIteration as done:
            return cast("T", done.value)


def packed(codec: Codec, value: Any) -> Slices[bytes]:  # noqa: ANN401 - the type is the codec's
    """The value's bytes; Refused if it is outside the bounds."""
    if isinstance(codec, Record):
        return (yield from _packed_record(codec, value))
    if isinstance(codec, Many):
        return (yield from _packed_list(codec, value))
    return pack(codec.plain(value))


def read(codec: Codec, reader: BodyReader) -> Slices[Any]:
    """The value at the cursor; FrameError if it is not one."""
    if isinstance(codec, Record):
        return (yield from _read_record(codec, reader))
    if isinstance(codec, Many):
        return (yield from _read_list(codec, reader))
    return codec.read(reader)


def _packed_record(record: Record, value: object) -> Slices[bytes]:
    pieces = [array_header(len(record.fields))]
    for field in record.fields:
        try:
            pieces.append((yield from packed(field.codec, getattr(value, field.name))))
        except Refused as error:
            raise Refused(f"{field.name} of {record}: {error}") from None
    return b"".join(pieces)


def _packed_list(many: Many, value: Sequence[object]) -> Slices[bytes]:
    if not many.least <= len(value) <= many.most:
        raise Refused(f"expected {many}, not {len(value)}")
    pieces = [array_header(len(value))]
    step = _step(many)
    for start in range(0, len(value), step):
        if start:
            yield
        if step == 1:
            pieces.append((yield from packed(many.item, value[start])))
        else:
            pieces += [pack(many.item.plain(row)) for row in value[start : start + step]]
    return b"".join(pieces)


def _read_record(record: Record, reader: BodyReader) -> Slices[Any]:
    count = record.enter(reader)
    values = []
    for field in record.fields[:count]:
        try:
            values.append((yield from read(field.codec, reader)))
        except FrameError as error:
            raise FrameError(error.code, f"{field.name} of {error.problem}") from None
    return record.made(values, count, reader)


def _read_list(many: Many, reader: BodyReader) -> Slices[tuple[Any, ...]]:
    count = reader.array(many.least, many.most)
    rows: list[Any] = []
    step = _step(many)
    while len(rows) < count:
        if rows:
            yield
        if step == 1:
            rows.append((yield from read(many.item, reader)))
        else:
            rows += [many.item.read(reader) for _ in range(min(step, count - len(rows)))]
    return tuple(rows)


def _step(many: Many) -> int:
    """Elements between two yields."""
    return 1 if _holds_list(many.item) else ROWS_PER_SLICE


def _holds_list(codec: Codec) -> bool:
    return isinstance(codec, Many) or (
        isinstance(codec, Record) and any(_holds_list(field.codec) for field in codec.fields)
    )
