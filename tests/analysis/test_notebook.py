"""The notebook of docs/examples answers its questions, in a process of its own, about the run that it names."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("duckdb")
pytest.importorskip("polars")
pytest.importorskip("pyspark")

from pyspark.sql import SparkSession

from tamis.analysis.job import Job, analyze
from tamis.analysis.page import report
from tests.analysis.conftest import NOTICE_US

NOTEBOOK = Path(__file__).parents[2] / "docs" / "examples" / "records.ipynb"
PROCESS_S = 600
FOUND = """
import json
print(json.dumps({"deliveries": deliveries, "publishers": publishers.rows(), "hops": hops["to_router"].to_list(),
                  "faults": faults["attributes"].to_list()}, default=str))
"""


def cells(kind: str) -> list[str]:
    found = json.loads(NOTEBOOK.read_text())["cells"]
    return ["".join(cell["source"]) for cell in found if cell["cell_type"] == kind]


def named(command: str) -> list[str]:
    """Return the words of a command in the notebook's first cell."""
    (line,) = [line for line in cells("markdown")[0].splitlines() if line.startswith(f"    tamis {command} ")]
    return [sys.executable, "-m", "tamis.cli.main", *shlex.split(line)[1:]]


def messages(records: Path) -> list[dict[str, Any]]:
    lines = (line for path in records.glob("*/messages-*.jsonl") for line in path.read_text().splitlines())
    return [record for record in map(json.loads, lines) if record["kind"] == "message"]


@pytest.mark.long
def test_its_cells_run_in_order_and_three_libraries_agree(spark: SparkSession, tmp_path: Path) -> None:
    assert subprocess.run(named("simulate"), cwd=tmp_path, check=False).returncode == 1  # a rule is broken  # noqa: S603
    recorded = messages(tmp_path / "records")
    subprocess.run(named("records convert"), cwd=tmp_path, check=True)  # noqa: S603
    analyze(spark, tmp_path / "records", Job(tmp_path / "answers", ("latency", "delivery"), notice_us=NOTICE_US))
    script = tmp_path / "cells.py"
    script.write_text("\n\n".join([*cells("code"), FOUND]))
    done = subprocess.run(  # noqa: S603
        [sys.executable, script],
        cwd=tmp_path,
        env=os.environ | {"SPARK_LOCAL_IP": "127.0.0.1"},
        stdout=subprocess.PIPE,
        timeout=PROCESS_S,
        check=True,
    )
    found = json.loads(done.stdout.splitlines()[-1])
    wanted = sum(len(record.get("to_connections", ())) for record in recorded)
    assert found["deliveries"] == dict.fromkeys(("duckdb", "polars", "pyspark"), wanted)
    entries = [each for each in recorded if "from_connection" in each and "refused" not in each]
    assert sum(size for *_, size in found["publishers"]) == sum(each["bytes"] for each in entries)
    tables = report.read(tmp_path / "answers")
    assert len(found["hops"]) == len(tables["latency/by_link"]) > 0
    assert found["faults"].count(None) == 0
    assert len(found["faults"]) == len(tables["delivery/faults"]) > 0


def test_it_keeps_no_outputs() -> None:
    kept = [
        cell for cell in json.loads(NOTEBOOK.read_text())["cells"] if cell.get("outputs") or cell.get("execution_count")
    ]
    assert kept == []
