"""Lines of records as columns, in buffers that are laid out as Arrow does.

Law: C parses the lines of routers, with Python's global lock released; of lines in another form there are no columns,
and the caller has another parser for them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from tamis.native._tm import ffi, lib
from tamis.native.results import check

TYPES: Final[Mapping[str, int]] = {
    "integer": lib.TM_FIELD_INTEGER,
    "text": lib.TM_FIELD_TEXT,
    "integers": lib.TM_FIELD_INTEGERS,
    "texts": lib.TM_FIELD_TEXTS,
}
"""Types of fields, by their names in `protocol/records.py`."""
_Cdata = Any  # cffi's types exist only at run time
Buffer = tuple[int, int]
"""An address and a number of bytes."""


class LineColumn(NamedTuple):
    """A column; what its type does not need is empty (`tm_records_api.h`)."""

    present: int
    """The number of lines that have it."""
    valid: Buffer
    starts: Buffer
    integers: Buffer
    item_starts: Buffer
    bytes: Buffer
    items: int


class ParsedLines:
    """The fields of lines; their buffers are valid as long as this object is there."""

    def __init__(self, lines: _Cdata, names: Sequence[str]) -> None:
        self._lines = ffi.gc(lines, lib.tm_lines_free)
        self.rows = int(lib.tm_lines_count(self._lines))
        self.columns = {name: self._column(place) for place, name in enumerate(names)}

    def _column(self, place: int) -> LineColumn:
        column = lib.tm_lines_columns(self._lines)[place]
        return LineColumn(
            int(column.present),
            _buffer(column.valid, self.rows // 8 + 1),
            _buffer(column.starts, 4 * (self.rows + 1)),
            _buffer(column.integers, 8 * column.items),
            _buffer(column.item_starts, 4 * (column.items + 1)),
            _buffer(column.bytes, column.bytes_size),
            int(column.items),
        )


def parsed(lines: bytes, fields: Sequence[tuple[str, str]]) -> ParsedLines | None:
    """Return the fields of `lines`, of which each ends with a newline; None if a line is in another form, or a field of
    a type that C does not parse. `fields`: names and types."""
    if any(type_ not in TYPES for _, type_ in fields):
        return None
    names = [ffi.from_buffer(name.encode()) for name, _ in fields]
    given = [(name, len(name), TYPES[type_]) for name, (_, type_) in zip(names, fields, strict=True)]
    made = ffi.new("tm_lines **")
    result = lib.tm_lines_parse(ffi.from_buffer(lines), len(lines), ffi.new("tm_field[]", given), len(given), made)
    if result == lib.TM_MALFORMED:
        return None
    check(result)
    return ParsedLines(made[0], [name for name, _ in fields])


def _buffer(start: _Cdata, size: int) -> Buffer:
    return (int(ffi.cast("uintptr_t", start)), size if start else 0)
