"""The audit is right for each strategy of the table: no false fault, and each planted one is found.

Law: what the audit may say is held against the simulator's account, which no record has told. Messages go as the
strategy has them go: by way of roots, along one tree, by lists and sets, or everywhere.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from pyspark.sql import Row, SparkSession

from tamis.analysis.records import logs
from tamis.analysis.study import Findings
from tamis.protocol.strategies import STRATEGIES, StrategyFacts
from tamis.simulate.run import TRUTH, run
from tests.analysis.accounts.told import got
from tests.analysis.conftest import NOTICE_US, SCENARIO, Simulated
from tests.analysis.test_faults import _due, _edited, _place, tables_of

pytestmark = pytest.mark.long
RECORDED = [facts for facts in STRATEGIES if facts.loses_nothing]
"""Messages that the others lose are missing, and the audit says so."""


@pytest.fixture(name="logs_of", scope="module", params=RECORDED, ids=lambda facts: facts.name)
def _logs_of(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Simulated:
    facts: StrategyFacts = request.param
    folder = tmp_path_factory.mktemp(facts.name)
    outcome = run(replace(SCENARIO, strategy=facts.name), records=folder)
    assert not outcome.violations
    return Simulated(folder, outcome, json.loads((folder / TRUTH).read_text()))


def audited(spark: SparkSession, folder: Path, store: Path) -> tuple[list[Row], int]:
    """The faults that the audit lists, and how many deliveries it took for due."""
    study = Findings(spark, logs.read(spark, folder, store), notice_us=NOTICE_US)
    try:
        tables = tables_of(study)
        faults = [Row(**row) for row in tables["faults"].to_pylist()]
        return faults, sum(tables["counts"].column("due").to_pylist())
    finally:
        study.close()


def test_there_is_no_false_fault(spark: SparkSession, logs_of: Simulated, tmp_path: Path) -> None:
    faults, due = audited(spark, logs_of.folder, tmp_path / "store")
    assert faults == []
    assert due > logs_of.outcome.counts["required at rest"] / 4, "an audit that says nothing finds no fault either"
    assert len(got(logs_of)) == logs_of.outcome.counts["delivered"]


def test_what_is_planted_is_found(spark: SparkSession, logs_of: Simulated, tmp_path: Path) -> None:
    """A delivery that is gone from a record is missing; a record that is gone is a hole, and no fault."""
    lost, twice, gone = (_due(logs_of)[place] for place in (0, 5, 9))
    assert len({_place(each) for each in (lost, twice, gone)}) == 3

    def edit(record: dict) -> dict | None:
        if _place(record) == _place(lost):
            record["to_connections"] = []
        elif _place(record) == _place(twice):
            record["to_connections"] *= 2
        return None if _place(record) == _place(gone) else record

    faults, _ = audited(spark, _edited(logs_of, tmp_path / "logs", edit), tmp_path / "store")
    listed = sorted((row.verdict, row.origin, row.number, row.router, row.epoch, row.connection) for row in faults)
    planted = [("missing", *_place(lost), connection) for connection in lost["to_connections"]]
    planted += [("duplicate", *_place(twice), connection) for connection in twice["to_connections"]]
    assert listed == sorted(planted)
