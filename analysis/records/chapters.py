"""Messages of a store, and positions of its durable subscriptions, that are summed up once: chapters.

Law: a chapter has, of each publisher, the messages from one number to another, and all records of these, in whichever
file they are. What it sums up to is made of these records alone and lies beside it. A record that comes later for
one of its messages has the whole chapter summed up again, so that no sum depends on the order in which files come. When
a chapter begins or ends is a question of cost only: it ends with the newest messages whose routers have all written
records QUIET_US later, and has CHAPTER_ROWS records, about. Messages behind the last chapter are summed with each run.
Positions of durable subscriptions are divided in the same way (`divided.py`), into chapters of their own.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import StructType

from tamis.analysis.records.by_message import CHAPTER, SPANS, RecordChoice
from tamis.analysis.records.divided import IDS, Divided, OfMessages
from tamis.analysis.records.increments import DIVIDED, Chapter, Division, RecordStore
from tamis.analysis.records.logs import Logs
from tamis.analysis.records.pieces import RecordPlaces
from tamis.analysis.records.rows import RecordRows
from tamis.analysis.spark import parts

Read = Callable[[str], pa.Table]
"""Return the sums or rows that are kept of a chapter by this name."""
Grounds = Callable[[Read], str]
"""Return what the rows of a chapter depend on beside records."""
CHAPTER_ROWS: Final = 100_000
"""Records of a chapter, about; fewer are summed with each run."""
QUIET_US: Final = 10_000_000
HELD_US: Final = 600_000_000
"""Time for which a router without new records holds up the end of a chapter."""
_PIECES: Final = 4
"""Moments in the time of a chapter at which it may end."""
_RANGES: Final = pa.schema([("origin", pa.string()), ("above", pa.int64()), ("to", pa.int64()), (CHAPTER, pa.int64())])
_BEGINNING: Final = -(1 << 63)


class WholeLogs:
    """All messages of logs, or all of what chapters divide, to be summed now."""

    def __init__(self, divided: Divided | None = None) -> None:
        self.divided: Divided = OfMessages() if divided is None else divided

    def unsummed(self, logs: Logs, _: Grounds) -> RecordPlaces:
        """Return where the records of the messages are that are to be summed now. Rows depend on `grounds` now."""
        return RecordPlaces(self.places(logs), RecordChoice(logs.since_us))

    def places(self, logs: Logs) -> list[Path]:
        """Return the files or folders with the messages to be summed now, after `unsummed`."""
        return [store / self.divided.folder for store in logs.stores]

    def labelled(self, _: Logs, rows: DataFrame, __: tuple[str, str]) -> DataFrame:
        """Return those of the `rows` in `places` that are of messages to be summed now, with CHAPTER. `ids`: the
        columns that name a message."""
        return rows.withColumn(CHAPTER, F.lit(None).cast("long"))

    def of_ids(self, logs: Logs, _: pa.Table) -> RecordPlaces:
        """Return where the records of messages with some ids are, and maybe others."""
        return self.unsummed(logs, lambda _: "")

    @property
    def is_first(self) -> bool:
        """Return whether all messages are summed now."""
        return True

    def before(self, spark: SparkSession, _: str, schema: pa.Schema) -> RecordRows:
        """Return all rows that `kept` yields."""
        return RecordRows(spark, schema.empty_table())

    def kept(self, _: str) -> Iterator[pa.Table]:
        """Yield the rows of this name of each chapter that is not summed now."""
        yield from ()

    def whole(self, _: str, found: pa.Table) -> pa.Table:
        """Return the sums of all messages. `found`: the sums called by this name of what was to be summed."""
        return found.drop_columns([CHAPTER])

    def rows(self, _: str, found: RecordRows) -> RecordRows:
        """Return the rows of all messages, of which there may be many. `found`: those of what was to be summed."""
        return _without_chapter(found)

    def note(self, name: str, make: Callable[[], RecordRows]) -> None:
        """Keep rows of what was to be summed, for a later run."""

    def keep(self, name: str, found: pa.Table) -> None:
        """Keep sums of what was to be summed, for a later run."""

    def commit(self, *others: tuple[WholeLogs, Grounds], grounds: Grounds) -> None:
        """Keep the sums and rows that are new, and what rows depend on; with those of `others`, all or none."""


class Chapters(WholeLogs):
    """The messages of a store, some of which were summed before. `job`: what sums depend on beside records; sums of
    another job are not used."""

    def __init__(self, store: RecordStore, job: str, divided: Divided | None = None) -> None:
        super().__init__(divided)
        known = store.manifest.divisions[self.divided.folder]
        if store.manifest.job != job:
            files = [store.files_in(name, self.divided.folder) for name in store.manifest.generations]
            known = replace(known, chapters=[], behind=[file for each in files for file in each], fresh=[])
        self._store, self._job, self._known, self._number = store, job, known, known.made
        self._done, self._due = known.chapters, list[tuple[Chapter, pa.Table]]()
        self._ends = _ends(_RANGES.empty_table())
        self._behind, self._sums = known.behind, dict[str, pa.Table]()
        self._made: dict[str, tuple[Path, StructType]] = {}
        self._has_rows = False

    def unsummed(self, logs: Logs, grounds: Grounds) -> RecordPlaces:
        self._see_what_is_due(grounds)
        self._begin(logs)
        spans = self._spans() if self._done or self._due else None
        return RecordPlaces(self.places(logs), RecordChoice(logs.since_us, spans))

    def places(self, _: Logs) -> list[Path]:
        of_due = {name for chapter, _ in self._due for name in chapter.files}
        return [self._store.place / name for name in sorted({*self._known.behind} | of_due)]

    def labelled(self, logs: Logs, rows: DataFrame, ids: tuple[str, str]) -> DataFrame:
        if not self._done and not self._due:
            return super().labelled(logs, rows, ids)
        origin, number = ids
        spans = logs.spark.createDataFrame(self._spans()).withColumnRenamed("origin", origin)
        each = rows.join(parts.sent(spans), origin, "left")
        mine = F.filter("spans", lambda span: (F.col(number) > span.above) & (F.col(number) <= span.to))
        labelled = each.withColumn(CHAPTER, F.try_element_at(mine, F.lit(1)).getField(CHAPTER))
        is_behind = F.coalesce(F.col(number) > F.col("end"), F.lit(True))
        return labelled.where(F.col(CHAPTER).isNotNull() | is_behind).drop("spans", "end")

    def of_ids(self, logs: Logs, ids: pa.Table) -> RecordPlaces:
        chapters = [*self._done, *(chapter for chapter, _ in self._due)]
        ranges = {chapter.number: self._read(chapter, "ranges") for chapter in self._done}
        ranges |= {chapter.number: rows for chapter, rows in self._due}
        numbers = _of(ids, pa.concat_tables([_RANGES.empty_table(), *ranges.values()]))
        files = {name for chapter in chapters if chapter.number in numbers for name in chapter.files}
        places = [self._store.place / name for name in sorted(files | {*self._known.behind, *self._behind})]
        return RecordPlaces(places, RecordChoice(logs.since_us))

    @property
    def is_first(self) -> bool:
        return not self._done

    def _see_what_is_due(self, grounds: Grounds) -> None:
        """Divide the chapters into those that are done, and those of which there are new records, or that have other
        grounds."""
        known = self._known
        ranges = {chapter.number: self._read(chapter, "ranges") for chapter in known.chapters}
        every = pa.concat_tables([_RANGES.empty_table(), *ranges.values()])
        self._ends = _ends(every)
        late: dict[int, set[str]] = {}
        for file in known.fresh if len(every) else ():
            for number in self._touched(file, every):
                late.setdefault(number, set()).add(file)
        for chapter in known.chapters:
            if chapter.number not in late and chapter.grounds not in ("", grounds(partial(self._read, chapter))):
                late[chapter.number] = set()
        self._done = [chapter for chapter in known.chapters if chapter.number not in late]
        for chapter in known.chapters:
            if chapter.number in late:
                self._add(ranges[chapter.number], {*chapter.files} | late[chapter.number])

    def kept(self, name: str) -> Iterator[pa.Table]:
        yield from (self._read(chapter, name) for chapter in self._done if chapter.grounds)

    def whole(self, name: str, found: pa.Table) -> pa.Table:
        self.keep(name, found)
        before = (self._read(chapter, name) for chapter in self._done)
        return pa.concat_tables([found.drop_columns([CHAPTER]), *before], promote_options="default")

    def before(self, spark: SparkSession, name: str, schema: pa.Schema) -> RecordRows:
        types = pa.schema([field for field in schema if field.name != CHAPTER])
        if parts.is_one(spark):
            kept = (rows.select(types.names).cast(types) for rows in self.kept(name))
            return RecordRows(spark, pa.concat_tables([types.empty_table(), *kept]))
        places = [self._place(chapter, name) for chapter in self._done if chapter.grounds]
        return RecordRows(spark, _frame(spark, places, from_arrow_schema(types)))

    def rows(self, name: str, found: RecordRows) -> RecordRows:
        self._has_rows, spark, mine = True, found.spark, _without_chapter(found)
        if isinstance(mine.source, pa.Table) and isinstance(found.source, pa.Table):
            self._sums[name] = found.source
            before = self.before(spark, name, mine.source.schema)
            return RecordRows(spark, pa.concat_tables([mine.source, before.source]))
        made = self._store.place / f"made-{self._store.manifest.runs:06}" / name
        self._made[name] = made, mine.frame.schema
        found.frame.write.mode("overwrite").partitionBy(CHAPTER).parquet(str(made))
        now = _frame(spark, [*made.glob(f"{CHAPTER}=*")], mine.frame.schema)
        return RecordRows(spark, now.unionByName(self.before(spark, name, to_arrow_schema(now.schema)).frame))

    def note(self, name: str, make: Callable[[], RecordRows]) -> None:
        self.rows(name, make())

    def keep(self, name: str, found: pa.Table) -> None:
        self._sums[name] = found

    def commit(self, *others: tuple[WholeLogs, Grounds], grounds: Grounds) -> None:
        divisions = {self.divided.folder: self._division(grounds)}
        for other, its_grounds in others:
            if isinstance(other, Chapters):
                divisions[other.divided.folder] = other._division(its_grounds)
        self._store.commit(replace(self._store.manifest, divisions=divisions, job=self._job))

    def _division(self, grounds: Grounds) -> Division:
        """Write the chapters that are new, and return all."""
        due = []
        for chapter, ranges in self._due:
            shutil.rmtree(self._store.place / chapter.folder, ignore_errors=True)
            self._write(chapter, "ranges", ranges)
            for name, rows in self._sums.items():
                mine = rows.filter(pc.equal(rows.column(CHAPTER), chapter.number))
                self._write(chapter, name, mine.drop_columns([CHAPTER]))
            for name, (made, schema) in self._made.items():
                mine_at = made / f"{CHAPTER}={chapter.number}"
                self._write(chapter, name, to_arrow_schema(schema).empty_table(), mine_at)
            found = grounds(partial(self._read, chapter)) if self._has_rows else ""
            due.append(chapter._replace(grounds=found))
        return Division([*self._done, *due], self._number, self._behind)

    def _place(self, chapter: Chapter, name: str) -> Path:
        """Return where something of a chapter is: a file, or a folder of files."""
        return self._store.place / chapter.folder / f"{name}.parquet"

    def _read(self, chapter: Chapter, name: str) -> pa.Table:
        return pq.read_table(self._place(chapter, name), partitioning=None)

    def _write(self, chapter: Chapter, name: str, rows: pa.Table, made: Path | None = None) -> None:
        """Let `rows`, or what is in the folder `made` if that is there, be of a chapter."""
        place = self._place(chapter, name)
        place.parent.mkdir(parents=True, exist_ok=True)
        if made is not None and made.exists():
            made.replace(place)
        else:
            pq.write_table(rows, place)

    def _add(self, ranges: pa.Table, files: set[str]) -> None:
        """Have these messages summed up as a chapter with a new number."""
        self._number += 1
        number = pa.array([self._number] * len(ranges), pa.int64())
        numbered = ranges.select(_RANGES.names[:3]).append_column(CHAPTER, number)
        self._due.append((Chapter(self._number, sorted(files), name=DIVIDED[self.divided.folder]), numbered))

    def _touched(self, file: str, ranges: pa.Table) -> set[int]:
        """Return the chapters that have messages with records in a file."""
        found: set[int] = set()
        for rows in self.divided.found(self._store.place / file):
            ids = rows.group_by(list(IDS)).aggregate([])
            early = ids.join(self._ends, "origin", join_type="inner")
            early = early.filter(pc.less_equal(early.column("number"), early.column("end"))).select(list(IDS))
            found |= _of(early, ranges)
        return found

    def _spans(self) -> pa.Table:
        """Return, of each publisher, the end of its last chapter before this run, and the spans of chapters to be
        summed."""
        rows: dict[str, dict[str, Any]] = {row["origin"]: row | {"spans": []} for row in self._ends.to_pylist()}
        for _, ranges in self._due:
            for row in ranges.to_pylist():
                mine = rows.setdefault(row["origin"], {"origin": row["origin"], "end": None, "spans": []})
                mine["spans"].append({name: row[name] for name in _RANGES.names[1:]})
        return pa.Table.from_pylist(list(rows.values()), SPANS)

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
        placed = self.divided.placed(logs, [self._store.place / name for name in self._known.behind])
        each = placed.join(parts.sent(logs.spark.createDataFrame(self._ends)), "origin", "left")
        each = each.where(F.coalesce(F.col("number") > F.col("end"), F.lit(True)))
        is_old = (F.col("t_us") <= until_us) & F.col("number").isNotNull() & F.col("origin").isNotNull()
        piece = F.when(is_old, F.floor((F.col("t_us") - from_us) * pieces / (until_us - from_us + 1)))
        counted = each.groupBy("file", "origin", piece.alias("piece"))
        sums = F.min("number").alias("from"), F.max("number").alias("to"), F.count("*").alias("records")
        return counted.agg(*sums).toArrow()


def _of(ids: pa.Table, ranges: pa.Table) -> set[int]:
    """Return the chapters with these `ranges` that have messages with some ids."""
    each = ids.join(ranges, "origin", join_type="inner")
    number = each.column("number")
    is_of = pc.and_(pc.greater(number, each.column("above")), pc.less_equal(number, each.column("to")))
    return {*each.filter(is_of).column(CHAPTER).to_pylist()}


def _without_chapter(found: RecordRows) -> RecordRows:
    source = found.source
    names = source.columns if isinstance(source, DataFrame) else source.schema.names
    return found.select(name for name in names if name != CHAPTER)


def _frame(spark: SparkSession, places: Sequence[Path], schema: StructType) -> DataFrame:
    """Return the rows of Parquet files and folders."""
    return spark.read.schema(schema).parquet(*map(str, places)) if places else spark.createDataFrame([], schema)


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
