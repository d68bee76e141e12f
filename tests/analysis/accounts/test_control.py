"""The control plane and the changes of the network against the simulator's account."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")

from pyspark.sql import SparkSession

from tamis.analysis.questions import control_plane
from tamis.analysis.records import logs
from tests.analysis.accounts.told import reference_ahead_us, unrest
from tests.analysis.conftest import NOTICE_US, Simulated, Tables

pytestmark = pytest.mark.long


def test_frames(tables: Tables, simulated: Simulated) -> None:
    names = ("frames", "bytes", "added", "removed")
    rows = {
        f"{row['router']} {row['way']} {row['what']} {row['cause']}": {name: row[name] for name in names}
        for row in tables["control/frames"]
    }
    assert {row["cause"] for row in tables["control/frames"]} == {"age", "change", "flood", "link", "repair"}
    assert rows == simulated.truth["control"]["frames"]


def test_statements(tables: Tables, simulated: Simulated) -> None:
    """Each: what it cost, whom it reached, and how long that took."""
    ahead_us = reference_ahead_us(simulated)
    rows = {
        f"{row['what']} {row['issuer']} {row['issuer_epoch']} {row['seq']}": row for row in tables["control/statements"]
    }
    statements = simulated.truth["control"]["statements"]
    assert rows.keys() == statements.keys()
    for key, told in statements.items():
        row = rows[key]
        for name in ("frames", "bytes", "added", "removed"):
            assert row[name] == told[name], (key, name)
        assert row["heard_by"] == len(told["heard_by"]), key
        assert row["from_us"] == told["from_us"] + ahead_us, key
        assert row["spread_us"] == (None if told["heard_us"] is None else told["heard_us"] - told["from_us"]), key


def test_storms(tables: Tables, simulated: Simulated) -> None:
    expected = storms(simulated, control_plane.STORM_FRAMES, control_plane.STORM_TIMES)
    assert tables["control/storms"] == expected


def test_storms_where_less_is_one(
    spark: SparkSession, simulated: Simulated, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frames, times = 10, 2
    monkeypatch.setattr(control_plane, "STORM_FRAMES", frames)
    monkeypatch.setattr(control_plane, "STORM_TIMES", times)
    read = logs.read(spark, simulated.folder, tmp_path)
    found = [row.asDict() for row in control_plane.storms(read.kind("control")).collect()]
    assert sorted(found, key=by_frames) == storms(simulated, frames, times) != []


def by_frames(row: dict[str, Any]) -> tuple[Any, ...]:
    return -row["frames"], row["router"], row["second"]


def storms(simulated: Simulated, frames: int, times: int) -> list[dict[str, Any]]:
    """Seconds in which a router heard so many frames, and so many times the median of its seconds."""
    found = []
    for router, seconds in simulated.truth["control"]["seconds"].items():
        heard = sorted(counts["frames"] for counts in seconds.values())
        usual = heard[(len(heard) - 1) // 2]
        for second, counts in seconds.items():
            if counts["frames"] >= frames and counts["frames"] > times * usual:
                found.append({"router": router, "second": int(second), **counts, "usual": usual})
    return sorted(found, key=by_frames)


def test_convergence(tables: Tables, simulated: Simulated) -> None:
    expected = [
        {
            "from_us": span.from_us,
            "to_us": span.to_us,
            "changed_us": min(span.others).at_us,
            "settled_us": max(span.topologies).at_us,
            "took_us": span.took_us,
            "changes": len(span.others),
            "routers": len({change.router for change in span.topologies}),
        }
        for span in unrest(tables, simulated)
    ]
    assert tables["control/convergence"] == expected
    assert len(expected) > 3


def test_nothing_happened_but_in_a_span(tables: Tables, simulated: Simulated) -> None:
    """Whatever routers noticed of it; and from what happened to the last topology it is as long, but for noticing."""
    told, ahead_us = simulated.truth["changes"], reference_ahead_us(simulated)
    happened = [at_us + ahead_us for at_us, *_ in told["whole"]]
    happened += [life["began_us"] + ahead_us for life in told["lives"]]
    rows = tables["control/convergence"]
    inside = {row["from_us"]: [at for at in happened if row["from_us"] <= at <= row["to_us"]] for row in rows}
    assert sum(map(len, inside.values())) == len(happened)
    for row in rows:
        took_us = row["settled_us"] - min(inside[row["from_us"]])
        assert took_us - NOTICE_US <= row["took_us"] <= took_us + NOTICE_US, row


def test_undecidable(tables: Tables, simulated: Simulated) -> None:
    spans = unrest(tables, simulated)
    rows = tables["delivery/undecidable"]
    assert [(row["from_us"], row["to_us"]) for row in rows] == [(span.from_us, span.to_us) for span in spans]
    for row, span in zip(rows, spans, strict=True):
        assert row["whats"] == sorted({f"{change.router} {change.what}" for change in span.within})
