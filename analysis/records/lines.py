"""Lines of records as columns: by C if routers wrote all lines of a block, by Arrow if they are other JSON, and one by
one by Python if a line is no record.

Law: the result does not depend on the parser. C and Arrow read all of a block or nothing of it. A worker of a cluster
may have no C.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from tamis.protocol.record_columns import TYPES, Fields, arrow_fields, by_arrow, split, typed

if TYPE_CHECKING:
    from tamis.native.parsed_lines import Buffer, LineColumn, ParsedLines

CORRUPT: Final = "corrupt"
"""Name of the column that holds an invalid line."""


def records(block: bytes, fields: Fields) -> pa.Table:
    """Return these fields of the records of lines, and CORRUPT."""
    rows = _by_c(block, fields)
    if rows is None:
        rows = by_arrow(block, fields, count(block), others="ignore")
    if rows is None:
        return _table((_whole(line, fields) for line in split(block)), fields, corrupt=True)
    return rows.append_column(CORRUPT, pa.nulls(len(rows), pa.string()))


def of_kind(lines: Sequence[bytes], fields: Fields) -> pa.Table:
    """Return the records of one kind, whose heads are whole. Arrow has no maps in JSON: counts are read apart, from the
    few lines that have any."""
    plain = [field for field in fields if field.type != "counts"]
    rows = by_arrow(b"\n".join(lines), plain, len(lines), others="ignore")
    if rows is None:
        return _table((typed_line(line, fields)[0] for line in lines), fields, corrupt=False)
    for place, field in enumerate(fields):
        if field.type == "counts":
            mark = json.dumps(field.name).encode()
            counts = [typed_line(line, [field])[0][field.name] if mark in line else None for line in lines]
            rows = rows.add_column(place, field.name, pa.array(counts, TYPES["counts"]))
    return rows


def count(block: bytes) -> int:
    return len(split(block)) if b"\n\n" in block else block.count(b"\n") + (not block.endswith(b"\n"))


def is_object(line: bytes) -> bool:
    """Return whether a line is whole: no part of an object is one."""
    with suppress(ValueError, RecursionError):
        return isinstance(json.loads(line), dict)
    return False


def typed_line(line: bytes, fields: Fields) -> tuple[dict[str, Any], bool]:
    """Return those of `fields` that a line has with a value of their type, and whether no field has another."""
    try:
        found = json.loads(line.decode(errors="replace"))
        found = json.loads(json.dumps(found, ensure_ascii=False).encode(errors="replace")) if b"\\u" in line else found
    except (ValueError, RecursionError):
        found = None
    return typed(found, fields) if isinstance(found, dict) else ({field.name: None for field in fields}, False)


def _table(rows: Iterator[dict[str, Any]], fields: Fields, corrupt: bool) -> pa.Table:
    columns = [*arrow_fields(fields), *([(CORRUPT, pa.string())] if corrupt else [])]
    return pa.Table.from_pylist(list(rows), pa.schema(columns))


def _whole(line: bytes, fields: Fields) -> dict[str, Any]:
    """Return the record on a line, or the line as CORRUPT."""
    row, is_right = typed_line(line, fields)
    return row if is_right else {CORRUPT: line.decode(errors="replace")}


# --- by C ------------------------------------------------------------------------------------------------------------


def _by_c(block: bytes, fields: Fields) -> pa.Table | None:
    """Return the records of a block; None if they are not as routers write them, or there is no C."""
    try:
        from tamis.native.parsed_lines import parsed
    except ImportError:
        return None
    lines = parsed(block if block.endswith(b"\n") else block + b"\n", [(field.name, field.type) for field in fields])
    if lines is None or lines.columns["kind"].present < lines.rows:
        return None
    arrays = [_array(lines, lines.columns[field.name], TYPES[field.type]) for field in fields]
    return pa.Table.from_arrays(arrays, schema=pa.schema(arrow_fields(fields)))


def _array(lines: ParsedLines, column: LineColumn, type_: pa.DataType) -> pa.Array:
    """Return a column whose buffers are those of C."""

    def buffer(of: Buffer) -> pa.Buffer:
        address, size = of
        return pa.foreign_buffer(address, size, lines) if size else pa.py_buffer(b"")

    valid = None if column.present == lines.rows else buffer(column.valid)
    if pa.types.is_int64(type_):
        return pa.Array.from_buffers(type_, lines.rows, [valid, buffer(column.integers)])
    if pa.types.is_string(type_):
        return pa.Array.from_buffers(type_, lines.rows, [valid, buffer(column.starts), buffer(column.bytes)])
    own = [buffer(column.item_starts), buffer(column.bytes)] if column.item_starts[1] else [buffer(column.integers)]
    items = pa.Array.from_buffers(type_.value_type, column.items, [None, *own])
    return pa.Array.from_buffers(type_, lines.rows, [valid, buffer(column.starts)], children=[items])
