"""Records of messages with what is asked of them, divided by message.

Law: which piece has a record depends on the publisher and number of its message alone, so all records of a message are
in one. Records without a number are all in one piece. A file of pieces has a batch for each piece in turn, once or
more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple
from zlib import crc32

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tamis.protocol.record_columns import arrow_fields
from tamis.protocol.records import COMMON, KINDS

CHAPTER: Final = "chapter"
"""The column of records and sums with the number of a chapter; null for messages behind the last one."""
DIVIDED_ROWS: Final = 1_000_000
DIVIDED_BYTES: Final = 256 * 1024 * 1024
"""Records that a task divides at a time, about, and their bytes."""
RECORD: Final = pa.schema(
    [
        *(("origin", pa.string()), ("number", pa.int64()), ("source", pa.string()), ("source_epoch", pa.int64())),
        *(("transit", pa.int64()), ("hop", pa.int64()), ("router", pa.string()), ("epoch", pa.int64())),
        *(("t_us", pa.int64()), ("from_neighbour", pa.string()), ("from_connection", pa.int64())),
        *(("match_ns", pa.int64()), ("matched", pa.int64()), ("to_connections", pa.list_(pa.int64()))),
        *(("bytes", pa.int64()), ("attributes", pa.string())),
        *(("is_refused", pa.bool_()), ("has_dropped", pa.bool_()), ("is_sent_on", pa.bool_()), (CHAPTER, pa.int64())),
    ]
)
"""`is_sent_on`: whether a copy went, or had to go, to a neighbour."""
SPAN: Final = pa.struct([("above", pa.int64()), ("to", pa.int64()), (CHAPTER, pa.int64())])
SPANS: Final = pa.schema([("origin", pa.string()), ("end", pa.int64()), ("spans", pa.list_(SPAN))])
"""Of each publisher, the end of its last chapter before a run, and the spans of chapters to be summed by it."""
READ: Final = pa.schema(arrow_fields((*COMMON, *KINDS["message"].fields)))
_WHOLE: Final = (*(field.name for field in COMMON),)
_MIXED: Final = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class RecordChoice:
    """Which records are read: those from `since_us` on, and, if `spans` are known, those of messages in a span or
    behind the end of their publisher."""

    since_us: int | None = None
    spans: pa.Table | None = None

    def of(self, rows: pa.RecordBatch) -> pa.Table:
        """Return those of the rows of the store that are whole records of messages and chosen, with the columns of
        RECORD."""
        which = pc.equal(rows.column("kind"), "message")
        for name in _WHOLE:
            which = pc.and_(which, rows.column(name).is_valid())
        if self.since_us is not None:
            which = pc.and_(which, pc.greater_equal(rows.column("t_us"), self.since_us))
        which = pc.fill_null(which, fill_value=False)
        rows = rows if pc.all(which).as_py() else rows.filter(which)
        columns = {name: rows.column(name) for name in RECORD.names if name in READ.names}
        columns["is_refused"] = rows.column("refused").is_valid()
        columns["has_dropped"] = _has_any(rows.column("dropped"))
        columns["is_sent_on"] = pc.or_(_has_any(rows.column("to_neighbours")), columns["has_dropped"])
        columns[CHAPTER] = pa.nulls(rows.num_rows, pa.int64())
        found = pa.table(columns, schema=RECORD)
        if self.spans is None:
            return found
        chapter, is_behind = _chapters(self.spans, found)
        found = found.set_column(len(RECORD) - 1, RECORD.field(CHAPTER), chapter)
        return found.filter(pc.or_(chapter.is_valid(), pa.array(is_behind)))


class PieceDivision(NamedTuple):
    """Which records are divided, and into how many pieces."""

    choice: RecordChoice
    pieces: int


class DividedFile:
    """A file of pieces that is being written. At most DIVIDED_ROWS records and DIVIDED_BYTES wait, about."""

    def __init__(self, place: Path, division: PieceDivision) -> None:
        self._division = division
        self._file = pa.OSFile(str(place), "wb")
        options = pa.ipc.IpcWriteOptions(compression="lz4", use_threads=False)
        self._sink = pa.ipc.new_file(self._file, RECORD, options=options)
        self._waiting: list[pa.Table] = []

    def write_table(self, rows: pa.Table) -> None:
        """Add those of the rows of the store that are chosen."""
        self._waiting += map(self._division.choice.of, rows.to_batches())
        size = sum(len(each) for each in self._waiting), sum(each.nbytes for each in self._waiting)
        if size[0] >= DIVIDED_ROWS or size[1] >= DIVIDED_BYTES:
            self._divide()

    def close(self) -> None:
        if self._file.closed:
            return
        if self._waiting:
            self._divide()
        self._sink.close()
        self._file.close()

    def _divide(self) -> None:
        for batch in divided(pa.concat_tables(self._waiting), self._division.pieces):
            self._sink.write_batch(batch)
        self._waiting.clear()


def divided(rows: pa.Table, count: int) -> Iterator[pa.RecordBatch]:
    """Yield the records of each piece."""
    piece = (_mixed(rows) % np.uint64(count)).astype(np.int64)
    order = np.argsort(piece, kind="stable")
    batch = one_batch(rows.take(pa.array(order)))
    starts = np.searchsorted(piece[order], np.arange(count + 1))
    yield from (batch.slice(start, end - start) for start, end in pairwise(starts))


def piece(files: Sequence[str], count: int, number: int) -> pa.Table:
    """Return the records of a piece."""
    found = []
    for file in files:
        with pa.memory_map(file) as mapped:
            reader = pa.ipc.open_file(mapped)
            found += [reader.get_batch(place) for place in range(number, reader.num_record_batches, count)]
    return pa.Table.from_batches(found, RECORD)


def _mixed(rows: pa.Table) -> NDArray[np.uint64]:
    """Return a number for the publisher and number of each record, spread evenly."""
    origin = rows.column("origin").combine_chunks().dictionary_encode("encode")
    sums = np.array([crc32((name or "").encode()) for name in origin.dictionary.to_pylist()] or [0], np.uint64)
    number = pc.fill_null(rows.column("number"), 0).to_numpy().view(np.uint64)
    found: NDArray[np.uint64] = (number + sums[origin.indices.to_numpy()]) * _MIXED
    return (found ^ (found >> np.uint64(29))) * _MIXED >> np.uint64(16)


def _has_any(lists: pa.Array) -> pa.Array:
    return pc.fill_null(pc.greater(pc.list_value_length(lists), 0), fill_value=False)


def _chapters(spans: pa.Table, rows: pa.Table) -> tuple[pa.Array, NDArray[Any]]:
    """Return the chapter of each record that is in a span, and whether it is behind the end of its publisher."""
    number = pc.fill_null(rows.column("number"), 0).to_numpy()
    unnumbered = rows.column("number").is_null().to_numpy()
    of = pc.fill_null(pc.index_in(rows.column("origin"), spans.column("origin").combine_chunks()), -1)
    of = of.to_numpy().astype(np.int64)
    end = spans.column("end").combine_chunks()
    has_end = np.append(end.is_valid().to_numpy(zero_copy_only=False), False)
    is_behind = unnumbered | ~has_end[of] | (number > np.append(pc.fill_null(end, 0).to_numpy(), 0)[of])
    lists = spans.column("spans").combine_chunks()
    publisher, each = pc.list_parent_indices(lists).to_numpy(), lists.flatten()
    above, to, chapter = (each.field(name).to_numpy() for name in SPAN.names)
    if not len(to):
        return pa.nulls(len(rows), pa.int64()), is_behind
    # A number is at most the end of a span if its place among all ends is: places fit beside that of the publisher.
    ends = np.unique(to)
    keys = publisher * len(ends) + np.searchsorted(ends, to)
    order = np.argsort(keys)
    wanted = of * len(ends) + np.searchsorted(ends, number)
    span = order[np.minimum(np.searchsorted(keys[order], wanted), len(order) - 1)]
    is_in = (publisher[span] == of) & (above[span] < number) & (number <= to[span]) & ~unnumbered
    return pa.array(chapter[span], pa.int64(), mask=~is_in), is_behind


def one_batch(rows: pa.Table) -> pa.RecordBatch:
    """Return the rows of a table in one batch."""
    found: list[pa.RecordBatch] = rows.combine_chunks().to_batches()
    return found[0] if found else pa.RecordBatch.from_pylist([], rows.schema)
