"""Pack and read large records a slice at a time, so that a caller can do other work in between.

Law: the bytes and the values are those of `Record.plain` and `Record.read`, and equal input is refused. A generator
yields between ROWS_PER_SLICE elements of a list and the next, and between any two elements that contain lists; then it
returns the result.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from functools import partial
from itertools import repeat
from typing import Any, Final, TypeVar, cast

from tamis.protocol.errors import FrameError, Refused
from tamis.protocol.wire._msgpack import array_header, pack
from tamis.protocol.wire.body_reader import BodyReader
from tamis.protocol.wire.schema import Binary, Codec, Many, Record, Unsigned

ROWS_PER_SLICE: Final = 1_000
"""Rows between two yields: a few milliseconds of work."""

T = TypeVar("T")
Slices = Generator[None, None, T]


def at_once(slices: Slices[T]) -> T:
    """Run all slices at once and return the result."""
    while True:
        try:
            next(slices)
        except StopIteration as done:
            return cast("T", done.value)


def packed(codec: Codec, value: Any) -> Slices[bytes]:  # noqa: ANN401 - the type is the codec's
    """Pack `value` in slices; return its bytes. Refused if it is outside the bounds."""
    if isinstance(codec, Record):
        return (yield from _packed_record(codec, value))
    if isinstance(codec, Many):
        return (yield from _packed_list(codec, value))
    return pack(codec.plain(value))


def read(codec: Codec, reader: BodyReader) -> Slices[Any]:
    """Read the value at the cursor in slices; FrameError if there is none."""
    if isinstance(codec, Record):
        return (yield from _read_record(codec, reader))
    if isinstance(codec, Many):
        return (yield from _read_list(codec, reader))
    return codec.read(reader)


def _packed_record(record: Record, value: object) -> Slices[bytes]:
    written, rest = record.written(value), record.rest(value)
    pieces = [array_header(len(written) + len(rest))]
    for field in written:
        try:
            pieces.append((yield from packed(field.codec, getattr(value, field.name))))
        except Refused as error:
            raise Refused(f"{field.name} of {record}: {error}") from None
    return b"".join((*pieces, *rest))


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
            pieces.append(_packed_rows(many.item, value[start : start + step]))
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
            rows += _read_rows(many.item, min(step, count - len(rows)), reader)
    return tuple(rows)


# --- many short records at once --------------------------------------------------------------------------------------


def _packed_rows(item: Codec, rows: Sequence[Any]) -> bytes:
    if isinstance(item, Record) and (codecs := _scalars(item)) and _fit(codecs, rows):
        return pack(rows)[len(array_header(len(rows))) :]
    return b"".join([_packed_row(item, row) for row in rows])


def _packed_row(item: Codec, row: Any) -> bytes:  # noqa: ANN401
    if isinstance(item, Record) and item.rest(row):
        return at_once(_packed_record(item, row))
    return pack(item.plain(row))


def _read_rows(item: Codec, count: int, reader: BodyReader) -> Iterable[Any]:
    if isinstance(item, Record) and (codecs := _scalars(item)):
        rows = reader.rows(count, len(codecs), partial(_fit, codecs))
        if rows is not None:
            return map(tuple.__new__, repeat(item.of), rows)
    return [item.read(reader) for _ in range(count)]


def _scalars(record: Record) -> list[Unsigned | Binary] | None:
    """Return the codecs of a named tuple of numbers and bytes only, without appended fields; None for other records."""
    fields = [field for field in record.fields if not field.is_appended]
    codecs = [field.codec for field in fields if isinstance(field.codec, Unsigned | Binary)]
    return codecs if len(codecs) == len(fields) and issubclass(record.of, tuple) else None


def _fit(codecs: list[Unsigned | Binary], rows: Sequence[Any]) -> bool:
    """Return whether each row is a tuple that `codecs` accept, checked column by column. False may also mean that a row
    is unusual."""
    if not all(map(isinstance, rows, repeat(tuple))) or set(map(len, rows)) != {len(codecs)}:
        return False
    return all(map(_column_fits, codecs, zip(*rows, strict=True)))


def _column_fits(codec: Unsigned | Binary, column: tuple[Any, ...]) -> bool:
    if isinstance(codec, Unsigned):
        return set(map(type, column)) == {int} and min(column) >= codec.least and max(column) < 1 << codec.bits
    sizes = [len(value) for value in column] if set(map(type, column)) == {bytes} else [-1]
    return min(sizes) >= codec.least and max(sizes) <= codec.most


def _step(many: Many) -> int:
    """Return how many elements are processed between two yields."""
    return 1 if _holds_list(many.item) else ROWS_PER_SLICE


def _holds_list(codec: Codec) -> bool:
    return isinstance(codec, Many) or (
        isinstance(codec, Record) and any(_holds_list(field.codec) for field in codec.fields)
    )
