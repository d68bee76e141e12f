"""The tables that several questions need of the logs, worked out once, when one of them is first read.

Law: nothing here answers anything; each table is made by the file that knows how.
"""

from __future__ import annotations

from functools import cached_property
from typing import Final

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from tamis.analysis import clocks, delivery, health, latency, matches, subscriptions, unrest, ways
from tamis.analysis.logs import Logs
from tamis.analysis.parts import are_few, gathered

SETTLE_US: Final = 5_000_000
"""Time within which routers have told each other of a change and delivered what was under way."""
NOTICE_US: Final = 3_000_000
"""Time within which a router notices that a link is dead."""


class Findings:
    def __init__(self, spark: SparkSession, logs: Logs, settle_us: int = SETTLE_US, notice_us: int = NOTICE_US) -> None:
        self.spark = spark
        self.logs = logs
        self.settle_us = settle_us
        self.notice_us = notice_us
        self._kept: list[DataFrame] = []

    def close(self) -> None:
        for frame in self._kept:
            frame.unpersist()

    def events(self, kind: str) -> DataFrame:
        """Return the events of one kind, on one clock."""
        return clocks.on_one_clock(self.logs.kind(kind), self.clocks)

    @cached_property
    def lives(self) -> DataFrame:
        return self._keep(health.lives(self.logs.message_heads, self.logs.events, self.logs.kind("life")))

    @cached_property
    def holes(self) -> DataFrame:
        lost = self.logs.kind("lost")
        return self._keep(health.holes(self.logs.message_heads, self.logs.events, lost, self.settle_us))

    @cached_property
    def clocks(self) -> DataFrame:
        routers = [row.router for row in self.lives.select("router").distinct().collect()]
        return clocks.common(self.spark, self.logs.kind("clock"), routers)

    @cached_property
    def messages(self) -> DataFrame:
        return clocks.on_one_clock(self.logs.messages, self.clocks)

    @cached_property
    def hops(self) -> DataFrame:
        return self._keep(latency.hops(self.messages))

    @cached_property
    def forms(self) -> list[str]:
        return subscriptions.forms(self.logs.kind("subscription"))

    @cached_property
    def filters(self) -> DataFrame:
        return subscriptions.numbered(self.spark, self.forms)

    @cached_property
    def in_force(self) -> DataFrame:
        return self._keep(subscriptions.in_force(self.logs.kind("subscription"), self.lives, self.filters))

    @cached_property
    def published(self) -> DataFrame:
        satisfied = matches.with_filters(matches.published(self.messages), self.forms)
        return self._keep(gathered(satisfied, *delivery.ID))

    @cached_property
    def changes(self) -> DataFrame:
        return unrest.changes(self.events("link"), self.events("life"), self.events("topology"))

    @cached_property
    def restless(self) -> DataFrame:
        return self._keep(unrest.restless(self.changes, self.notice_us, self.settle_us))

    @cached_property
    def restless_spans(self) -> DataFrame:
        return unrest.spans(self.restless)

    @cached_property
    def unsteady(self) -> DataFrame:
        told = ways.Told(
            *(self.events("topology"), self.events("link"), self.events("life"), self.lives, self.holes, self.clocks)
        )
        sources = self.published.select("source").distinct()
        pairs = sources.crossJoin(self.in_force.select("router").distinct())
        return self._keep(ways.unsteady(self.spark, told, pairs, self.notice_us, self.settle_us))

    @cached_property
    def verdicts(self) -> DataFrame:
        evidence = delivery.DeliveryEvidence(
            *(self.published, self.messages, self.in_force, self.lives, self.holes, self.clocks),
            *(self.events("topology"), self.restless, self.unsteady, self.settle_us),
        )
        return self._keep(delivery.judged(evidence))

    @cached_property
    def bucket_us(self) -> int:
        """The length of a span that divides the logs into some hundred, in whole seconds."""
        row = self.lives.agg((F.max("last_us") - F.min("first_us")).alias("length")).first()
        length = row.length if row and row.length else 0
        return max(1, length // 100_000_000) * 1_000_000

    def _keep(self, frame: DataFrame) -> DataFrame:
        if are_few(self.logs.kept_bytes):
            return frame.localCheckpoint(eager=False)
        kept = frame.persist(StorageLevel.MEMORY_AND_DISK)
        self._kept.append(kept)
        return kept
