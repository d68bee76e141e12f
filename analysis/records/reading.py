"""Files of logs to Parquet, each line parsed once: by Arrow a block of lines at a time, by Python where Arrow fails.

    <store>/messages/       the messages with all their columns, and `corrupt`
    <store>/events/         of each event the columns of every record, and `corrupt`
    <store>/kinds/<kind>/   the events of one kind with the columns of that kind; of messages' files those of `kept`
    <store>/tallies/        of each block, counts of its lines: a row for each life of a router

Law: a line that is no JSON object, or a message with a field of another type than in `protocol/records.py`, is stored
as text in `corrupt` and has no other column. An event of which only a field of its kind has another type lacks that
field. The result does not depend on the parser: Arrow's reads a block only if it reads all of it, and as many records
as lines. A file is read by one thread, which holds a block of it in memory.
"""

from __future__ import annotations

import errno
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as arrow_json
import pyarrow.parquet as pq

from tamis.protocol.records import COMMON, KINDS, FieldType, RecordField

BLOCK_BYTES: Final = 16 * 1024 * 1024
"""Bytes of lines that are parsed at a time; a longer line is a block of its own."""
CODEC: Final = "zstd"
CORRUPT: Final = "corrupt"
"""Name of the column that holds an invalid line."""
TYPES: Final[Mapping[FieldType, pa.DataType]] = {
    "integer": pa.int64(),
    "number": pa.float64(),
    "boolean": pa.bool_(),
    "text": pa.string(),
    "texts": pa.list_(pa.string()),
    "integers": pa.list_(pa.int64()),
    "counts": pa.map_(pa.string(), pa.int64()),
}
Fields = Sequence[RecordField]
Write = Callable[[str, pa.Table], None]
"""Called with a folder of the store and rows for it."""

MESSAGE: Final = (*COMMON, *KINDS["message"].fields)
STORED: Final = "kept"
"""The kind of records that is in the files of messages, and is read separately."""
EVENT_KINDS: Final = tuple(name for name, kind in KINDS.items() if kind.family == "events")
TALLIED: Final[Mapping[str, pa.DataType]] = {
    "family": pa.string(),
    "router": pa.string(),
    "epoch": pa.int64(),
    "v": pa.int64(),
    **dict.fromkeys(("lines", "broken", "numbered", "n_max", "n_sum", "first_us", "last_us"), pa.int64()),
}
"""Columns of a tally. `broken` lines are no records or have no number or router; `numbered` are those with a number."""
KINDS_APART: Final = (*EVENT_KINDS, STORED)
FOLDERS: Final = ("messages", "events", "tallies", *(f"kinds/{kind}" for kind in KINDS_APART))


def parse(path: str, family: str, store: str, name: str) -> None:
    """Parse the file at `path` into files called `name` in the folders of `store`. A file that is gone is skipped: the
    gap in its router's numbers shows it."""
    read = _messages if family == "messages" else _events
    with ExitStack() as stack:
        writers: dict[str, pq.ParquetWriter] = {}

        def write(folder: str, rows: pa.Table) -> None:
            if folder not in writers:
                file = Path(store, folder, f"{name}.parquet")
                writers[folder] = stack.enter_context(pq.ParquetWriter(file, rows.schema, compression=CODEC))
            writers[folder].write_table(rows)

        try:
            source = stack.enter_context(pa.input_stream(path, compression="detect", buffer_size=1 << 20))
        except FileNotFoundError:
            return
        for block in _blocks(source, path):
            read(block, write)


def _blocks(source: pa.NativeFile, path: str) -> Iterator[bytes]:
    """Yield the whole of `source` in blocks that end with a line, or with the file. OSError with the path if it cannot
    be read to its end, as a compressed file that was cut off."""
    rest = b""
    while chunk := _chunk(source, path):
        whole, newline, after = chunk.rpartition(b"\n")
        if newline:
            yield rest + whole + newline
            rest = after
        else:
            rest += chunk
    if rest:
        yield rest


def _chunk(source: pa.NativeFile, path: str) -> bytes:
    try:
        chunk: bytes = source.read(BLOCK_BYTES)
    except OSError as error:
        raise OSError(error.errno or errno.EIO, str(error), path) from error
    return chunk


def _messages(block: bytes, write: Write) -> None:
    count = _lines(block)
    rows = _by_arrow(block, MESSAGE, count)
    if rows is None:
        rows = _table((_whole(line, MESSAGE) for line in _split(block)), MESSAGE, corrupt=True)
    else:
        rows = rows.append_column(CORRUPT, pa.nulls(count, pa.string()))
    write("messages", rows)
    write("tallies", _tally(rows, "messages"))
    is_stored = pc.fill_null(pc.equal(rows.column("kind"), STORED), fill_value=False)
    if pc.any(is_stored).as_py():
        lines = zip(_split(block), is_stored.to_pylist(), strict=True)
        write(f"kinds/{STORED}", _of_kind([line for line, mine in lines if mine], (*COMMON, *KINDS[STORED].fields)))


def _events(block: bytes, write: Write) -> None:
    lines = _split(block)
    heads = _by_arrow(block, COMMON, len(lines))
    if heads is None:
        heads = _table((_whole(line, COMMON) for line in lines), COMMON, corrupt=True)
    else:
        heads = heads.append_column(CORRUPT, pa.nulls(len(lines), pa.string()))
    write("events", heads)
    write("tallies", _tally(heads, "events"))
    places: dict[str, list[int]] = {}
    named = (heads.column(field.name).to_pylist() for field in COMMON)
    for place, (kind, *others) in enumerate(zip(heads.column("kind").to_pylist(), *named, strict=True)):
        if kind in EVENT_KINDS and None not in others:
            places.setdefault(kind, []).append(place)
    for kind, mine in places.items():
        write(f"kinds/{kind}", _of_kind([lines[place] for place in mine], (*COMMON, *KINDS[kind].fields)))


def _tally(rows: pa.Table, family: str) -> pa.Table:
    """Return the columns of TALLIED for the records of one block."""
    heads = rows.select(["router", "epoch", "v", "n", "t_us"])
    is_broken = pc.or_(pc.is_null(heads.column("n")), pc.is_null(heads.column("router")))  # so it is in what is CORRUPT
    sums = heads.append_column("broken", pc.cast(is_broken, pa.int64())).group_by(["router", "epoch", "v"])
    asked = [([], "count_all"), ("broken", "sum"), ("n", "count"), ("n", "max"), ("n", "sum")]
    found = sums.aggregate([*asked, ("t_us", "min"), ("t_us", "max")])
    order = ["count_all", "broken_sum", "n_count", "n_max", "n_sum", "t_us_min", "t_us_max"]
    columns = [found.column(name) for name in ("router", "epoch", "v", *order)]
    names = [pa.array([family] * len(found), pa.string())]
    return pa.Table.from_arrays([*names, *columns], schema=pa.schema(list(TALLIED.items())))


def _of_kind(lines: Sequence[bytes], fields: Fields) -> pa.Table:
    """Return the records of one kind, whose heads are whole. Arrow has no maps in JSON: counts are read apart, from the
    few lines that have any."""
    plain = [field for field in fields if field.type != "counts"]
    rows = _by_arrow(b"\n".join(lines), plain, len(lines))
    if rows is None:
        return _table((_typed(_object(line), fields)[0] for line in lines), fields, corrupt=False)
    for place, field in enumerate(fields):
        if field.type == "counts":
            mark = json.dumps(field.name).encode()
            counts = [_typed(_object(line), [field])[0][field.name] if mark in line else None for line in lines]
            rows = rows.add_column(place, field.name, pa.array(counts, TYPES["counts"]))
    return rows


def _by_arrow(block: bytes, fields: Fields, count: int) -> pa.Table | None:
    """Return the `count` records of `block`; None if Arrow's parser cannot read one of them."""
    wanted = schema(fields)
    if not count:
        return wanted.empty_table()
    options = arrow_json.ReadOptions(use_threads=False, block_size=len(block) + 1)
    parsing = arrow_json.ParseOptions(explicit_schema=wanted, unexpected_field_behavior="ignore")
    try:
        rows = arrow_json.read_json(pa.BufferReader(block), options, parsing)
        block.isascii() or block.decode()
    except (pa.ArrowInvalid, UnicodeDecodeError):
        return None
    has_objects = len(rows) == count and not rows.column("kind").null_count  # a `null` on a line is read as one
    return rows.select(wanted.names) if has_objects else None


def schema(fields: Fields, corrupt: bool = False) -> pa.Schema:
    named = [(field.name, TYPES[field.type]) for field in fields]
    return pa.schema([*named, *([(CORRUPT, pa.string())] if corrupt else [])])


def _lines(block: bytes) -> int:
    return len(_split(block)) if b"\n\n" in block else block.count(b"\n") + (not block.endswith(b"\n"))


def _split(block: bytes) -> list[bytes]:
    return [line for line in block.split(b"\n") if line.strip()]


def _table(rows: Iterator[dict[str, Any]], fields: Fields, corrupt: bool) -> pa.Table:
    return pa.Table.from_pylist(list(rows), schema(fields, corrupt))


def _whole(line: bytes, fields: Fields) -> dict[str, Any]:
    """Return the record on a line, or the line as CORRUPT."""
    row, is_right = _typed(_object(line), fields)
    return row if is_right else {CORRUPT: line.decode(errors="replace")}


def _object(line: bytes) -> object:
    try:
        return json.loads(line.decode(errors="replace"))
    except (ValueError, RecursionError):
        return None


def _typed(found: object, fields: Fields) -> tuple[dict[str, Any], bool]:
    """Return those of `fields` that `found` has with a value of their type, and whether no field has another."""
    if not isinstance(found, dict):
        return {field.name: None for field in fields}, False
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
            return value.encode(errors="replace").decode() if isinstance(value, str) else None
        case "texts" | "integers":
            parts = [_value(each, "text" if type_ == "texts" else "integer") for each in _list(value)]
            return parts if isinstance(value, list) and None not in parts else None
        case "counts":
            counts = {name: _value(each, "integer") for name, each in _dict(value).items()}
            return list(counts.items()) if isinstance(value, dict) and None not in counts.values() else None


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _dict(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}
