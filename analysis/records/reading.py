"""Files of logs to Parquet, each line parsed once, a block of lines at a time (`lines.py`). Files that are Parquet
already have their columns (`protocol/record_columns.py`), and of other lines the text.

    <store>/messages/       the messages with all their columns, and `corrupt`
    <store>/events/         of each event the columns of every record, and `corrupt`
    <store>/kinds/<kind>/   the events of one kind with the columns of that kind; of messages' files those of `kept`
    <store>/tallies/        of each block, counts of its lines: a row for each life of a router
    <store>/highest/        of each block, the highest numbers of durable subscriptions: rows of HIGHEST

Law: a line that is no JSON object, or a message with a field of another type than in `protocol/records.py`, is stored
as text in `corrupt` and has no other column. An event of which only a field of its kind has another type lacks that
field. A file is read by one thread, which holds a block of it in memory. A file that only grows may be read in
several parts: each begins behind the last whole line of the part before, in any form of the file.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from tamis.analysis.records import lines, remote
from tamis.analysis.records.by_message import DividedFile, PieceDivision
from tamis.analysis.records.files import COLUMNS, PLAIN, forms_of
from tamis.analysis.records.lines import CORRUPT
from tamis.protocol.record_columns import (
    LINE,
    encoded,
    flat,
    is_known,
    lines_of,
    rows_in,
    split,
)
from tamis.protocol.records import COMMON, KINDS, whole_lines

BLOCK_BYTES: Final = 16 * 1024 * 1024
"""Bytes of lines that are parsed at a time; a longer line is a block of its own."""
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
HIGHEST: Final = pa.schema(
    [
        *(("router", pa.string()), ("epoch", pa.int64()), ("durable", pa.int64()), ("lost", pa.string())),
        ("highest", pa.int64()),
    ]
)
"""Without `lost`: the highest position that was delivered for the first time in a life of a router; with it: the
highest total of this loss that was reported to a consumer."""
KINDS_APART: Final = (*EVENT_KINDS, STORED)
MESSAGES: Final = "messages"
PIECES: Final = "pieces"
"""The folder of files of pieces (`by_message.py`)."""
FOLDERS: Final = (MESSAGES, PIECES, "events", "tallies", "highest", *(f"kinds/{kind}" for kind in KINDS_APART))


class FileProgress(NamedTuple):
    """How far a file was read: the bytes of its text, its lines, and the line behind them that is not whole yet."""

    bytes: int = 0
    lines: int = 0
    rest: str = ""
    """Each byte of it is a character."""
    is_closed: bool = False
    """Whether it was read in a form that no router writes."""


def parse(path: str, family: str, store: str, name: str, division: PieceDivision | None = None) -> None:
    """Parse the file at `path` into files called `name` in the folders of `store`. A file that is gone, or goes while
    it is read, is read in its next form, or skipped: the gap in its router's numbers shows it. `division`: in place of
    whole records of messages, their heads are stored, and pieces."""
    for place in forms_of(path):
        with suppress(FileNotFoundError), written(store, name, division) as write:
            for block in _columns(place, family) if place.endswith(COLUMNS) else _blocks(place):
                _store(block, family, write)
            return


@contextmanager
def written(store: str, name: str, division: PieceDivision | None = None) -> Iterator[Write]:
    """Lend a function that writes into files called `name`. They are there when all is written, and not before: the
    process may be killed, and another one repeat its work."""
    written: dict[Path, Path] = {}
    with ExitStack() as stack:
        writers: dict[str, pq.ParquetWriter | DividedFile] = {}

        def opened(folder: str, schema: pa.Schema) -> pq.ParquetWriter | DividedFile:
            if folder not in writers:
                part = Path(store, folder, f".{name}-{uuid4().hex}")  # Spark ignores names that begin with a dot
                stack.callback(part.unlink, missing_ok=True)
                if folder == PIECES and division is not None:
                    written[part] = part.with_name(f"{name}.arrow")
                    writers[folder] = DividedFile(part, division)
                else:
                    written[part] = part.with_name(f"{name}.parquet")
                    writers[folder] = pq.ParquetWriter(part, schema, **encoded(schema))
                stack.callback(writers[folder].close)
            return writers[folder]

        def write(folder: str, rows: pa.Table) -> None:
            if folder == MESSAGES and division is not None:
                opened(PIECES, rows.schema).write_table(rows)
                rows = rows.select([*(field.name for field in COMMON), CORRUPT])
            opened(folder, rows.schema).write_table(rows)

        yield write
        for writer in writers.values():
            writer.close()
        for part, file in written.items():
            part.replace(file)


def parse_more(path: str, family: str, store: str, name: str, read: FileProgress) -> FileProgress | None:
    """Parse as `parse` does what follows `read`, but for a last line that is not whole. Return how far the file is read
    now; None if it is gone. OSError if it is shorter than what was read."""
    for place in forms_of(path):
        with suppress(FileNotFoundError), written(store, name) as write:
            return _more(place, family, write, read)
    return None


def parse_lines(block: bytes, family: str, store: str, name: str) -> None:
    """Parse lines that are in no file."""
    with written(store, name) as write:
        _store(block, family, write)


def _more(path: str, family: str, write: Write, read: FileProgress) -> FileProgress:
    if path.endswith(COLUMNS):
        for block in _columns(path, family, read.lines):
            _store(block, family, write)
        return FileProgress(is_closed=True)
    rest, size, count = b"", read.bytes, read.lines
    for block in _blocks(path, read.bytes):
        if not block.endswith(b"\n") and not lines.is_object(block):
            rest = block
            continue
        text = block.lstrip(b"\n")  # the end of a line that was whole without it
        if text:
            _store(text, family, write)
        size, count = size + len(block), count + (lines.count(text) if text else 0)
    return FileProgress(size, count, rest.decode("latin-1"), not path.endswith(PLAIN))


def _store(block: pa.Table | bytes, family: str, write: Write) -> None:
    if not isinstance(block, bytes):
        _of_columns(block, family, write)
    elif family == "messages":
        _messages(block, write)
    else:
        _events(block, write)


def lines_in(path: str) -> Iterator[bytes]:
    """Yield the lines of a file in any form, in blocks."""
    if not path.endswith(COLUMNS):
        yield from _blocks(path)
        return
    with _opened(path) as file:
        for batch in rows_in(file):
            yield b"".join(line + b"\n" for line in lines_of(batch))


def _columns(path: str, family: str, skipped: int = 0) -> Iterator[pa.Table | bytes]:
    """Yield the rows of a file of columns behind the first `skipped`, and the lines that are in no columns. OSError as
    by `_blocks`."""
    with _opened(path) as file:
        try:
            for batch in rows_in(file, skipped):
                if not is_known(batch.schema, family):  # of a version in which a field has another type
                    yield b"".join(line + b"\n" for line in lines_of(batch))
                    continue
                texts = batch.column(LINE)
                if texts.null_count < len(batch):
                    yield b"".join(line + b"\n" for line in texts.drop_null().to_pylist())
                if texts.null_count:
                    yield pa.Table.from_batches([batch]).filter(texts.is_null())
        except OSError as error:
            raise _failed(error, path) from error


def _of_columns(rows: pa.Table, family: str, write: Write) -> None:
    kinds = EVENT_KINDS if family == "events" else (STORED,)
    heads = rows.select([field.name for field in COMMON]) if family == "events" else flat(rows, "message")
    heads = heads.append_column(CORRUPT, pa.nulls(len(rows), pa.string()))
    write(family, heads)
    write("tallies", _tally(heads, family))
    for kind in kinds:
        mine = rows.filter(pc.is_valid(rows.column(kind))) if kind in rows.schema.names else ()
        if len(mine) and kind == STORED:
            _stored(flat(mine, kind), write)
        elif len(mine):
            write(f"kinds/{kind}", flat(mine, kind))


def _blocks(path: str, skipped: int = 0) -> Iterator[bytes]:
    """Yield a file of lines, but for its first `skipped` bytes, in blocks that end with a line, or with the file.
    OSError with the path if it cannot be read to its end, as a compressed file that was cut off, or if it is
    shorter."""
    with _stream(path) as source:
        while skipped:
            passed = len(_chunk(source, path, min(skipped, BLOCK_BYTES)))
            if not passed:
                raise OSError(errno.EIO, "the file is shorter than what was read of it before", path)
            skipped -= passed
        yield from whole_lines(iter(partial(_chunk, source, path), b""))


def _chunk(source: pa.NativeFile, path: str, size: int = BLOCK_BYTES) -> bytes:
    try:
        chunk: bytes = source.read(size)
    except OSError as error:
        raise _failed(error, path) from error
    return chunk


def _opened(path: str) -> BinaryIO:
    return remote.opened(path) if remote.is_remote(path) else Path(path).open("rb")


def _stream(path: str) -> pa.NativeFile:
    if remote.is_remote(path):
        return remote.stream(path)
    return pa.input_stream(path, compression="detect", buffer_size=1 << 20)


def _failed(error: OSError, path: str) -> Exception:
    if remote.is_remote(path):
        return remote.translated(error, path)
    return OSError(error.errno or errno.EIO, str(error), path)


def _messages(block: bytes, write: Write) -> None:
    rows = lines.records(block, MESSAGE)
    write("messages", rows)
    write("tallies", _tally(rows, "messages"))
    is_stored = pc.fill_null(pc.equal(rows.column("kind"), STORED), fill_value=False)
    if pc.any(is_stored).as_py():
        mine = [line for line, is_mine in zip(split(block), is_stored.to_pylist(), strict=True) if is_mine]
        _stored(lines.of_kind(mine, (*COMMON, *KINDS[STORED].fields)), write)


def _stored(rows: pa.Table, write: Write) -> None:
    write(f"kinds/{STORED}", rows)
    is_first = pc.and_(pc.equal(rows.column("what"), "given"), pc.equal(rows.column("deliveries"), 1))
    given, told = rows.filter(is_first), rows.filter(pc.equal(rows.column("what"), "told"))
    given = given.set_column(given.schema.get_field_index("lost"), "lost", pa.nulls(len(given), pa.string()))
    columns = [(given, "position"), (told, "total")]
    every = [
        pa.table([*(each.column(at) for at in ("router", "epoch", "keep", "lost", name))], schema=HIGHEST)
        for each, name in columns
    ]
    found = pa.concat_tables(every).group_by(HIGHEST.names[:-1]).aggregate([("highest", "max")])
    if len(found):
        write("highest", found.select([*HIGHEST.names[:-1], "highest_max"]).rename_columns(HIGHEST.names).cast(HIGHEST))


def _events(block: bytes, write: Write) -> None:
    heads = lines.records(block, COMMON)
    write("events", heads)
    write("tallies", _tally(heads, "events"))
    places: dict[str, list[int]] = {}
    named = (heads.column(field.name).to_pylist() for field in COMMON)
    for place, (kind, *others) in enumerate(zip(heads.column("kind").to_pylist(), *named, strict=True)):
        if kind in EVENT_KINDS and None not in others:
            places.setdefault(kind, []).append(place)
    texts = split(block) if places else []
    for kind, mine in places.items():
        write(f"kinds/{kind}", lines.of_kind([texts[place] for place in mine], (*COMMON, *KINDS[kind].fields)))


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
