"""The first figures of each answer, from its tables: what a terminal shows while other questions are still open.

Law: figures have names that stay; the sentence says nothing that the figures do not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pyarrow.parquet as pq

from tamis.analysis.page.formatting import count, duration, share, so_many, volume
from tamis.analysis.questions.verdict_counts import FAULTS, durable_counts, verdict_counts

Figures = dict[str, Any]
Rows = Sequence[Mapping[str, Any]]


def figures(question: str, out: Path) -> Figures:
    """Return the figures of a question whose tables are in `out`."""
    return FIGURES[question](out)


def sentence(question: str, found: Figures) -> str:
    return f"{question}: {_WORDS[question](found)}"


def _rows(out: Path, question: str, table: str) -> Rows:
    rows: Rows = pq.read_table(out / question / table).to_pylist()
    return rows


def _logs(out: Path) -> Figures:
    lines, holes = _rows(out, "logs", "lines"), _rows(out, "logs", "holes")
    return {
        "routers": len({row["router"] for row in _rows(out, "logs", "lives")}),
        **{family: sum(row["lines"] for row in lines if row["family"] == family) for family in ("messages", "events")},
        "broken": sum(row["broken"] for row in lines),
        "holes": len(holes),
    }


def _traffic(out: Path) -> Figures:
    sources, links = _rows(out, "traffic", "by_source"), _rows(out, "traffic", "by_link")
    lost = _rows(out, "traffic", "drops")
    return {
        **{name: sum(row[name] or 0 for row in sources) for name in ("published", "hops", "deliveries")},
        "link_bytes": sum(row["bytes_out"] for row in links),
        "dropped": sum(row["messages"] for row in lost if row["what"] == "dropped"),
    }


def _latency(out: Path) -> Figures:
    names = ("hop", "messages", "p50_us", "p99_us")
    return {"by_length": [{name: row[name] for name in names} for row in _rows(out, "latency", "by_length")]}


def _delivery(out: Path) -> Figures:
    return verdict_counts(out) or {}


def _durable(out: Path) -> Figures:
    return durable_counts(out) or {}


def _control(out: Path) -> Figures:
    frames = _rows(out, "control", "frames")
    return {
        "frames": sum(row["frames"] for row in frames if row["way"] == "out"),
        "bytes": sum(row["bytes"] for row in frames if row["way"] == "out"),
        "changes": len(_rows(out, "control", "convergence")),
        "storms": len(_rows(out, "control", "storms")),
    }


def _access(out: Path) -> Figures:
    lines, logs, spans = (_rows(out, "access", name) for name in ("lines", "logs", "in_force"))
    kinds = {kind: sum(row["lines"] for row in lines if row["kind"] == kind) for kind in ("admitted", "not admitted")}
    outcomes = dict.fromkeys(("allowed", "refused", "observed"), 0)
    for row in _rows(out, "access", "requests"):
        outcomes[row["outcome"]] += row["requests"]
    return {
        "routers": len(logs),
        "lines": sum(row["lines"] for row in logs),
        **{kind.replace(" ", "_"): count for kind, count in kinds.items()},
        **outcomes,
        "unwritten": sum(row["lines"] for row in _rows(out, "access", "unwritten")),
        "broken_chains": sum(row["problem"] is not None for row in logs),
        "rules": len({row["digest"] for row in _rows(out, "access", "rules")}),
        "same_rules": spans[-1]["is_same"] if spans else None,
    }


def _content(out: Path) -> Figures:
    density = _rows(out, "content", "densities")[0]
    return {
        "attributes": len(_rows(out, "content", "attributes")),
        "filters": len(_rows(out, "content", "filters")),
        "covered": len(_rows(out, "content", "covered")),
        **{name: density[name] for name in ("published", "matching")},
    }


FIGURES: Final[Mapping[str, Callable[[Path], Figures]]] = {
    "logs": _logs,
    "traffic": _traffic,
    "latency": _latency,
    "delivery": _delivery,
    "durable": _durable,
    "control": _control,
    "content": _content,
    "access": _access,
}


def _of_latency(found: Figures) -> str:
    each = [
        f"{so_many(row['hop'], 'link')} {duration(row['p50_us'])}, 99% within {duration(row['p99_us'])}"
        for row in found["by_length"]
    ]
    return f"half of the messages take over {'; '.join(each)}" if each else "no message crossed a link"


def _of_delivery(found: Figures) -> str:
    wrong = ", ".join(f"{count(found[each])} {each}" for each in FAULTS)
    return f"{count(found['delivered'])} delivered, {wrong}, {count(found['undecided'])} undecided"


def _of_durable(found: Figures) -> str:
    fates, faults = (sum(found[each].values()) for each in ("fates", "faults"))
    return f"{so_many(fates, 'message')} followed, {so_many(faults, 'fault')}"


def _of_access(found: Figures) -> str:
    same = {True: "the same at all routers", False: "not the same at all routers", None: "none"}[found["same_rules"]]
    chains = f", {so_many(found['broken_chains'], 'broken chain')}" if found["broken_chains"] else ""
    return (
        f"{so_many(found['refused'], 'request')} refused, {count(found['not_admitted'])} of"
        f" {so_many(found['admitted'] + found['not_admitted'], 'client')} not admitted; rules: {same}{chains}"
    )


_WORDS: Final[Mapping[str, Callable[[Figures], str]]] = {
    "logs": lambda found: (
        f"{so_many(found['messages'], 'record')} of messages and {count(found['events'])} of events"
        f" from {so_many(found['routers'], 'router')}, {so_many(found['holes'], 'hole')}"
    ),
    "traffic": lambda found: (
        f"{so_many(found['published'], 'message')} published, {so_many(found['hops'], 'crossing')} of links,"
        f" {volume(found['link_bytes'])} between routers, {count(found['dropped'])} dropped"
    ),
    "latency": _of_latency,
    "delivery": _of_delivery,
    "durable": _of_durable,
    "control": lambda found: (
        f"{so_many(found['frames'], 'frame')}, {volume(found['bytes'])}, {so_many(found['changes'], 'change')} of the"
        f" network, {so_many(found['storms'], 'storm')}"
    ),
    "content": lambda found: (
        f"{so_many(found['attributes'], 'attribute')}, {so_many(found['filters'], 'filter')}"
        f" ({count(found['covered'])} covered), {share(found['matching'] / (found['published'] or 1))} of the messages"
        " match"
    ),
    "access": _of_access,
}
