"""All answers by question, and their output to disk.

Law: a table is `<out>/<question>/<table>` in Parquet and is replaced as a whole. The state of the logs is part of every
answer, since it determines the reliability of the other tables. Questions of one round are answered together: one query
computes all that Spark sums up for them, and their tables are made of that here. Quick answers come first.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame

from tamis.analysis.durable import custody, figures
from tamis.analysis.questions import access, content, control_plane, covers, delivery, health, latency, traffic
from tamis.analysis.questions.clocks import SCHEMA as CLOCKS
from tamis.analysis.records.rows import RecordRows
from tamis.analysis.spark import parts
from tamis.analysis.study import Findings

Summed = dict[str, DataFrame | pa.Table]
"""What Spark has to compute, and what was computed here."""
Sums = Mapping[str, pa.Table]
Tables = dict[str, pa.Table | DataFrame]
HEALTH: Final = "logs"
DURABLE: Final = "durable"
ACCESS: Final = "access"
OPTIONAL: Final[Mapping[str, Callable[[Findings], bool]]] = {
    DURABLE: lambda study: study.logs.has_durables,
    ACCESS: lambda study: bool(study.audits),
}
"""Questions that are answered if there is something about them, or if they are requested by name."""


@dataclass(frozen=True)
class Question:
    """What Spark sums up for a question, and its tables, made of these sums. A table of Spark's may have many rows."""

    sums: Callable[[Findings], Summed]
    tables: Callable[[Findings, Sums], Tables]
    by_chapter: Callable[[Findings], Summed] = lambda _: {}
    """What is summed up once for each chapter of the messages."""


def _health(study: Findings, _: Sums) -> Tables:
    return {
        "lines": health.lines(study.tallies),
        "lives": parts.table_of(study.lives, health.LIVES),
        "changes": health.changes(study.events("link"), study.events("life")),
        "holes": parts.table_of(study.holes, health.HOLES),
        "clocks": parts.table_of(study.clocks.values(), CLOCKS),
    }


def _traffic(study: Findings, sums: Sums) -> Tables:
    return {
        "by_link": traffic.by_link(sums["interfaces"]),
        "by_router": traffic.by_router(sums["interfaces"]),
        "over_time": traffic.over_time(sums["interfaces"], study.bucket_us),
        "by_source": parts.ordered(parts.summed(sums["by_source"], "source"), "-published", "source"),
        "drops": parts.ordered(sums["drops"], "-messages", "router", "reason", "neighbour", "client"),
    }


def _latency(study: Findings, sums: Sums) -> Tables:
    return {
        "by_link": latency.by_link(sums["times"], study.clocks),
        "by_length": latency.by_length(sums["times"], study.clocks),
        "matching": latency.matching(sums["matched"], sums["sizes"]),
    }


def _delivery(study: Findings, sums: Sums) -> Tables:
    study.sources = sums["sources"]
    totals = study.verdicts.present("deliveries").totals(delivery.BY, ["deliveries", "due"])
    return {
        "counts": delivery.counts(totals),
        "by_client": delivery.by_client(totals),
        "undecidable": delivery.undecidable(study.restless, study.unsteady),
        "in_vain": parts.ordered(parts.summed(sums["in_vain"], "router", "from_neighbour"), "router", "from_neighbour"),
        "faults": delivery.faults(study.verdicts, totals),
    }


def _durable(study: Findings, sums: Sums) -> Tables:
    return {
        "fates": parts.ordered(sums["fates"], "router", "durable", "fate"),
        "subscriptions": parts.ordered(sums["subscriptions"], "router", "durable"),
        "over_time": parts.ordered(sums["over_time"], "from_us", "router", "durable"),
        "custody": parts.ordered(sums["custody"], "entry", "home", "verdict"),
        "faults": _durable_faults(study, sums["losses"]).ordered("at_us", "router", "durable", "position", "fault"),
    }


def _durable_faults(study: Findings, losses: pa.Table) -> RecordRows:
    found = study.persisted(study.durable_faults(losses))
    return RecordRows.of(figures.faults(found, study.durable_names, study.contents(found)))


def _control(study: Findings, sums: Sums) -> Tables:
    return {
        "frames": parts.ordered(sums["frames"], "router", "way", "what", "cause"),
        "statements": parts.ordered(sums["statements"], "from_us", "issuer", "seq"),
        "convergence": control_plane.convergence(study.restless, study.changes),
        "storms": parts.ordered(sums["storms"], "-frames", "router", "second"),
    }


def _access(study: Findings, sums: Sums) -> Tables:
    return {**access.tables(sums, study.audited.logs, study.clocks)}


def _content(study: Findings, sums: Sums) -> Tables:
    every, readable = (sum(sums["densities"].column(name).to_pylist()) for name in ("all", "published"))
    return {
        "attributes": content.shared(sums["attributes"], every),
        "values": parts.ordered(sums["values"], "name", "rank"),
        "filters": content.filters(study.hits(sums["hits"]), study.forms, study.in_force, readable),
        "constraints": content.constraints(study.forms),
        "covered": covers.covered(study.forms),
        "densities": content.densities(sums["densities"]),
    }


QUESTIONS: Final[dict[str, Question]] = {
    HEALTH: Question(lambda _: {}, _health),
    "traffic": Question(
        lambda study: {
            "interfaces": traffic.counted(study.logs.kind("interface"), study.bucket_us),
            "drops": traffic.drops(study.logs.kind("interface")),
        },
        _traffic,
        lambda study: {"by_source": study.summed("by_source", traffic.BY_SOURCE)},
    ),
    "latency": Question(
        lambda study: {"sizes": latency.sizes(study.logs.kind("table"))},
        _latency,
        lambda study: {
            "times": latency.in_buckets(study.counted_times),
            "matched": study.summed("matched", latency.BY_SECOND),
        },
    ),
    "delivery": Question(
        lambda study: {"sources": study.entered.distinct("source")},  # Spark computes them on the way
        _delivery,
        lambda study: {"in_vain": study.summed("in_vain", delivery.IN_VAIN)},
    ),
    DURABLE: Question(
        lambda study: {
            "fates": figures.fates(study.stored_messages, study.durable_names),
            "subscriptions": figures.durables(study.stored_messages, study.logs.kind("depth"), study.durable_names),
            "over_time": figures.over_time(study.logs.kind("depth"), study.durable_names, study.bucket_us),
            "losses": study.durable_losses,
            "custody": custody.counts(study.custody),
        },
        _durable,
    ),
    "control": Question(
        lambda study: {
            "frames": control_plane.frames(study.logs.kind("control")),
            "statements": control_plane.statements(study.on_one_clock(study.logs.kind("control"))),
            "storms": control_plane.storms(study.logs.kind("control")),
        },
        _control,
    ),
    "content": Question(
        lambda study: {
            "attributes": content.attributes(study.cells),
            "values": content.values(study.cells),
            "densities": study.densities,
            "hits": study.new_hits,
        },
        _content,
    ),
    ACCESS: Question(lambda study: access.sums(study.audited.lines, study.logs.since_us), _access),
}
MESSAGES_ASKED: Final = frozenset({"delivery", DURABLE, "content"})
"""Questions about messages with all their records."""
ROUNDS: Final = ((HEALTH,), ("traffic", "latency", "delivery"), (DURABLE,), ("control", "content", ACCESS))


def asked(only: Collection[str]) -> list[str]:
    """Return the questions to answer: all, or those named, always with the state of the logs."""
    return [question for question in QUESTIONS if not only or question in only or question == HEALTH]


def _always(_: Findings) -> bool:
    return True


def write(
    study: Findings,
    out: Path,
    only: Collection[str] = (),
    told: Callable[[str], Any] = lambda _: None,
    answered: Callable[[str], Any] = lambda _: None,
) -> None:
    """Write the tables of the questions. Call `told` with what comes next, and `answered` with each question once its
    tables are written."""
    questions = [each for each in asked(only) if each in only or OPTIONAL.get(each, _always)(study)]
    study.is_storing_asked = DURABLE in questions
    study.are_messages_asked = not MESSAGES_ASKED.isdisjoint(questions)
    for each in OPTIONAL.keys() - questions if not only else ():
        shutil.rmtree(out / each, ignore_errors=True)  # the answer of an earlier job about other logs
    for round_ in ROUNDS:
        mine = [question for question in round_ if question in questions]
        if mine:
            told(", ".join(mine))
            for question, tables in _tables(study, mine, told):
                _write(tables, out / question)
                answered(question)


def _tables(study: Findings, questions: Sequence[str], told: Callable[[str], Any]) -> Iterator[tuple[str, Tables]]:
    """Yield the tables of each question of a round."""
    sums = {question: QUESTIONS[question].sums(study) for question in questions}
    by_chapter = {question: QUESTIONS[question].by_chapter(study) for question in questions}
    every = {question: sums[question] | by_chapter[question] for question in questions}
    found = parts.collected(
        {f"{question}/{name}": rows for question in every for name, rows in every[question].items()}
    )
    for question in questions:
        told(question)
        mine = {name: found[f"{question}/{name}"] for name in sums[question]}
        for name in by_chapter[question]:
            mine[name] = study.summing.whole(f"{question}/{name}", found[f"{question}/{name}"])
        yield question, QUESTIONS[question].tables(study, mine)


def _write(tables: Tables, folder: Path) -> None:
    for name, rows in tables.items():
        if isinstance(rows, DataFrame):
            rows.write.mode("overwrite").parquet(str(folder / name))
            continue
        shutil.rmtree(folder / name, ignore_errors=True)
        (folder / name).mkdir(parents=True)
        pq.write_table(rows, folder / name / "part-0.parquet")
