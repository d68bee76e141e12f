"""The faults of the logs themselves: invalid lines, missing records, lives without an end.

Law: nothing is guessed. A gap in the numbers of a router's records is a hole in time, from the record before it to the
one after; a truncated line makes a hole without end, at the router and in the life that it still names. Anything in a
hole, or after the last record of a life, cannot be judged by the other questions. Counts of lines tell whether anything
is missing; only then are lines read again, by Spark.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import Any, Final, NamedTuple

import pyarrow as pa
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from tamis.analysis.records.lines import CORRUPT
from tamis.analysis.spark import parts
from tamis.protocol.records import VERSION

BEGINNING_US = -(1 << 62)
END_US = 1 << 62
_NAMED = r'"t_us": ?(\d+), ?"router": ?"([^"]+)", ?"epoch": ?(\d+),'


class RecordedLife(NamedTuple):
    """A life of a router: its first and last record, what it stated about itself at its start, how it ended."""

    router: str
    epoch: int
    first_us: int
    last_us: int
    records: int
    sampling: str | None
    engine: str | None
    strategy: str | None
    broadcast: str | None
    version: str | None
    end: str


PROGRAM: Final = ("sampling", "engine", "strategy", "broadcast", "version")
LIVES: Final = pa.schema(
    [
        *(("router", pa.string()), *((name, pa.int64()) for name in ("epoch", "first_us", "last_us", "records"))),
        *((name, pa.string()) for name in (*PROGRAM, "end")),
    ]
)


class RecordHole(NamedTuple):
    """Missing records, by the router's clock. `records` is null where a router has not counted them."""

    router: str
    epoch: int
    family: str
    from_us: int
    to_us: int
    records: int | None


HOLES: Final = pa.schema(
    [
        *(("router", pa.string()), ("epoch", pa.int64()), ("family", pa.string())),
        *((name, pa.int64()) for name in ("from_us", "to_us", "records")),
    ]
)
LINES: Final = pa.schema(
    [
        *(("family", pa.string()), ("lines", pa.int64()), ("broken", pa.int64()), ("newer", pa.int64())),
        ("versions", pa.list_(pa.int64())),
    ]
)
CHANGES: Final = pa.schema(
    [
        *(("at_us", pa.int64()), ("router", pa.string()), ("what", pa.string())),
        *(("neighbour", pa.string()), ("reason", pa.string())),
    ]
)


def lines(tallies: pa.Table) -> pa.Table:
    """Return a row for each family: lines, broken lines (half-written, or no records), lines of a newer version."""
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in tallies.to_pylist():
        found[row["family"]].append(row)
    rows = []
    for family, mine in found.items():
        versions = {row["v"] for row in mine} - {None}
        newer = sum(row["lines"] for row in mine if row["v"] is not None and row["v"] > VERSION)
        totals = (sum(row[name] for row in mine) for name in ("lines", "broken"))
        rows.append((family, *totals, newer if versions else None, sorted(versions)))
    return parts.table_of(rows, LINES)


def lives(tallies: pa.Table, life: pa.Table) -> list[RecordedLife]:
    """Return each life of a router."""
    said: dict[tuple[str, int], list[dict[str, Any]]] = defaultdict(list)
    for row in life.sort_by([("n", "ascending")]).to_pylist():
        said[row["router"], row["epoch"]].append(row)
    spans: dict[tuple[str, int], list[dict[str, Any]]] = defaultdict(list)
    for row in tallies.to_pylist():
        if row["router"] is not None:
            spans[row["router"], row["epoch"]].append(row)
    starts: dict[str, list[int]] = defaultdict(list)
    found = []
    for (router, epoch), mine in spans.items():
        first_us = min((row["first_us"] for row in mine if row["first_us"] is not None), default=0)
        last_us = max((row["last_us"] for row in mine if row["last_us"] is not None), default=0)
        starts[router].append(first_us)
        records = sum(row["lines"] for row in mine)
        sampling, engine, strategy, broadcast, version = (
            _first(row[name] for row in said[router, epoch]) for name in PROGRAM
        )
        end = "stopped" if any(row["what"] == "stopped" for row in said[router, epoch]) else ""
        program = sampling, engine, strategy, broadcast, version
        found.append(RecordedLife(router, epoch, first_us, last_us, records, *program, end))
    last = {router: max(each) for router, each in starts.items()}
    broken, still = "broke off", "open: still running, or not restarted"
    ends = (life.end or (broken if life.first_us < last[life.router] else still) for life in found)
    closed = (life._replace(end=end) for life, end in zip(found, ends, strict=True))
    return sorted(closed, key=lambda life: (life.first_us, life.router))


def _first(values: Iterator[Any]) -> Any:  # noqa: ANN401 - whatever a router stated
    return next((value for value in values if value is not None), None)


def holes(
    tallies: pa.Table,
    lines_of: Callable[[str], DataFrame],
    lost: pa.Table,
    settle_us: int,
) -> list[RecordHole]:
    """Return the missing records. `lines_of` a family are only read if the tallies show that something is missing."""
    found = [
        RecordHole(row["router"], row["epoch"], row["family"], row["t_us"] - settle_us, row["t_us"], row["count"])
        for row in lost.to_pylist()
    ]
    uneven, families = _uneven(tallies), sorted(set(tallies.column("family").to_pylist()))
    columns = ("router", "epoch", "n", "t_us", CORRUPT)
    sought = []
    if uneven or any(tallies.column("broken").to_pylist()):
        lines_here = [lines_of(family).select(*columns, F.lit(family).alias("family")) for family in families]
        every = reduce(DataFrame.unionByName, lines_here)
        sought = [_broken_off(every)]
        if uneven:
            sought.append(_gaps(every, uneven))
    rows = parts.collected({str(place): each for place, each in enumerate(sought)})
    found += (RecordHole(*row.values()) for each in rows.values() for row in each.to_pylist())
    return sorted(found, key=lambda hole: (hole.router, hole.epoch or 0, hole.from_us))


def _gaps(lines_of: DataFrame, uneven: Sequence[tuple[str, int, str]]) -> DataFrame:
    numbered = lines_of.where(F.col(CORRUPT).isNull() & F.col("n").isNotNull() & F.col("router").isNotNull())
    life = F.concat_ws("/", "family", F.col("epoch").cast("string"), "router")
    numbered = numbered.where(life.isin([f"{family}/{epoch}/{router}" for router, epoch, family in uneven]))
    order = Window.partitionBy("router", "epoch", "family").orderBy("n")
    return (
        numbered.withColumn("before", F.lag("n").over(order))
        .withColumn("from_us", F.coalesce(F.lag("t_us").over(order), F.lit(BEGINNING_US)))
        .withColumn("records", F.col("n") - F.coalesce("before", F.lit(-1)) - 1)
        .where(F.col("records") > 0)
        .select("router", "epoch", "family", "from_us", F.col("t_us").alias("to_us"), "records")
    )


def _uneven(tallies: pa.Table) -> list[tuple[str, int, str]]:
    """Return the lives whose numbers are not simply 0, 1, 2 and so on: only these have to be sorted."""
    counted: dict[tuple[str, int, str], tuple[int, int, int]] = {}
    for row in tallies.to_pylist():
        if row["router"] is not None and row["numbered"] > 0:
            place = row["router"], row["epoch"], row["family"]
            count, last, total = counted.get(place, (0, 0, 0))
            counted[place] = count + row["numbered"], max(last, row["n_max"]), total + row["n_sum"]
    return [place for place, (count, last, total) in counted.items() if count != last + 1 or total * 2 != count * last]


def _broken_off(lines_of: DataFrame) -> DataFrame:
    broken = lines_of.where(F.col(CORRUPT).rlike(_NAMED))
    at_us, router, epoch = (F.regexp_extract(CORRUPT, _NAMED, group) for group in (1, 2, 3))
    return broken.select(
        *(router.alias("router"), epoch.cast("long").alias("epoch"), "family"),
        *(at_us.cast("long").alias("from_us"), F.lit(END_US).alias("to_us"), F.lit(1).cast("long").alias("records")),
    )


def changes(link: Sequence[dict[str, Any]], life: Sequence[dict[str, Any]]) -> pa.Table:
    """Return a row for each link that came up or went down, as each of its ends wrote it, and for each router that
    started or stopped. Both are on one clock."""
    rows = [(row["at_us"], row["router"], f"link {row['what']}", row["neighbour"], row["reason"]) for row in link]
    rows += [(row["at_us"], row["router"], f"router {row['what']}", None, None) for row in life]
    return parts.ordered(parts.table_of(rows, CHANGES), "at_us", "router", "what", "neighbour")
