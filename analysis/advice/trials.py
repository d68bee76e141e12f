"""Trials of the engines on the work of one router: its recorded messages against the filters that were in force, timed
here.

Law: these are measurements, which vary from run to run; the other parts of the advice are functions of their tables.
Engines take turns in short passes, and of each message the fastest match counts, so other work of the machine favours
none; then, as in the records, the slowest hundredth is left out. Only ratios are used: the routers' machine may be
another one.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import DoubleType, LongType, StringType, StructField, StructType

from tamis.analysis.advice.evidence import SLOWEST
from tamis.analysis.advice.wording import Contender
from tamis.analysis.questions.programs import index_part
from tamis.native import ENGINES, Batch, InterfaceKind, Mode, Table, engines_with
from tamis.protocol.json_form import decode_filter, decode_message
from tamis.protocol.wire.attributes import encode_attributes
from tamis.protocol.wire.packed_filters import encode_filter

ROUTERS_MAX: Final = 3
"""The most routers that are tried: those with the longest matching in total, since each takes seconds here."""
MESSAGES_MAX: Final = 5_000
"""The most messages of each router, chosen evenly, as far as a pass has time for them."""
PASS_NS_MAX: Final = 20_000_000
"""The length of a pass. It is short because a machine is slow for seconds at a time, and each engine should run in slow
and in fast periods."""
PASSES: Final = 12
FEW_FILTERS: Final = 32
"""The number of filters up to which the switch tests one after another, by a plan (native/switch/few.h), instead of
using an engine."""
ROUNDS: Final = (0, 1, 3, 10, 30, 70)
"""Rounds of `sff` to try. Paper 004 uses 10, and saw no gain past 50 to 70."""

SCHEMA: Final = StructType(
    [
        StructField("router", StringType()),
        StructField("engine", StringType()),
        StructField("rounds", LongType()),
        StructField("filters", LongType()),
        StructField("remote_filters", LongType()),
        StructField("messages", LongType()),
        StructField("match_ns", DoubleType()),
    ]
)


@dataclass(frozen=True, slots=True)
class Load:
    """The input of a router: filters by connection, filters by the router that states them, messages."""

    local: Sequence[tuple[int, str]]
    remote: Sequence[tuple[str, str]]
    messages: Sequence[str]


def contenders(present: Iterable[Contender]) -> list[Contender]:
    """Return every engine that routers run; one with rounds also with the numbers of rounds in ROUNDS, and with those
    in the file."""
    known = [Contender(name) for name, engine in ENGINES.items() if "rounds" not in engine.options]
    several = [Contender(name, rounds) for name in engines_with("rounds") for rounds in ROUNDS]
    named = [each for each in present if each.engine in ENGINES]
    return list(dict.fromkeys([*known, *several, *named]))


# --- input ------------------------------------------------------------------------------------------------------------


def busiest(match_times: DataFrame) -> DataFrame:
    return match_times.orderBy(F.desc(F.col("messages") * F.col("match_ns")), "router").limit(ROUTERS_MAX)


def seen(messages: DataFrame, published: DataFrame, routers: DataFrame) -> DataFrame:
    """Return rows (router, attributes): some of the messages that each of these routers matched."""
    looked = messages.where(F.col("match_ns").isNotNull() & F.col("refused").isNull())
    looked = looked.join(F.broadcast(routers.select("router")), "router").select("router", "origin", "number")
    some = F.row_number().over(Window.partitionBy("router").orderBy(F.xxhash64("origin", "number")))
    said = published.where(F.col("filters").isNotNull()).select("origin", "number", "attributes")
    chosen = looked.join(said, ["origin", "number"]).withColumn("place", some).where(F.col("place") <= MESSAGES_MAX)
    return chosen.select("router", "attributes")


def held(in_force: DataFrame, filters: DataFrame, routers: DataFrame) -> DataFrame:
    """Return rows (at, router, connection, form): the filters in force anywhere when router `at` had seen half of its
    messages."""
    moments = F.broadcast(routers.select(F.col("router").alias("at"), "at_us"))
    then = in_force.join(moments, F.col("at_us").between(F.col("since_us"), F.col("until_us")))
    return then.join(F.broadcast(filters), "filter").select("at", "router", "connection", "form").distinct()


def loads(seen: DataFrame, held: DataFrame) -> dict[str, Load]:
    """Return the load of each router as lists, since it is timed in this process."""
    messages: dict[str, list[str]] = {}
    for row in seen.collect():
        messages.setdefault(row.router, []).append(row.attributes)
    local: dict[str, set[tuple[int, str]]] = {router: set() for router in messages}
    remote: dict[str, set[tuple[str, str]]] = {router: set() for router in messages}
    for row in held.collect():
        if row.at == row.router and row.at in messages:
            local[row.at].add((row.connection, row.form))
        elif row.at in messages:
            remote[row.at].add((row.router, row.form))
    return {router: Load(sorted(local[router]), sorted(remote[router]), messages[router]) for router in messages}


# --- timing -----------------------------------------------------------------------------------------------------------


def tried(spark: SparkSession, each: dict[str, Load], engines: Sequence[Contender]) -> DataFrame:
    """Return a row for each router and contender; one row without engine and time for a router with too few filters for
    an engine."""
    rows: list[tuple[object, ...]] = []
    for router, load in each.items():
        sizes = (len(load.local), len(load.remote), len(load.messages))
        timed = [(router, *contender, *sizes, ns) for contender, ns in _timed(load, engines)]
        rows += timed or [(router, None, None, *sizes, None)]
    return spark.createDataFrame(rows, SCHEMA)


def _timed(load: Load, engines: Sequence[Contender]) -> Iterator[tuple[Contender, float]]:
    """Yield each contender with the nanoseconds of a match in both tables: that of the router's clients, where every
    filter counts, and that of other routers, where one filter of each does."""
    tables = [(rows, mode) for rows, mode in ((load.local, Mode.ALL), (load.remote, Mode.INTERFACES))]
    asked = [(_packed(rows), mode) for rows, mode in tables if len(rows) > FEW_FILTERS]
    messages = [encode_attributes(decode_message(text)) for text in load.messages]
    if not asked or not messages:
        return
    built = {contender: [(_built(contender, *rows, mode), mode) for rows, mode in asked] for contender in engines}
    some = {contender: _affordable(built[contender], messages) for contender in engines}
    least = {contender: _passed(built[contender], some[contender]) for contender in engines}
    for _ in range(PASSES - 1):
        for contender, before in least.items():
            np.minimum(before, _passed(built[contender], some[contender]), out=before)
    for table, _ in (pair for pairs in built.values() for pair in pairs):
        table.close()
    for contender, ns in least.items():
        yield contender, float(np.sort(ns)[: max(1, round(len(ns) * (1 - SLOWEST)))].mean())


def _packed(rows: Sequence[tuple[int, str]] | Sequence[tuple[str, str]]) -> tuple[Batch, array[int]]:
    """Return the filters packed, and their interfaces numbered from 0."""
    numbers = {owner: number for number, owner in enumerate(dict.fromkeys(owner for owner, _ in rows))}
    filters = Batch.of(encode_filter(decode_filter(index_part(form))) for _, form in rows)
    return filters, array("I", (numbers[owner] for owner, _ in rows))


def _built(contender: Contender, filters: Batch, interfaces: array[int], mode: Mode) -> Table:
    table = Table(contender.engine, options={} if contender.rounds is None else {"rounds": contender.rounds})
    kind = InterfaceKind.CLIENT if mode is Mode.ALL else InterfaceKind.LINK
    for interface in range(max(interfaces) + 1):
        table.set_interface(interface, kind)
    table.add_many(filters, interfaces)
    return table


def _affordable(tables: Sequence[tuple[Table, Mode]], messages: list[bytes]) -> Batch:
    """Return as many messages as a pass has time for, by the time of the first hundredth. They are unordered, so the
    fewer messages of a slow engine resemble those of a fast one."""
    first = Batch.of(messages[: max(1, len(messages) // 100)])
    ns = sum(table.measure(first, mode=mode).total_ns for table, mode in tables) / len(first)
    return Batch.of(messages[: max(1, int(PASS_NS_MAX / max(ns, 1.0)))])


def _passed(tables: Sequence[tuple[Table, Mode]], messages: Batch) -> NDArray[np.int64]:
    """Return the nanoseconds that each message took."""
    spent = np.zeros(len(messages), np.int64)
    for table, mode in tables:
        spent += np.asarray(table.measure(messages, mode=mode).nanoseconds, np.int64)
    return spent
