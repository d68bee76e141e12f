"""The edge of the advice: a topology file and a study in; tables, a changed file and a patch out.

Law: the output is written beside the other answers. The user's own file is read and never written, and the changed one
is loaded before it is shown: a file that does not load is no advice.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import DataFrame

from tamis.analysis.advice import candidates, evidence, trials, wording
from tamis.analysis.advice.engines import contender
from tamis.analysis.advice.rules import advised
from tamis.analysis.advice.wording import FOR_EXPERIMENTS, Advice, Evidence
from tamis.analysis.questions import content, subscriptions
from tamis.analysis.records.files import log_files
from tamis.analysis.spark import parts
from tamis.analysis.study import Findings
from tamis.configs import Topology, load_topology, parse_topology
from tamis.configs.edit import edited
from tamis.protocol.errors import TamisError

QUESTION: Final = "advice"
ADVISED: Final = "topology.advised.yaml"
PATCH: Final = "advice.patch"
_NO_NEWLINE: Final = "\n\\ No newline at end of file\n"
Told = Callable[[str], Any]


class OtherNetwork(TamisError):
    """Raised when the topology file and the logs are of different networks."""


@dataclass(frozen=True, slots=True)
class AdviceRequest:
    """A valid topology file of the network of the logs. `planned`: also report features that are for
    experiments."""

    file: Path
    text: str
    topology: Topology
    planned: bool = False

    def has_place_for(self, advice: Advice) -> bool:
        return self.planned or advice.verdict != FOR_EXPERIMENTS


def wanted(file: Path, logs: Path, planned: bool = False) -> AdviceRequest:
    """Read the topology file. ConfigError if it has mistakes, OtherNetwork if it lacks a router of the logs."""
    topology = load_topology(file)
    logged = {path.parent.name for path in log_files(logs, "events")}
    strangers = sorted(logged - set(topology.routers))
    if strangers:
        raise OtherNetwork(f"{file} names no router {', '.join(strangers)}, of which there are logs in {logs}")
    return AdviceRequest(file, file.read_text(encoding="utf-8"), topology, planned)


def advise(study: Findings, asked: AdviceRequest, out: Path, told: Told) -> list[Advice]:
    """Give advice on the topology file, and write tables, changed file and patch to `out`. Returns the advice."""
    rows: dict[str, list[dict[str, Any]]] = {}
    parts.fit(study.spark, study.logs.stored_bytes, study.logs.stored_bytes)  # records of messages are moved
    for name, make in _tables(study, asked.topology).items():
        told(f"{QUESTION}/{name}")
        rows[name] = _stored(make(), out, name)
    engines = {life.router: life.engine for life in study.lives if life.engine is not None}
    found = [each for each in advised(Evidence(asked.topology, engines, **rows)) if asked.has_place_for(each)]
    _stored(wording.table(study.spark, found), out, QUESTION)
    write(found, asked, out)
    return found


def _tables(study: Findings, topology: Topology) -> dict[str, Callable[[], DataFrame]]:
    messages, interface = study.logs.messages, study.logs.kind("interface")
    return {
        "match_times": lambda: evidence.match_times(messages),
        "trials": lambda: _trials(study, topology),
        "overflows": lambda: evidence.overflows(interface, messages),
        "reach": lambda: evidence.reach(messages),
        "totals": lambda: evidence.totals(interface, study.logs.kind("control"), messages, study.logs.kind("link")),
        "exclusions": lambda: evidence.exclusions(
            parts.of_table(study.spark, _shares(study)),
            parts.of_table(study.spark, content.constraints(study.forms)),
            _filters(study),
        ),
        "keys": lambda: evidence.keys(study.published),
        "candidates": lambda: candidates.counted(study.published, study.forms, study.in_force),
    }


def _shares(study: Findings) -> pa.Table:
    found = parts.collected({"attributes": content.attributes(study.cells), "densities": study.densities})
    return content.shared(found["attributes"], sum(found["densities"].column("all").to_pylist()))


def _filters(study: Findings) -> DataFrame:
    return parts.of_table(study.spark, subscriptions.numbered(study.forms))


def _trials(study: Findings, topology: Topology) -> DataFrame:
    routers = trials.busiest(evidence.match_times(study.logs.messages)).cache()
    loads = trials.loads(
        trials.seen(study.logs.messages, study.published, routers),
        trials.held(parts.of_table(study.spark, study.in_force), _filters(study), routers),
    )
    routers.unpersist()
    present = [contender(topology, router) for router in loads]
    return trials.tried(study.spark, loads, trials.contenders(present))


def _stored(table: DataFrame, out: Path, name: str) -> list[dict[str, Any]]:
    """Write `table` under `name` and return its rows; the tables of advice are small."""
    kept = table.cache()
    kept.coalesce(1).write.mode("overwrite").parquet(str(out / QUESTION / name))
    rows = [row.asDict() for row in kept.collect()]
    kept.unpersist()
    return rows


def write(found: Sequence[Advice], asked: AdviceRequest, out: Path) -> None:
    """Write the changed topology file and the patch."""
    changes = {path: value for each in found for path, value in each.edits.items()}
    after = edited(asked.text, changes)
    parse_topology(after, ADVISED)
    (out / ADVISED).write_text(after, encoding="utf-8")
    (out / PATCH).write_text(difference(asked.text, after, str(asked.file)), encoding="utf-8")


def difference(before: str, after: str, name: str) -> str:
    """Return the difference of two texts in the format of `patch`; empty if they are equal."""
    lines: Iterable[str] = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), name, name
    )
    return "".join(line if line.endswith("\n") else line + _NO_NEWLINE for line in lines)
