"""The audit logs of routers (`protocol/access/audit_line.py`), parsed once into Parquet, and whether each is one chain.

    <store>/lines/   each line, with its router and the columns of FIELDS
    <store>/logs/    a row for each log, with the columns of LOG

Law: a log is the files of one folder `audit`, and is of the router that the folder around it is named after. The end of
the newest file without its line end is being written, or was cut by a crash: it is left out and no break of the chain.
What else is no line of an audit log is left out and counted, and is a break. A log is read by one thread, which holds a
block of it. Routers remove their oldest files meanwhile: these are missing, as the numbers of the lines show.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import reduce
from io import BytesIO
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructField, StructType

from tamis.analysis.records import reading, schemas
from tamis.analysis.records.lines import typed_line
from tamis.analysis.spark import cluster, parts
from tamis.protocol.access.audit_line import FILE_FORM, verified
from tamis.protocol.record_columns import arrow_fields, by_arrow, split
from tamis.protocol.records import FieldType, RecordField

FOLDER: Final = "audit"
"""The folder of an audit log, in the folder of its router."""
_TYPES: Final[dict[FieldType, tuple[str, ...]]] = {
    "integer": ("n", "lines"),
    "number": ("at",),
    "text": (
        *("kind", "principal", "name", "verb", "about", "role", "constraint", "method", "peer", "why"),
        *("digest", "mode", "of"),
    ),
    "texts": ("roles",),
    "boolean": ("enforced",),
}
FIELDS: Final = tuple(RecordField(name, type_, "") for type_, names in _TYPES.items() for name in names)
"""The fields of lines that questions read; a line lacks those that its kind has not."""
NUMBER_MAX: Final = 1_000_000_000_000
"""Seconds, and counts of lines, below which a line can be one of a router's."""
LOG: Final = pa.schema(
    [
        *(("router", pa.string()), ("files", pa.int64()), ("lines", pa.int64()), ("removed", pa.int64())),
        *(("last", pa.int64()), ("digest", pa.string()), ("broken", pa.int64()), ("cut_bytes", pa.int64())),
        ("problem", pa.string()),
    ]
)
"""`removed`: lines before the first one, which the bound of bytes has removed; `last` and `digest` of the last line up
to which it is a chain; `broken`: lines that are none; `problem`: the first break of the chain."""


@dataclass(frozen=True)
class AuditLogs:
    """The parsed logs in `store`."""

    spark: SparkSession
    store: Path

    @property
    def lines(self) -> DataFrame:
        fields = [StructField(field.name, schemas.TYPES[field.type]) for field in FIELDS]
        schema = StructType([StructField("router", schemas.TYPES["text"]), *fields])
        return parts.read(self.spark, [self.store / "lines"], schema)

    @property
    def logs(self) -> pa.Table:
        found = [pq.read_table(path) for path in sorted((self.store / "logs").glob("*.parquet"))]
        return pa.concat_tables([LOG.empty_table(), *found]).sort_by("router")


def folders_in(places: Iterable[Path]) -> list[Path]:
    """Return the folders of audit logs in or below `places`."""
    found = {
        path.parent.resolve()
        for place in places
        for path in (*place.glob("audit-*.jsonl"), *place.rglob(f"{FOLDER}/audit-*.jsonl"))
        if FILE_FORM.fullmatch(path.name) and path.parent.resolve().name == FOLDER
    }
    return sorted(found)


def size_of(folders: Iterable[Path]) -> int:
    """Return the bytes of the logs in these folders."""
    return sum(_size(path) for folder in folders for path in _files(folder))


def read(spark: SparkSession, folders: Sequence[Path], store: Path) -> AuditLogs:
    """Parse the logs in `folders` into `store`, which must stay as long as they are used."""
    for name in ("lines", "logs"):
        (store / name).mkdir(parents=True)
    tasks = [(str(folder), str(store), f"{number:06}") for number, folder in enumerate(folders)]
    cluster.each(spark, lambda task: _parse(*task), tasks)
    stored_bytes = sum(path.stat().st_size for path in store.rglob("*.parquet"))
    parts.fit(spark, stored_bytes, stored_bytes)
    return AuditLogs(spark, store)


def _parse(folder: str, store: str, name: str) -> None:
    router, paths = Path(folder).parent.name, _files(Path(folder))
    ends = {path: _size(path) for path in paths}
    cut_bytes = 0
    if paths:
        cut_bytes = _cut_bytes(paths[-1], ends[paths[-1]])
        ends[paths[-1]] -= cut_bytes
    chain = verified((path.name, _lines(path, end)) for path, end in ends.items())
    count = broken = 0
    with reading.written(store, name) as write:
        for path, end in ends.items():
            for block in _blocks(path, end):
                rows, lines = _rows(block), len(split(block))
                count, broken = count + len(rows), broken + lines - len(rows)
                write("lines", rows.add_column(0, "router", pa.array([router] * len(rows), pa.string())))
        last = chain.removed + chain.lines
        about = (router, len(paths), count, chain.removed, last, chain.last, broken, cut_bytes, chain.problem or None)
        write("logs", parts.table_of([about], LOG))


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if FILE_FORM.fullmatch(path.name))


def _size(path: Path) -> int:
    """Return the size of a file; 0 if it is gone."""
    with suppress(FileNotFoundError):
        return path.stat().st_size
    return 0


def _cut_bytes(path: Path, size: int) -> int:
    """Return how many of the first `size` bytes of a file are behind the last line end."""
    cut_bytes = 0
    for block in _blocks(path, size):
        cut_bytes = len(block) - block.rfind(b"\n") - 1
    return cut_bytes


def _blocks(path: Path, size: int) -> Iterator[bytes]:
    """Yield the first `size` bytes of a file, which may grow meanwhile, in blocks that end with a line."""
    with suppress(FileNotFoundError):
        for block in reading.lines_in(str(path)):
            if size <= 0:
                return
            yield block[:size]
            size -= len(block)


def _lines(path: Path, size: int) -> Iterator[bytes]:
    for block in _blocks(path, size):
        yield from BytesIO(block)


def _rows(block: bytes) -> pa.Table:
    """Return the lines of `block` that are lines of an audit log."""
    lines = split(block)
    rows = by_arrow(block, FIELDS, len(lines), others="ignore")
    if rows is None:
        found = (typed_line(line, FIELDS)[0] for line in lines)
        rows = pa.Table.from_pylist(list(found), pa.schema(arrow_fields(FIELDS)))
    named = (pc.is_valid(rows.column(name)) for name in ("n", "at", "kind"))
    numbers = [pc.fill_null(rows.column(name), 0) for name in ("at", "lines")]
    small = (pc.and_(pc.less(each, NUMBER_MAX), pc.greater(each, -NUMBER_MAX)) for each in numbers)
    return rows.filter(reduce(pc.and_, (*named, *small)))
