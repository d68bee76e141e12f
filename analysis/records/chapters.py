"""Messages of a store that are summed up once: chapters.

Law: a chapter has, of each publisher, the messages from one number to another, and all records of these, in whichever
file they are. What it sums up to is made of these records alone and lies beside it. A record that comes later for
one of its messages has the whole chapter summed up again, so that no sum depends on the order in which files come. When
a chapter begins or ends is a question of cost only: it ends with the newest messages whose routers have all written
records QUIET_US later, and has CHAPTER_ROWS records, about. Messages behind the last chapter are summed with each run.
"""

from __future__ import annotations

import shutil
from dataclasses import replace
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import dataset
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from tamis.analysis.records import parts
from tamis.analysis.records.increments import Chapter, RecordStore
from tamis.analysis.records.logs import Logs

CHAPTER: Final = "chapter"
"""The column of records and sums with the number of a chapter; null for messages behind the last one."""
CHAPTER_ROWS: Final = 500_000
"""Records of a chapter, about; fewer are summed with each run."""
QUIET_US: Final = 10_000_000
HELD_US: Final = 600_000_000
"""Time for which a router without new records holds up the end of a chapter."""
_PIECES: Final = 4
"""Moments in the time of a chapter at which it may end."""
_ID: Final = ("origin", "number")
_RANGES: Final = pa.schema([("origin", pa.string()), ("above", pa.int64()), ("to", pa.int64()), (CHAPTER, pa.int64())])
_SPAN: Final = pa.struct([("above", pa.int64()), ("to", pa.int64()), (CHAPTER, pa.int64())])
_SPANS: Final = pa.schema([("origin", pa.string()), ("end", pa.int64()), ("spans", pa.list_(_SPAN))])
_BEGINNING: Final = -(1 << 63)


class WholeLogs:
    """All messages of logs, to be summed now."""

    def unsummed(self, logs: Logs) -> DataFrame:
        """Return the messages to be summed now, with CHAPTER."""
        return logs.messages.withColumn(CHAPTER, F.lit(None).cast("long"))

    def whole(self, _: str, found: pa.Table) -> pa.Table:
        """Return the sums of all messages. `found`: the sums called by this name of what was to be summed."""
        return found.drop_columns([CHAPTER])

    def commit(self) -> None:
        """Keep the sums that are new."""


class Chapters(WholeLogs):
    """The messages of a store, some of which were summed before. `job`: what sums depend on beside records; sums of
    another job are not used."""

    def __init__(self, store: RecordStore, job: str) -> None:
        known = store.manifest
        if known.job != job:
            files = [path for name in known.generations for path in sorted((store.place / name).glob("messages/*"))]
            behind = [str(path.relative_to(store.place)) for path in files]
            known = replace(known, job=job, chapters=[], behind=behind, fresh=[])
        self._store, self._known, self._number = store, known, known.made
        ranges = {chapter.number: self._read(chapter, "ranges") for chapter in known.chapters}
        every = pa.concat_tables([_RANGES.empty_table(), *ranges.values()])
        self._ends = _ends(every)
        late: dict[int, set[str]] = {}
        for file in known.fresh if len(every) else ():
            for number in self._touched(file, every):
                late.setdefault(number, set()).add(file)
        self._done = [chapter for chapter in known.chapters if chapter.number not in late]
        self._due: list[tuple[Chapter, pa.Table]] = []
        for chapter in known.chapters:
            if chapter.number in late:
                self._add(ranges[chapter.number], {*chapter.files} | late[chapter.number])
        self._behind, self._sums = known.behind, dict[str, pa.Table]()

    def unsummed(self, logs: Logs) -> DataFrame:
        self._begin(logs)
        of_due = {name for chapter, _ in self._due for name in chapter.files}
        messages = logs.messages_in([self._store.place / name for name in sorted({*self._known.behind} | of_due)])
        if not self._done and not self._due:
            return messages.withColumn(CHAPTER, F.lit(None).cast("long"))
        each = messages.join(parts.sent(logs.spark.createDataFrame(self._spans())), "origin", "left")
        mine = F.filter("spans", lambda span: (F.col("number") > span.above) & (F.col("number") <= span.to))
        labelled = each.withColumn(CHAPTER, F.try_element_at(mine, F.lit(1)).getField(CHAPTER))
        is_behind = F.coalesce(F.col("number") > F.col("end"), F.lit(True))
        return labelled.where(F.col(CHAPTER).isNotNull() | is_behind).drop("spans", "end")

    def whole(self, name: str, found: pa.Table) -> pa.Table:
        self._sums[name] = found
        before = (self._read(chapter, name) for chapter in self._done)
        return pa.concat_tables([found, *before], promote_options="default").drop_columns([CHAPTER])

    def commit(self) -> None:
        for chapter, ranges in self._due:
            folder = self._store.place / chapter.folder
            shutil.rmtree(folder, ignore_errors=True)
            for name, rows in {"ranges": ranges, **self._sums}.items():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                mine = rows.filter(pc.equal(rows.column(CHAPTER), chapter.number))
                pq.write_table(mine, folder / f"{name}.parquet")
        chapters = [*self._done, *(chapter for chapter, _ in self._due)]
        self._store.commit(replace(self._known, chapters=chapters, behind=self._behind, fresh=[], made=self._number))

    def _read(self, chapter: Chapter, name: str) -> pa.Table:
        return pq.read_table(self._store.place / chapter.folder / f"{name}.parquet", partitioning=None)

    def _add(self, ranges: pa.Table, files: set[str]) -> None:
        """Have these messages summed up as a chapter with a new number."""
        self._number += 1
        number = pa.array([self._number] * len(ranges), pa.int64())
        numbered = ranges.select(_RANGES.names[:3]).append_column(CHAPTER, number)
        self._due.append((Chapter(self._number, sorted(files)), numbered))

    def _touched(self, file: str, ranges: pa.Table) -> set[int]:
        """Return the chapters that have messages with records in a file."""
        found: set[int] = set()
        for batch in dataset.dataset(self._store.place / file).to_batches(columns=list(_ID)):
            ids = pa.Table.from_batches([batch]).group_by(list(_ID)).aggregate([])
            early = ids.join(self._ends, "origin", join_type="inner")
            early = early.filter(pc.less_equal(early.column("number"), early.column("end")))
            each = early.join(ranges, "origin", join_type="inner")
            number = each.column("number")
            is_of = pc.and_(pc.greater(number, each.column("above")), pc.less_equal(number, each.column("to")))
            found |= {*each.filter(is_of).column(CHAPTER).to_pylist()}
        return found

    def _spans(self) -> pa.Table:
        """Return, of each publisher, the end of its last chapter before this run, and the spans of chapters to be
        summed."""
        rows: dict[str, dict[str, Any]] = {row["origin"]: row | {"spans": []} for row in self._ends.to_pylist()}
        for _, ranges in self._due:
            for row in ranges.to_pylist():
                mine = rows.setdefault(row["origin"], {"origin": row["origin"], "end": None, "spans": []})
                mine["spans"].append({name: row[name] for name in _RANGES.names[1:]})
        return pa.Table.from_pylist(list(rows.values()), _SPANS)

    def _begin(self, logs: Logs) -> None:
        """Make chapters of messages behind the last one, where there are records enough."""
        behind = [self._store.place / name for name in self._known.behind]
        records = sum(pq.read_metadata(path).num_rows for path in behind)
        span = _quiet(logs.tallies())
        if records < CHAPTER_ROWS or span is None:
            return
        found = self._counted(logs, span, records * _PIECES // CHAPTER_ROWS)
        pieces = sorted({*found.column("piece").to_pylist()} - {None})
        ends, taken = self._ends, 0
        for piece in pieces:
            taken += sum(found.filter(pc.equal(found.column("piece"), piece)).column("records").to_pylist())
            if taken < CHAPTER_ROWS:
                continue
            mine = found.filter(pc.less_equal(found.column("piece"), piece))
            ranges = _next(mine, ends)
            each = found.join(ranges.rename_columns(["origin", "above", "end"]), "origin", join_type="inner")
            is_of = pc.and_(
                pc.greater(each.column("to"), each.column("above")),
                pc.less_equal(each.column("from"), each.column("end")),
            )
            self._add(ranges, {*each.filter(is_of).column("file").to_pylist()})
            ends, taken = _ends(pa.concat_tables([ranges.select(["origin", "to"]), _as_tops(ends)])), 0
        left = found.join(ends, "origin", join_type="left outer")
        is_left = pc.fill_null(pc.greater(left.column("to"), left.column("end")), fill_value=True)
        self._behind = sorted({*left.filter(is_left).column("file").to_pylist()})

    def _counted(self, logs: Logs, span: tuple[int, int], pieces: int) -> pa.Table:
        """Return how many records there are behind the last chapter, and of which numbers, by file, publisher and
        piece of the time `span`; later ones, and those without a number, are in no piece."""
        from_us, until_us = span
        messages = logs.messages_in([self._store.place / name for name in self._known.behind], with_file=True)
        each = messages.join(parts.sent(logs.spark.createDataFrame(self._ends)), "origin", "left")
        each = each.where(F.coalesce(F.col("number") > F.col("end"), F.lit(True)))
        is_old = (F.col("t_us") <= until_us) & F.col("number").isNotNull() & F.col("origin").isNotNull()
        piece = F.when(is_old, F.floor((F.col("t_us") - from_us) * pieces / (until_us - from_us + 1)))
        counted = each.groupBy("file", "origin", piece.alias("piece"))
        sums = F.min("number").alias("from"), F.max("number").alias("to"), F.count("*").alias("records")
        return counted.agg(*sums).toArrow()


def _quiet(tallies: pa.Table) -> tuple[int, int] | None:
    """Return the time from the first record until QUIET_US before the newest of the router that is furthest behind."""
    known = tallies.filter(pc.is_valid(tallies.column("router")))
    newest = known.group_by("router").aggregate([("last_us", "max")]).column("last_us_max").drop_null()
    if not len(newest):
        return None
    until_us = max(min(newest.to_pylist()), max(newest.to_pylist()) - HELD_US) - QUIET_US
    from_us = pc.min(known.column("first_us")).as_py()
    return (from_us, until_us) if from_us <= until_us else None


def _next(found: pa.Table, ends: pa.Table) -> pa.Table:
    """Return, of each publisher, the numbers from the end of its last chapter to the highest that was found."""
    tops = found.group_by("origin").aggregate([("to", "max")])
    each = tops.join(ends, "origin", join_type="left outer")
    above = pc.fill_null(each.column("end"), _BEGINNING)
    ranges = pa.table([each.column("origin"), above, each.column("to_max")], names=_RANGES.names[:3])
    return ranges.filter(pc.greater(ranges.column("to"), ranges.column("above")))


def _ends(ranges: pa.Table) -> pa.Table:
    """Return the end of the last chapter of each publisher."""
    return ranges.group_by("origin").aggregate([("to", "max")]).rename_columns(["origin", "end"])


def _as_tops(ends: pa.Table) -> pa.Table:
    return ends.rename_columns(["origin", "to"])
