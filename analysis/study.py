"""The tables of the logs that several questions use, computed once, when one of them is first read.

Law: nothing here answers a question; each table is made by the file of its subject.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from threading import RLock
from typing import Final, Generic, TypeVar

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from tamis.analysis.durable import audit, catalog, figures
from tamis.analysis.durable.catalog import DurableCatalog
from tamis.analysis.questions import clocks, delivery, health, latency, matches, subscriptions, unrest, ways
from tamis.analysis.questions.standing import ID
from tamis.analysis.records.logs import Logs
from tamis.analysis.records.parts import are_few, gathered

SETTLE_US: Final = 5_000_000
"""Time within which routers have exchanged a change and delivered the messages in flight."""
NOTICE_US: Final = 3_000_000
"""Time within which a router notices that a link is dead."""


_T = TypeVar("_T")


class once(Generic[_T]):  # noqa: N801 - it stands where `property` would
    """A property of Findings that the first reading thread computes, while other readers wait. Dependencies between
    properties run in one direction, so no two threads wait for each other."""

    def __init__(self, make: Callable[[Findings], _T]) -> None:
        self._make = make

    def __set_name__(self, owner: type[Findings], name: str) -> None:
        self._name = name

    def __get__(self, study: Findings, owner: type[Findings]) -> _T:
        with study.locks.setdefault(self._name, RLock()):
            if self._name not in study.__dict__:
                study.__dict__[self._name] = self._make(study)
        found: _T = study.__dict__[self._name]
        return found


class Findings:
    def __init__(self, spark: SparkSession, logs: Logs, settle_us: int = SETTLE_US, notice_us: int = NOTICE_US) -> None:
        self.spark = spark
        self.logs = logs
        self.settle_us = settle_us
        self.notice_us = notice_us
        self.locks: dict[str, RLock] = {}
        self._frames: list[DataFrame] = []

    def close(self) -> None:
        for frame in self._frames:
            frame.unpersist()

    def events(self, kind: str) -> DataFrame:
        """Return the events of one kind, on one clock."""
        return clocks.on_one_clock(self.logs.kind(kind), self.clocks)

    @once
    def lives(self) -> DataFrame:
        return self._persisted(health.lives(self.logs.tallies, self.logs.kind("life")))

    @once
    def holes(self) -> DataFrame:
        lost = self.logs.kind("lost")
        return self._persisted(health.holes(self.logs.tallies, self.logs.heads, lost, self.settle_us))

    @once
    def clocks(self) -> DataFrame:
        routers = [row.router for row in self.lives.select("router").distinct().collect()]
        return clocks.common(self.spark, self.logs.kind("clock"), routers)

    @once
    def messages(self) -> DataFrame:
        return clocks.on_one_clock(self.logs.messages, self.clocks)

    @once
    def hops(self) -> DataFrame:
        return self._persisted(latency.hops(self.messages))

    @once
    def forms(self) -> list[str]:
        return subscriptions.forms(self.logs.kind("subscription"), self.logs.kind("keep"))

    @once
    def filters(self) -> DataFrame:
        return subscriptions.numbered(self.spark, self.forms)

    @once
    def in_force(self) -> DataFrame:
        return self._persisted(subscriptions.in_force(self.logs.kind("subscription"), self.lives, self.filters))

    @once
    def published(self) -> DataFrame:
        satisfied = matches.with_filters(matches.published(self.messages), self.forms)
        return self._persisted(gathered(satisfied, *ID))

    @once
    def changes(self) -> DataFrame:
        return unrest.changes(self.events("link"), self.events("life"), self.events("topology"))

    @once
    def restless(self) -> DataFrame:
        return self._persisted(unrest.restless(self.changes, self.notice_us, self.settle_us))

    @once
    def restless_spans(self) -> DataFrame:
        return unrest.spans(self.restless)

    @once
    def unsteady(self) -> DataFrame:
        told = ways.Told(
            *(self.events("topology"), self.events("link"), self.events("life"), self.lives, self.holes, self.clocks)
        )
        sources = self.published.select("source").distinct()
        pairs = sources.crossJoin(self.in_force.select("router").distinct())
        return self._persisted(ways.unsteady(self.spark, told, pairs, self.notice_us, self.settle_us))

    @once
    def verdicts(self) -> DataFrame:
        evidence = delivery.DeliveryEvidence(
            *(self.published, self.messages, self.in_force, self.lives, self.holes, self.clocks),
            *(self.events("topology"), self.restless, self.unsteady, self.settle_us, self._persisted),
        )
        return self._persisted(delivery.judged(evidence))

    @once
    def durable_catalog(self) -> DurableCatalog:
        places = {form: place for place, form in enumerate(self.forms)}
        events = (row.asDict() for row in self.logs.kind("keep").collect())
        lives, holes = ([row.asDict() for row in rows.collect()] for rows in (self.lives, self.holes))
        made = catalog.made_of(events, lives, holes, places, self.settle_us)
        for row in audit.highest_given(self.logs.kind("kept")).collect():
            made.given_to[row.router, row.epoch, row.durable] = row.position
        return made

    @once
    def durable_names(self) -> DataFrame:
        return figures.names(self.spark, self.durable_catalog)

    @once
    def stored_messages(self) -> DataFrame:
        """The outcome of each position of each durable subscription."""
        return self._persisted(audit.verdicts(self.logs.kind("kept"), self.published, self.durable_catalog))

    @once
    def durable_faults(self) -> DataFrame:
        records, made = self.logs.kind("kept"), self.durable_catalog
        entered = self.logs.messages.where(F.col("attributes").isNotNull() & F.col("refused").isNull())
        entered = entered.groupBy(*ID, "router", "epoch").agg(F.min("t_us").alias("entered_us"))
        found = (
            audit.of_positions(self.stored_messages),
            audit.missing(self.spark, self.published, entered, self.stored_messages, made),
            audit.twice(self.stored_messages, records),
            audit.disorder(records, figures.in_order(self.spark, made)),
            audit.of_durables(self.spark, made, audit.losses(records)),
        )
        return self._persisted(reduce(DataFrame.unionByName, found))

    @once
    def bucket_us(self) -> int:
        """The length of a span that divides the logs into about a hundred, in whole seconds."""
        row = self.lives.agg((F.max("last_us") - F.min("first_us")).alias("length")).first()
        length = row.length if row and row.length else 0
        return max(1, length // 100_000_000) * 1_000_000

    def _persisted(self, frame: DataFrame) -> DataFrame:
        if are_few(self.logs.stored_bytes):
            return frame.localCheckpoint(eager=False)
        persisted = frame.persist(StorageLevel.MEMORY_AND_DISK)
        self._frames.append(persisted)
        return persisted
