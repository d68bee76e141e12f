"""Records as columns: the rows of a Parquet file of records, from lines of JSON and back to them.

    v, kind, t_us, router, epoch, n      the fields of every record
    message, kept                        by kind of the file family: a struct of the fields of that kind, null in others
    line                                 the bytes of a line that these columns cannot hold unchanged

Law: a line is in the columns if it is an object with the fields of every record, a kind of the family, and no fields
but those of that kind, each of its type; of any other line (a field or kind of a later version, a value of another
type, a line that a crash cut) `line` has all bytes and the other columns nothing. So no line is lost or changed in
meaning; only the order of fields, spaces, and fields that are null are not kept. Columns are made of the table in
`protocol/records.py` and nothing else. The columns of a file of another version are read as the file declares them.

This is the only module of `protocol` that needs pyarrow, and only readers and writers of Parquet import it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, BinaryIO, Final, Literal

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as arrow_json
import pyarrow.parquet as pq

from tamis.protocol.records import COMMON, KINDS, FieldType, RecordField

TYPES: Final[Mapping[FieldType, pa.DataType]] = {
    "integer": pa.int64(),
    "number": pa.float64(),
    "boolean": pa.bool_(),
    "text": pa.string(),
    "texts": pa.list_(pa.string()),
    "integers": pa.list_(pa.int64()),
    "counts": pa.map_(pa.string(), pa.int64()),
}
LINE: Final = "line"
CODEC: Final = "zstd"
_OF_INTEGERS: Final = "DELTA_BINARY_PACKED"
"""The encoding of integers, most of which grow from record to record: a file is a third of what it is without."""
BATCH_ROWS: Final = 50_000
"""Rows of a file that are in memory at a time, about."""
Fields = Sequence[RecordField]
_BEGIN: Final = re.compile(rb'\{"v":\d+,"kind":"(\w+)",')
"""The begin of a line as routers write it."""
_HEAD: Final = tuple(field.name for field in COMMON)
_encode: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


@cache
def schema_of(family: str) -> pa.Schema:
    """Return the columns of the files of a family."""
    kinds = [(name, pa.struct(arrow_fields(KINDS[name].fields))) for name in kinds_of(family)]
    return pa.schema([*arrow_fields(COMMON), *kinds, (LINE, pa.binary())])


def kinds_of(family: str) -> list[str]:
    return [kind.name for kind in KINDS.values() if kind.family == family]


def arrow_fields(fields: Fields) -> list[pa.Field]:
    return [pa.field(field.name, TYPES[field.type]) for field in fields]


# --- from lines ------------------------------------------------------------------------------------------------------


def table_of(block: bytes, family: str) -> pa.Table:
    """Return the rows of the lines of `block`, in their order; empty lines have none."""
    kind, count = _only_kind(block)
    rows = _of_kind(block, family, kind, count) if kind else None
    return _of_many(split(block), family) if rows is None else rows


def split(block: bytes) -> list[bytes]:
    return [line for line in block.split(b"\n") if line.strip()]


def _only_kind(block: bytes) -> tuple[str, int]:
    """Return the kind of all lines and their number; "" if a line has another kind or begin."""
    begin = _BEGIN.match(block)
    if begin is None or b"\n\n" in block:
        return "", 0
    count = block.count(b"\n") + (not block.endswith(b"\n"))
    return (begin[1].decode(), count) if block.count(b"\n" + begin[0]) == count - 1 else ("", 0)


def _of_kind(block: bytes, family: str, kind: str, count: int) -> pa.Table | None:
    """Return the rows of `count` lines of one kind; None if one does not fit, or the kind has fields that Arrow's
    parser does not read."""
    if kind not in kinds_of(family) or any(field.type == "counts" for field in KINDS[kind].fields):
        return None
    flat = by_arrow(block, (*COMMON, *KINDS[kind].fields), count, others="error")
    if flat is None or any(flat.column(field.name).null_count for field in COMMON):
        return None
    if not pc.all(pc.equal(flat.column("kind"), kind)).as_py():
        return None
    columns = {name: flat.column(name) for name in flat.schema.names}
    body = [columns[field.name].combine_chunks() for field in KINDS[kind].fields]
    columns[kind] = pa.StructArray.from_arrays(body, fields=arrow_fields(KINDS[kind].fields))
    return _with_columns(count, {name: columns[name] for name in (*_HEAD, kind)}, schema_of(family))


def _with_columns(count: int, columns: Mapping[str, pa.Array], schema: pa.Schema) -> pa.Table:
    """Return `count` rows of `schema` with these columns, and nothing in the others."""
    arrays = [columns[field.name] if field.name in columns else pa.nulls(count, field.type) for field in schema]
    return pa.Table.from_arrays(arrays, schema=schema)


def by_arrow(block: bytes, fields: Fields, count: int, others: Literal["error", "ignore"]) -> pa.Table | None:
    """Return the `count` records of `block`, flat; None if Arrow's parser cannot read one of them. `others`: what it
    does with other fields."""
    wanted = pa.schema(arrow_fields(fields))
    if not count:
        return wanted.empty_table()
    if not block.lstrip().startswith(b"{"):
        return None  # Arrow's parser crashes if the first value is `null`
    options = arrow_json.ReadOptions(use_threads=False, block_size=len(block) + 1)
    parsing = arrow_json.ParseOptions(explicit_schema=wanted, unexpected_field_behavior=others)
    try:
        rows = arrow_json.read_json(pa.BufferReader(block), options, parsing)
        block.isascii() or block.decode()
    except (pa.ArrowInvalid, UnicodeDecodeError):
        return None
    has_objects = len(rows) == count and not rows.column("kind").null_count  # a `null` on a line is read as one
    return rows.select(wanted.names) if has_objects else None


def _of_many(lines: Sequence[bytes], family: str) -> pa.Table:
    """Return the rows of lines of several kinds, or of such as do not fit."""
    places: dict[str, list[int]] = {}
    for place, line in enumerate(lines):
        begin = _BEGIN.match(line)
        places.setdefault(begin[1].decode() if begin else "", []).append(place)
    pieces = [schema_of(family).empty_table()]
    for kind, mine in places.items():
        rows = _of_kind(b"\n".join(lines[place] for place in mine), family, kind, len(mine))
        pieces.append(_one_by_one([lines[place] for place in mine], family) if rows is None else rows)
    table = pa.concat_tables(pieces)
    order = pa.array([place for mine in places.values() for place in mine], pa.int64())
    return table if len(places) < 2 else table.take(pc.sort_indices(order))


def _one_by_one(lines: Sequence[bytes], family: str) -> pa.Table:
    return pa.Table.from_pylist([_row(line, family) for line in lines], schema_of(family))


def _row(line: bytes, family: str) -> dict[str, Any]:
    """Return the columns of the record on a line, or the line."""
    try:
        found = json.loads(line.decode(), object_pairs_hook=_without_twins)
    except (ValueError, RecursionError):
        return {LINE: line}
    kind = KINDS.get(found["kind"]) if isinstance(found, dict) and isinstance(found.get("kind"), str) else None
    if kind is None or kind.family != family:
        return {LINE: line}
    head, has_head = typed(found, COMMON)
    body, has_body = typed(found, kind.fields)
    fits = has_head and has_body and None not in head.values() and found.keys() <= head.keys() | body.keys()
    return head | {kind.name: body} if fits else {LINE: line}


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a field stands twice")
    return found


def typed(found: Mapping[str, Any], fields: Fields) -> tuple[dict[str, Any], bool]:
    """Return those of `fields` that `found` has with a value of their type, and whether no field has another."""
    row: dict[str, Any] = {}
    is_right = True
    for field in fields:
        value = found.get(field.name)
        row[field.name] = None if value is None else _value(value, field.type)
        is_right &= value is None or row[field.name] is not None
    return row, is_right


def _value(value: object, type_: FieldType) -> Any:  # noqa: ANN401 - what the field holds
    """Return `value` as a column of `type_` holds it; None if it is of another type."""
    match type_:
        case "integer":
            is_whole = isinstance(value, int) and not isinstance(value, bool) and -(1 << 63) <= value < 1 << 63
            return value if is_whole else None
        case "number":
            return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
        case "boolean":
            return value if isinstance(value, bool) else None
        case "text":
            return value if isinstance(value, str) and _is_unicode(value) else None
        case "texts" | "integers":
            parts = [_value(each, "text" if type_ == "texts" else "integer") for each in _list(value)]
            return parts if isinstance(value, list) and None not in parts else None
        case "counts":
            counts = {name: _value(each, "integer") for name, each in _dict(value).items()}
            is_right = isinstance(value, dict) and None not in counts.values() and all(map(_is_unicode, counts))
            return list(counts.items()) if is_right else None


def _is_unicode(text: str) -> bool:
    """Return whether the text has no half of a pair of surrogates, which has no bytes."""
    return text.isascii() or not any("\ud800" <= mark <= "\udfff" for mark in text)


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _dict(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


# --- files -----------------------------------------------------------------------------------------------------------


def writer(file: BinaryIO, family: str) -> pq.ParquetWriter:
    """Return a writer of tables from `table_of` into a file that the caller has opened; each table is a row group."""
    schema = schema_of(family)
    return pq.ParquetWriter(file, schema, write_page_checksum=True, **encoded(schema))


def encoded(schema: pa.Schema) -> dict[str, Any]:
    """Return how a writer encodes columns of records."""
    leaves = [leaf for field in schema for leaf in _leaves(field)]
    return {
        "compression": CODEC,
        "use_dictionary": [path for path, type_ in leaves if not pa.types.is_integer(type_)],
        "column_encoding": {path: _OF_INTEGERS for path, type_ in leaves if pa.types.is_integer(type_)},
    }


def _leaves(field: pa.Field, above: str = "") -> Iterator[tuple[str, pa.DataType]]:
    """Yield the names of the columns of a field in a file, and their types."""
    path, type_ = above + field.name, field.type
    if pa.types.is_struct(type_):
        for inner in type_:
            yield from _leaves(inner, f"{path}.")
    elif pa.types.is_map(type_):
        yield from ((f"{path}.key_value.key", type_.key_type), (f"{path}.key_value.value", type_.item_type))
    elif pa.types.is_list(type_):
        yield f"{path}.list.element", type_.value_type
    else:
        yield path, type_


def rows_in(file: BinaryIO, skipped: int = 0) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a file that the caller has opened, but for the first `skipped`. OSError with a sentence: it was
    cut, is damaged, or has no records."""
    try:
        found = pq.ParquetFile(file, page_checksum_verification=True)
        has_records = {*_HEAD, LINE} <= {*found.schema_arrow.names}
        for group in range(found.num_row_groups if has_records else 0):
            rows = found.metadata.row_group(group).num_rows
            for batch in found.iter_batches(BATCH_ROWS, [group]) if rows > skipped else ():
                yield batch.slice(min(skipped, len(batch)))
                skipped -= min(skipped, len(batch))
                rows -= len(batch)
            skipped -= min(skipped, rows)
    except (pa.ArrowException, OSError) as error:
        raise OSError(f"it was cut or is damaged: {str(error).splitlines()[0]}") from error
    if not has_records:
        raise OSError(f"it is Parquet, but not of records: those have the columns {', '.join(_HEAD)} and {LINE}")


def is_known(schema: pa.Schema, family: str) -> bool:
    """Return whether each column of `schema` that this version knows has the type that it knows; some may be absent."""
    for wanted in schema_of(family):
        if wanted.name not in schema.names:
            continue
        found = schema.field(wanted.name).type
        if not pa.types.is_struct(wanted.type):
            is_right = found == wanted.type
        else:
            types = {field.name: field.type for field in found} if pa.types.is_struct(found) else {}
            is_right = bool(types) and all(types.get(field.name, field.type) == field.type for field in wanted.type)
        if not is_right:
            return False
    return True


def flat(rows: pa.Table, kind: str) -> pa.Table:
    """Return the fields of every record and of one kind as columns; fields that the file lacks have nothing in them."""
    columns = {name: rows.column(name) for name in _HEAD}
    if kind in rows.schema.names:
        body = rows.column(kind)
        columns |= {field.name: pc.struct_field(body, field.name) for field in body.type}
    return _with_columns(len(rows), columns, pa.schema(arrow_fields((*COMMON, *KINDS[kind].fields))))


# --- to lines --------------------------------------------------------------------------------------------------------


def lines_of(rows: pa.RecordBatch) -> Iterator[bytes]:
    """Yield the line of each row, without its end. All columns are read as the file declares them."""
    lines = rows.column(LINE).to_pylist()
    bodies: list[Mapping[str, Any]] = [{}] * len(lines)
    heads: dict[str, list[Any]] = {}
    for field in rows.schema:
        if pa.types.is_struct(field.type):
            _put_bodies(bodies, rows.column(field.name))
        elif field.name != LINE:
            heads[field.name] = rows.column(field.name).to_pylist()
    named = (dict(zip(heads, values, strict=True)) for values in zip(*heads.values(), strict=True))
    for line, head, body in zip(lines, named, bodies, strict=True):
        yield _encode(_present(head) | _present(body)).encode() if line is None else line


def _put_bodies(bodies: list[Mapping[str, Any]], kind: pa.StructArray) -> None:
    """Put the fields of each row that has this kind to its place."""
    is_valid = kind.is_valid()
    places = pc.indices_nonzero(is_valid).to_pylist()
    mine = kind.filter(is_valid)
    columns = {}
    for field, values in zip(mine.type, mine.flatten(), strict=True):
        found = values.to_pylist()
        is_map = pa.types.is_map(field.type)
        columns[field.name] = [None if each is None else dict(each) for each in found] if is_map else found
    for place, values in zip(places, zip(*columns.values(), strict=True), strict=True):
        bodies[place] = {**bodies[place], **dict(zip(columns, values, strict=True))}


def _present(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
