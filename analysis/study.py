"""What several questions use, computed once, when one of them first reads it: the network, from its events, in this
process; its messages, by tasks of Spark where they are many.

Law: nothing here answers a question; each table is made by the file of its subject.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Sequence
from functools import reduce
from pathlib import Path
from threading import RLock
from typing import Any, Final, Generic, TypeVar
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from tamis.analysis.durable import audit, catalog, custody, figures
from tamis.analysis.durable.catalog import DurableCatalog
from tamis.analysis.durable.grounds import DurableGrounds
from tamis.analysis.questions import (
    clocks,
    content,
    delivery,
    grounds,
    health,
    latency,
    matches,
    subscriptions,
    traffic,
    unrest,
    ways,
)
from tamis.analysis.questions.clocks import RouterClock
from tamis.analysis.questions.demand import Demand
from tamis.analysis.questions.grounds import Grounds
from tamis.analysis.questions.health import RecordedLife, RecordHole
from tamis.analysis.questions.matches import ID
from tamis.analysis.questions.meaning import ParsedFilters
from tamis.analysis.questions.standing import RecordedNetwork
from tamis.analysis.questions.unrest import NetworkChange, UnrestSpan
from tamis.analysis.questions.ways import Told, Unsteady
from tamis.analysis.records import audit_logs, pieces
from tamis.analysis.records.audit_logs import AuditLogs
from tamis.analysis.records.by_message import CHAPTER
from tamis.analysis.records.chapters import Read, WholeLogs
from tamis.analysis.records.divided import OfMessages, OfPositions
from tamis.analysis.records.increments import STORED
from tamis.analysis.records.logs import HELD, Logs
from tamis.analysis.records.pieces import RecordPlaces
from tamis.analysis.records.rows import Filing, Grouping, Pieces, RecordRows, SummedPart, persisted
from tamis.analysis.spark import parts
from tamis.analysis.spark.cluster import is_elsewhere

SETTLE_US: Final = 5_000_000
"""Time within which routers have exchanged a change and delivered the messages in flight."""
NOTICE_US: Final = 3_000_000
"""Time within which a router notices that a link is dead."""
SUMS_OF_RECORDS: Final = {
    "by_source": SummedPart(traffic.by_source, None, traffic.SOURCES),
    "times": SummedPart(latency.times, None, latency.TIMES),
    "matched": SummedPart(latency.matched, None, latency.MATCHED),
    "in_vain": SummedPart(delivery.in_vain, None, delivery.CROSSED),
}
MESSAGES: Final = "messages"
TIMES: Final = "grounds/times"
"""What is kept of a chapter: `grounds.TIMES`."""
OF_MESSAGES: Final = "durable/messages"
"""What is kept of a chapter: `audit.OF_MESSAGES`."""
POSITIONS: Final = "durable/positions"
"""What is kept of a chapter of positions: `audit.JUDGED`."""


_T = TypeVar("_T")


class once(Generic[_T]):  # noqa: N801 - it stands where `property` would
    """A property of Findings that the first reading thread computes, while other readers wait, unless it was set
    before. Dependencies between properties run in one direction, so no two threads wait for each other."""

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

    def __set__(self, study: Findings, found: _T) -> None:
        study.__dict__[self._name] = found


class Findings:
    def __init__(
        self,
        spark: SparkSession,
        logs: Logs,
        settle_us: int = SETTLE_US,
        notice_us: int = NOTICE_US,
        summing: WholeLogs | None = None,
        audits: Sequence[Path] = (),
        storing: WholeLogs | None = None,
    ) -> None:
        self.spark = spark
        self.logs = logs
        self.summing = summing or WholeLogs()
        self.storing = storing or WholeLogs(OfPositions())
        """The positions of durable subscriptions."""
        self.is_storing_asked = False
        """Whether chapters of messages keep OF_MESSAGES."""
        self.are_messages_asked = True
        """Whether a question needs messages with all their records."""
        self.settle_us = settle_us
        self.notice_us = notice_us
        self.locks: dict[str, RLock] = {}
        self._frames: list[DataFrame] = []
        self.audits = audits
        self._folders: list[Path] = []
        self.filing = Filing(self.persisted, self._scratch)

    def close(self) -> None:
        for folder in self._folders:
            shutil.rmtree(folder, ignore_errors=True)
        for frame in self._frames:
            frame.unpersist()

    # ---- the network, from events, in this process ----

    @once
    def tallies(self) -> pa.Table:
        return self.logs.tallies()

    @once
    def lives(self) -> list[RecordedLife]:
        return health.lives(self.tallies, self.logs.here("life"))

    @once
    def holes(self) -> list[RecordHole]:
        return health.holes(self.tallies, self.logs.lines, self.logs.here("lost"), self.settle_us)

    @once
    def clocks(self) -> dict[str, RouterClock]:
        found = clocks.common(self.logs.here("clock"), {life.router for life in self.lives})
        return {clock.router: clock for clock in found}

    def events(self, kind: str) -> list[dict[str, Any]]:
        """Return the events of one kind, on one clock."""
        return clocks.moved(self.logs.here(kind), self.clocks)

    @once
    def topology(self) -> list[dict[str, Any]]:
        return self.events("topology")

    @once
    def changes(self) -> list[NetworkChange]:
        return unrest.changes(self.events("link"), self.events("life"), self.topology)

    @once
    def restless(self) -> list[UnrestSpan]:
        return unrest.spans(self.changes, self.notice_us, self.settle_us)

    @once
    def subscriptions(self) -> pa.Table:
        return self.logs.here("subscription")

    @once
    def forms(self) -> list[str]:
        return subscriptions.forms(self.subscriptions, self.logs.here("keep"))

    @once
    def in_force(self) -> pa.Table:
        return subscriptions.in_force(self.subscriptions, self.lives, self.forms)

    @once
    def unsteady(self) -> Unsteady:
        known = self._unsteady_before
        sources = {*self.sources.column("source").to_pylist(), *self._sources_before()}
        kept = {(source, home): spans for (source, home), spans in known.items() if source in sources}
        return kept | self._unsteady(sources - {source for source, _ in kept})

    @once
    def _unsteady_before(self) -> Unsteady:
        """The ways from where messages entered that were judged before."""
        return self._unsteady(self._sources_before())

    def _sources_before(self) -> set[str]:
        each = map(grounds.sources, self.summing.kept(TIMES))
        return {source for sources in each for source in sources}

    def _unsteady(self, sources: Collection[str]) -> Unsteady:
        homes = self.in_force.column("router").unique().to_pylist()
        told = Told(self.topology, self.changes, self.lives, self.holes, self.clocks)
        pairs = [(source, router) for source in sources for router in homes]
        return ways.unsteady(told, pairs, self.notice_us, self.settle_us)

    @once
    def network(self) -> RecordedNetwork:
        return self._network(self.unsteady)

    def _network(self, unsteady: Unsteady) -> RecordedNetwork:
        told = self.lives, self.holes, self.topology, self.restless, unsteady
        return RecordedNetwork(self.clocks, *told, self.settle_us)

    @once
    def bucket_us(self) -> int:
        """The length of a span that divides the logs into about a hundred, in whole seconds."""
        length = max((life.last_us for life in self.lives), default=0) - min(
            (life.first_us for life in self.lives), default=0
        )
        return max(1, length // 100_000_000) * 1_000_000

    # ---- messages ----

    def on_one_clock(self, records: DataFrame) -> DataFrame:
        return clocks.on_one_clock(records, self.clocks)

    @once
    def records(self) -> RecordRows:
        """The records of the messages to be summed now, each with its chapter."""
        return self._records(
            self.summing.unsummed(self.logs, lambda read: self._grounds_of(self._grounds_before, read))
        )

    def _records(self, places: RecordPlaces) -> RecordRows:
        if self.logs.pieces:
            return pieces.in_pieces(self.spark, self.logs.pieces_at(), self.logs.pieces)
        return pieces.records(self.spark, places, self._scratch)

    @once
    def _of_records(self) -> dict[str, RecordRows]:
        """What is summed up of records, by name; with MESSAGES, if a task that reads a piece has to gather them."""
        each = dict(SUMS_OF_RECORDS)
        if self.are_messages_asked and isinstance(self.records.source, Pieces):
            each[MESSAGES] = self._messages
        return self.records.parted(each, self.filing)

    def _grounds_of(self, known: Grounds, read: Read) -> str:
        """Return what the rows of a chapter of messages depend on."""
        times = read(TIMES)
        found = known.digest(times)
        if self.is_storing_asked:
            found += self._durable_grounds.of_messages(grounds.by_life(times), read(OF_MESSAGES))
        return found

    @once
    def _grounds_before(self) -> Grounds:
        return Grounds.of(self._network(self._unsteady_before), self.in_force, self.forms)

    @once
    def _grounds(self) -> Grounds:
        return Grounds.of(self.network, self.in_force, self.forms)

    def commit(self) -> None:
        """Keep what was summed up."""
        positions = self.storing, self._grounds_of_positions
        self.summing.commit(positions, grounds=lambda read: self._grounds_of(self._grounds, read))

    def _gathered(self, records: RecordRows) -> RecordRows:
        return records.mapped(*self._messages, whole=True).kept(self.filing)

    @once
    def _matching(self) -> matches.MatchContext:
        return matches.MatchContext.of(self.clocks, self.forms)

    @once
    def _messages(self) -> SummedPart:
        return SummedPart(matches.gathered, self._matching, matches.MESSAGES)

    @once
    def gathered(self) -> RecordRows:
        """Each message that is not judged yet with all its records, with the columns of `matches.MESSAGES`."""
        found = self._of_records.get(MESSAGES)
        return self._gathered(self.records) if found is None else found

    @once
    def entered(self) -> RecordRows:
        """Those whose entry is recorded."""
        return self.gathered.present("source")

    def summed(self, name: str, grouping: Grouping) -> pa.Table | DataFrame:
        return self._of_records[name].summed(*grouping)

    @once
    def counted_times(self) -> DataFrame:
        return RecordRows(self.spark, self.summed("times", latency.TOOK)).frame

    @once
    def sources(self) -> pa.Table:
        """The routers at which messages entered, in column `source`."""
        return parts.collected({"sources": self.entered.distinct("source")})["sources"]

    @once
    def published(self) -> DataFrame:
        """All messages whose entry is recorded."""
        every = self.entered
        if not self.summing.is_first:
            every = self._gathered(self._records(WholeLogs().unsummed(self.logs, lambda _: ""))).present("source")
        return every.frame.select(*matches.PUBLISHED)

    @once
    def terms(self) -> delivery.Terms:
        demand = Demand.of(self.in_force, self.network, len(self.forms))
        return delivery.Terms(self.network, demand.held(self._scratch))

    def _scratch(self) -> Path:
        """Return a folder, not made yet, that all processes which compute see; it is removed at the end."""
        self._folders.append(self.logs.store / f"{HELD}{uuid4().hex}")
        return self._folders[-1]

    @once
    def verdicts(self) -> RecordRows:
        """Wrong deliveries, and counts of all."""
        judged = self.gathered.mapped(delivery.judged, self.terms, delivery.JUDGED)
        found = self._rows("delivery/verdicts", judged)
        return found.mapped(delivery.named, delivery.ClientNames.of(self.terms), delivery.NAMED).kept(self.filing)

    def _rows(self, name: str, found: RecordRows) -> RecordRows:
        """Return the rows of all messages; `found` are those of `gathered`."""
        _ = self._times
        return self.summing.rows(name, found)

    @once
    def _times(self) -> None:
        self.summing.note(TIMES, lambda: self.gathered.mapped(grounds.times, self._matching, grounds.TIMES))

    @once
    def _sums_of_contents(self) -> dict[str, RecordRows]:
        held = content.HeldFilters.of(content.on_one_clock(self.in_force, self.clocks))
        each = {
            "cells": SummedPart(content.cells, None, content.CELLS),
            "densities": SummedPart(content.counted, held, content.COUNTS),
            "hits": SummedPart(content.hits, None, content.HITS),
        }
        return self.entered.parted(each, self.filing)

    @once
    def cells(self) -> DataFrame:
        return self._rows("content/cells", self._sums_of_contents["cells"]).frame

    @once
    def densities(self) -> pa.Table | DataFrame:
        return self._rows("content/densities", self._sums_of_contents["densities"]).summed([], content.COUNTED)

    @once
    def new_hits(self) -> pa.Table | DataFrame:
        """How many of the messages to be summed now satisfy each filter, by chapter."""
        return self._sums_of_contents["hits"].summed(["filter", CHAPTER], ["matches"])

    def hits(self, found: pa.Table) -> pa.Table:
        """Return how many messages satisfy each form. `found`: the rows of `new_hits`. Messages of which this was
        counted before are matched with forms that are new since then."""
        self.summing.note("content/texts", lambda: self.entered.mapped(content.texts, None, content.TEXTS))
        mine = content.by_form(found, self.forms)
        before = list(self.summing.kept("content/hits"))
        self.summing.keep("content/hits", mine)
        new = content.new_forms(before, self.forms)
        if not new:
            return content.hits_of([mine, *before], self.forms)
        texts = self.summing.before(self.spark, "content/texts", content.TEXTS)
        late = texts.mapped(content.text_hits, ParsedFilters.of(new), content.HITS)
        of_new = content.by_form(late.totals(["filter", CHAPTER], ["matches"]), new)
        known = [content.hits_of([rows], {*self.forms} - {*new}) for rows in before]
        return content.hits_of([mine, of_new, *known], self.forms)

    # ---- access rules ----

    @once
    def audited(self) -> AuditLogs:
        return audit_logs.read(self.spark, self.audits, self._scratch())

    # ---- durable subscriptions ----

    @once
    def durable_catalog(self) -> DurableCatalog:
        places = {form: place for place, form in enumerate(self.forms)}
        lives, holes = ([row._asdict() for row in rows] for rows in (self.lives, self.holes))
        made = catalog.made_of(self.logs.here("keep").to_pylist(), lives, holes, places, self.settle_us)
        highest = self.logs.highest()
        given = highest.filter(pc.is_null(highest.column("lost"))).group_by(["router", "epoch", "durable"])
        for row in given.aggregate([("highest", "max")]).to_pylist():
            made.given_to[row["router"], row["epoch"], row["durable"]] = row["highest_max"]
        return made

    @once
    def _durable_grounds(self) -> DurableGrounds:
        return DurableGrounds(self.durable_catalog, self.forms)

    def _grounds_of_positions(self, read: Read) -> str:
        return self._durable_grounds.of_positions(read(POSITIONS))

    @once
    def durable_names(self) -> DataFrame:
        return figures.names(self.spark, self.durable_catalog)

    @once
    def _by_position(self) -> RecordRows:
        """The positions to be judged now, each with its records."""
        paths = self.storing.unsummed(self.logs, self._grounds_of_positions).paths
        divided = OfPositions()
        stored = self.storing.labelled(self.logs, divided.rows(self.logs, paths), divided.ids)
        return RecordRows.of(audit.by_position(stored)).kept(self.filing)

    @once
    def stored_messages(self) -> DataFrame:
        """The outcome of each position of each durable subscription."""
        judged = self._by_position.mapped(audit.verdicts, self.durable_catalog, audit.JUDGED)
        return self.storing.rows(POSITIONS, judged).kept(self.filing).frame

    @once
    def durable_losses(self) -> DataFrame:
        highest = self.logs.highest()
        told: dict[tuple[str, int, str], int] = {}
        for row in highest.filter(pc.is_valid(highest.column("lost"))).to_pylist():
            place = row["router"], row["durable"], row["lost"]
            told[place] = max(told.get(place, 0), row["highest"])
        new = self._by_position.mapped(audit.losses, told, audit.LOST)
        every = self.storing.rows("durable/losses", new)
        types = pa.schema([field for field in audit.LOST if field.name != CHAPTER])
        return audit.lost(every.mapped(audit.untold, told, types).frame)

    @once
    def of_messages(self) -> DataFrame:
        """What is found of messages that durable subscriptions stored, or had to store: `audit.OF_MESSAGES`."""
        made, offsets_us = self.durable_catalog, {router: clock.offset_us for router, clock in self.clocks.items()}
        asked = self.entered.mapped(audit.due, audit.DueContext(audit.wants(made), offsets_us), audit.DUE)
        places = self.summing.places(self.logs)
        stored = self.summing.labelled(self.logs, OfMessages().stored(self.logs, places), ID)
        found = audit.of_messages(self.spark, asked.frame, self.entered.frame, stored, made)
        return self._rows(OF_MESSAGES, RecordRows.of(found)).kept(self.filing).frame

    @once
    def custody(self) -> DataFrame:
        """The verdict on each message that a router stored for another one."""
        asked = self.of_messages.where(F.col("what") == "entered").withColumnsRenamed(
            {"router": "entry", "peer": "home"}
        )
        lacking = custody.lacks(self.logs.stored_in([store / STORED for store in self.logs.stores]))
        known = self.spark, self.durable_catalog, self.lives, self.clocks
        return custody.judged(asked, lacking, custody.entries(*known), custody.homes(*known), self.settle_us)

    def durable_faults(self, losses: pa.Table) -> DataFrame:
        """Return each fault. `losses`: the rows of `durable_losses`."""
        made, of_messages = self.durable_catalog, self.of_messages
        firsts = self.storing.rows("durable/firsts", self._by_position.mapped(audit.firsts, None, audit.FIRSTS))
        found = (
            audit.of_positions(self.stored_messages),
            audit.missing(self.spark, of_messages, self.stored_messages, made),
            audit.strays(of_messages),
            audit.twice(of_messages, self.stored_messages),
            audit.missing_at_home(self.custody),
            audit.disorder(firsts.frame, figures.in_order(self.spark, made)),
            audit.of_durables(self.spark, made, losses),
        )
        return reduce(DataFrame.unionByName, found)

    def contents(self, faults: DataFrame) -> DataFrame:
        """Return (origin, number, attributes) of the messages that `faults` are about, and maybe of others."""
        if self.summing.is_first:
            return self.published
        ids = faults.select(*ID).where(F.col("number").isNotNull()).distinct().toArrow()
        return self._gathered(self._records(self.summing.of_ids(self.logs, ids))).present("source").frame

    def persisted(self, frame: DataFrame) -> DataFrame:
        # A worker that ends takes its part of a checkpoint with it; what persists is computed again.
        if parts.are_few(self.logs.stored_bytes) and not is_elsewhere(str(self.spark.sparkContext.master)):
            return frame.localCheckpoint(eager=False)
        self._frames.append(persisted(frame))
        return self._frames[-1]
