"""All answers by question and name, and their output to disk.

Law: a table is `<out>/<question>/<table>` in Parquet and is replaced as a whole. The state of the logs is part of every
answer, since it determines the reliability of the other tables.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import pyarrow.parquet as pq
from pyspark.sql import DataFrame

from tamis.analysis.durable import figures
from tamis.analysis.questions import content, control_plane, covers, delivery, health, latency, traffic
from tamis.analysis.records import parts
from tamis.analysis.study import Findings

Answer = Callable[[Findings], DataFrame]
HEALTH: Final = "logs"
DURABLE: Final = "durable"
"""The question that is answered if a router has recorded a durable subscription, or if it is requested by name."""
LONG: Final = frozenset({("delivery", "faults"), (DURABLE, "faults")})
"""Tables that may have many rows from few records; Spark writes them, and the others only if there are many records."""
PLANNERS: Final = 2
"""Tables of few records that are made at once: their time is Spark's planning, on one core for each table."""

QUESTIONS: Final[dict[str, dict[str, Answer]]] = {
    HEALTH: {
        "lines": lambda study: health.lines(study.logs.tallies),
        "lives": lambda study: study.lives.orderBy("first_us", "router"),
        "changes": lambda study: health.changes(study.events("link"), study.events("life")),
        "holes": lambda study: study.holes.orderBy("router", "epoch", "from_us"),
        "clocks": lambda study: study.clocks,
    },
    "traffic": {
        "by_link": lambda study: traffic.by_link(study.logs.kind("interface")),
        "by_router": lambda study: traffic.by_router(study.logs.kind("interface")),
        "over_time": lambda study: traffic.over_time(study.logs.kind("interface"), study.bucket_us),
        "by_source": lambda study: traffic.by_source(study.logs.messages),
        "drops": lambda study: traffic.drops(study.logs.kind("interface")),
    },
    "latency": {
        "by_link": lambda study: latency.by_link(study.hops),
        "by_length": lambda study: latency.by_length(study.hops),
        "matching": lambda study: latency.matching(study.logs.messages, study.logs.kind("table")),
    },
    "delivery": {
        "counts": lambda study: delivery.counts(study.verdicts),
        "faults": lambda study: delivery.faults(study.verdicts, study.published, study.logs.messages),
        "by_client": lambda study: delivery.by_client(study.verdicts),
        "undecidable": lambda study: delivery.undecidable(study.restless_spans, study.unsteady),
        "in_vain": lambda study: delivery.in_vain(study.logs.messages),
    },
    DURABLE: {
        "fates": lambda study: figures.fates(study.stored_messages, study.durable_names),
        "faults": lambda study: figures.faults(study.durable_faults, study.durable_names, study.published),
        "subscriptions": lambda study: figures.durables(
            study.stored_messages, study.logs.kind("depth"), study.durable_names
        ),
        "over_time": lambda study: figures.over_time(study.logs.kind("depth"), study.durable_names, study.bucket_us),
    },
    "control": {
        "frames": lambda study: control_plane.frames(study.logs.kind("control")),
        "statements": lambda study: control_plane.statements(study.events("control")),
        "convergence": lambda study: control_plane.convergence(study.restless_spans, study.changes),
        "storms": lambda study: control_plane.storms(study.logs.kind("control")),
    },
    "content": {
        "attributes": lambda study: content.attributes(content.cells(study.published), study.published),
        "values": lambda study: content.values(content.cells(study.published)),
        "filters": lambda study: content.filters(study.published, study.filters, study.in_force),
        "constraints": lambda study: content.constraints(study.filters),
        "covered": lambda study: covers.covered(study.spark, study.forms),
        "densities": lambda study: content.densities(study.published, study.in_force, study.clocks),
    },
}


def asked(only: Collection[str]) -> list[str]:
    """Return the questions to answer: all, or those named, always with the state of the logs."""
    return [question for question in QUESTIONS if not only or question in only or question == HEALTH]


def write(study: Findings, out: Path, only: Collection[str] = (), told: Callable[[str], Any] = lambda _: None) -> None:
    """Write the tables of the questions. Call `told` with the name of each table before it is made."""
    questions = [each for each in asked(only) if each != DURABLE or each in only or study.logs.has_durables]
    if not only and DURABLE not in questions:
        shutil.rmtree(out / DURABLE, ignore_errors=True)  # the answer of an earlier job about other logs
    names = [(question, table) for question in questions for table in QUESTIONS[question]]
    are_few = parts.are_few(study.logs.stored_bytes)
    if are_few:
        names.sort(key=_turn)

    def make(question: str, table: str) -> None:
        told(f"{question}/{table}")
        rows = QUESTIONS[question][table](study)
        folder = out / question / table
        if are_few and (question, table) not in LONG:
            _write_here(rows, folder)
        else:
            rows.write.mode("overwrite").parquet(str(folder))

    with ThreadPoolExecutor(PLANNERS if are_few else 1) as threads:
        for done in [threads.submit(make, *name) for name in names]:
            done.result()


def _turn(name: tuple[str, str]) -> int:
    """Return the position of a table if several are made at once: the verdicts take longest and come first; tables that
    would only wait for them come last."""
    return 1 if name[0] != "delivery" else 0 if name[1] == "counts" else 2


def _write_here(rows: DataFrame, folder: Path) -> None:
    """Write a table without Spark's committer, which starts a process for each file and folder it makes."""
    table = rows.toArrow()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    pq.write_table(table, folder / "part-0.parquet")
