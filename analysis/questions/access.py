"""What access rules decided, from the audit logs of routers: who came in, what was refused, which rules were in force.

Law: counts are those of the lines that routers wrote; lines that they only counted are told apart (`unwritten`). Times
are by the clock of the router, but for `in_force`, which compares routers. A table lists its ROWS_MAX most frequent
groups; `lines` counts all lines.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from tamis.analysis.questions.clocks import RouterClock
from tamis.analysis.spark.parts import ordered, table_of

ROWS_MAX: Final = 100_000
"""Groups that a table lists, and reloads that are compared: the newest."""
SECOND_US: Final = 1_000_000
_LOADED: Final = "rules"
_PORT: Final = r":[0-9]+$"
IN_FORCE: Final = pa.schema(
    [
        *(("from_us", pa.int64()), ("to_us", pa.int64()), ("is_same", pa.bool_()), ("routers", pa.int64())),
        *(("digests", pa.list_(pa.string())), ("last", pa.list_(pa.string()))),
    ]
)
RULES: Final = pa.schema(
    [
        *(("digest", pa.string()), ("mode", pa.string()), ("routers", pa.list_(pa.string())), ("loads", pa.int64())),
        *(("first_us", pa.int64()), ("last_us", pa.int64())),
    ]
)


class RulesSpan(NamedTuple):
    """A time in which all routers that had loaded rules had the same ones, or not."""

    from_us: int
    to_us: int | None
    """None at the end of the logs."""
    is_same: bool
    routers: int
    digests: list[str]
    last: list[str]
    """The routers that came last to the rules of the end of the span; of one that goes on, those that have others."""


def sums(lines: DataFrame, since_us: int | None) -> dict[str, DataFrame]:
    """Return what Spark sums up. `since_us` leaves out earlier lines, but for those about rules in force."""
    every = lines.withColumn("at_us", F.round(F.col("at") * SECOND_US).cast("long"))
    asked = every if since_us is None else every.where(F.col("at_us") >= since_us)
    requests = asked.where(F.col("kind").isin("refused", "allowed")).withColumn("outcome", _outcome())
    refused = requests.where(F.col("outcome") != "allowed")
    failed = asked.where(F.col("kind") == "not admitted")
    address = F.regexp_replace("peer", _PORT, "").alias("address")
    names = F.countDistinct("name").alias("names")
    unwritten = asked.where(F.col("kind").isin("suppressed", "dropped"))
    loaded = every.where((F.col("kind") == _LOADED) & F.col("digest").isNotNull()).select(
        "router", "at_us", "n", "digest", "mode"
    )
    return {
        "lines": asked.groupBy("router", "kind").agg(F.count("*").alias("lines"), *_span()),
        "unwritten": unwritten.groupBy("router", F.col("of").alias("kind")).agg(F.sum("lines").alias("lines")),
        "admitted": _counted(
            asked.where(F.col("kind") == "admitted"), ["principal", "roles", "method"], "admissions", names
        ),
        "not_admitted": _counted(failed, [address, "why", "method"], "attempts", names),
        "requests": _counted(requests, ["principal", "verb", "role", "about", "outcome"], "requests"),
        "constraints": _counted(
            refused,
            ["verb", "role", "constraint", "outcome"],
            "requests",
            F.countDistinct("principal").alias("principals"),
        ),
        "loaded": loaded.orderBy(F.desc("at_us"), "router", "n").limit(ROWS_MAX),
    }


def _outcome() -> Column:
    """Return what became of a request: `observed` was refused by rules that only observe, and served."""
    is_enforced = F.coalesce("enforced", F.lit(True))
    return F.when(F.col("kind") == "allowed", "allowed").when(is_enforced, "refused").otherwise("observed")


def _span() -> tuple[Column, Column]:
    return F.min("at_us").alias("first_us"), F.max("at_us").alias("last_us")


def _counted(lines: DataFrame, by: list[Any], count: str, *more: Column) -> DataFrame:
    """Return the most frequent groups of lines."""
    found = lines.groupBy(*by).agg(F.count("*").alias(count), *more, *_span())
    return found.orderBy(F.desc(count), *(name for name in found.columns if name != count)).limit(ROWS_MAX)


def tables(found: Mapping[str, pa.Table], logs: pa.Table, clocks: Mapping[str, RouterClock]) -> dict[str, pa.Table]:
    """Return the tables of the answer, made of the sums and of what was found about each log."""
    listed = {"admitted": "admissions", "not_admitted": "attempts", "requests": "requests", "constraints": "requests"}
    loads = _on_one_clock(found["loaded"].to_pylist(), clocks)
    return {
        **{name: ordered(found[name], f"-{count}", *_others(found[name], count)) for name, count in listed.items()},
        "rules": table_of(_rules(loads), RULES),
        "in_force": table_of(in_force(loads), IN_FORCE),
        "lines": ordered(found["lines"], "router", "kind"),
        "unwritten": ordered(found["unwritten"], "router", "kind"),
        "logs": logs,
    }


def _others(rows: pa.Table, count: str) -> list[str]:
    return [name for name in rows.column_names if name not in (count, "roles")]


def _on_one_clock(loads: list[dict[str, Any]], clocks: Mapping[str, RouterClock]) -> list[dict[str, Any]]:
    """Return the loads in the order of the common clock, where the clock of their router is known."""
    for row in loads:
        row["at_us"] += clocks[row["router"]].offset_us if row["router"] in clocks else 0
    return sorted(loads, key=lambda row: (row["at_us"], row["router"], row["n"]))


def _rules(loads: list[dict[str, Any]]) -> Iterator[tuple[object, ...]]:
    """Yield a row for each digest and mode, in the order in which they first came into force."""
    found: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for row in loads:
        found[row["digest"], row["mode"]].append(row)
    for (digest, mode), mine in found.items():
        routers = sorted({row["router"] for row in mine})
        yield digest, mode, routers, len(mine), mine[0]["at_us"], mine[-1]["at_us"]


def in_force(loads: list[dict[str, Any]]) -> list[RulesSpan]:
    """Return the spans of time in which all routers had the same rules, and those in which they had not. A router has
    the rules that it loaded last, from its first load on. `loads` are in order of time."""
    now: dict[str, str] = {}
    found: list[RulesSpan] = []
    for place, row in enumerate(loads):
        now[row["router"]] = row["digest"]
        if place + 1 < len(loads) and loads[place + 1]["at_us"] == row["at_us"]:
            continue
        digests = sorted(set(now.values()))
        is_same = len(digests) == 1
        behind = sorted(router for router, digest in now.items() if digest != row["digest"])
        before = found[-1] if found else None
        if before is not None and before.is_same == is_same and (not is_same or before.digests == digests):
            every = sorted({*before.digests, *digests})
            found[-1] = before._replace(routers=len(now), digests=every, last=behind)
            continue
        if before is not None:
            last = before.last if before.is_same else [row["router"]]
            found[-1] = before._replace(to_us=row["at_us"], last=last)
        found.append(RulesSpan(row["at_us"], None, is_same, len(now), digests, behind))
    return found
