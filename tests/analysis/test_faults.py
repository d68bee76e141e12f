"""What is planted in logs is found, exactly: wrong deliveries, and logs that are not whole."""

from __future__ import annotations

import gzip
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")

import pyarrow as pa
from pyspark.sql import Row, SparkSession

from tamis.analysis.job import Job, analyze
from tamis.analysis.page import report
from tamis.analysis.questions import delivery
from tamis.analysis.questions.health import BEGINNING_US, END_US
from tamis.analysis.records import logs
from tamis.analysis.study import SETTLE_US, Findings
from tamis.router.records.converting import CLOSED, convert_folder
from tamis.simulate.faults.workload import CONTENTS
from tamis.simulate.settle import PROBE_PUBLISHER
from tests.analysis.accounts.told import Said, got, reference_ahead_us, said
from tests.analysis.conftest import NOTICE_US, Simulated

Record = dict[str, Any]
CLOCKS_US = 200_000
"""More than the clocks of all simulated routers are apart, with what is not known of it."""


def _edited(simulated: Simulated, into: Path, edit: Callable[[Record], Record | None]) -> Path:
    shutil.copytree(simulated.folder, into)
    for path in into.glob("*/messages-*.jsonl"):
        records = (edit(json.loads(line)) for line in path.read_text().splitlines())
        path.write_text("".join(json.dumps(record) + "\n" for record in records if record is not None))
    return into


def _due(simulated: Simulated) -> list[Record]:
    """Deliveries across links of the probes that are sent when all is calm; each message at one router."""
    changes = [record["t_us"] for kind in ("link", "life", "topology") for record in simulated.records(kind)]
    got = [record for record in simulated.records("message") if record.get("to_connections") and record["hop"]]
    probes = [record for record in got if int(record["origin"], 16) > PROBE_PUBLISHER]
    calm = (-SETTLE_US - CLOCKS_US, NOTICE_US + CLOCKS_US)
    return [record for record in probes if not any(calm[0] < change - record["t_us"] < calm[1] for change in changes)]


def _place(record: Record) -> tuple[Any, ...]:
    return record["origin"], record["number"], record["router"], record["epoch"]


@pytest.mark.slow
@pytest.mark.parametrize("form", ["lines", pytest.param("parquet", marks=pytest.mark.long)])
def test_missing_double_and_stray_deliveries_are_listed(
    spark: SparkSession, simulated: Simulated, tmp_path: Path, form: str
) -> None:
    lost, twice, wrong, dropped = (_due(simulated)[place] for place in (0, 5, 9, 13))
    assert len({_place(each)[:2] for each in (lost, twice, wrong, dropped)}) == 4
    stranger = 999

    def edit(record: Record) -> Record:
        if _place(record) == _place(lost) and "refused" not in record:
            record["to_connections"] = []
        elif _place(record) == _place(twice) and "refused" not in record:
            record["to_connections"] *= 2
        elif _place(record) == _place(wrong) and "refused" not in record:
            record["to_connections"].append(stranger)
        elif _place(record) == _place(dropped) and "refused" not in record:
            record |= {"to_connections": [], "dropped": [1]}
        return record

    folder = _edited(simulated, tmp_path / "logs", edit)
    if form == "parquet":
        assert {outcome.what for outcome in convert_folder(folder, None, CLOSED[form])} == {"converted"}
    study = Findings(spark, logs.read(spark, folder, tmp_path / "store"), notice_us=NOTICE_US)
    found = [Row(**row) for row in tables_of(study)["faults"].to_pylist()]
    study.close()
    listed = sorted((row.verdict, row.origin, row.number, row.router, row.epoch, row.connection) for row in found)
    planted = [("missing", *_place(lost), connection) for connection in lost["to_connections"]]
    planted += [("duplicate", *_place(twice), connection) for connection in twice["to_connections"]]
    planted += [("dropped", *_place(dropped), connection) for connection in dropped["to_connections"]]
    planted += [("stray", *_place(wrong), stranger)]
    assert listed == sorted(planted)
    for row in found:
        message = entry(simulated, row)
        assert (row.source, row.at_us) == (message.router, message.at_us + reference_ahead_us(simulated))
        assert json.loads(row.attributes) == CONTENTS[message.content]
        assert row.seen_at == sorted(simulated.truth["messages"]["seen"][f"{message.publisher} {message.number}"])
        assert row.times == {"missing": None, "dropped": None, "duplicate": 2, "stray": 1}[row.verdict]
        assert row.client == (None if row.verdict == "stray" else client_of(simulated, row))


def tables_of(study: Findings) -> dict[str, pa.Table]:
    """The tables of deliveries, without those that are summed up of other records."""
    totals = study.verdicts.present("deliveries").totals(delivery.BY, ["deliveries", "due"])
    faults = delivery.faults(study.verdicts, totals)
    return {
        "counts": delivery.counts(totals),
        "faults": faults if isinstance(faults, pa.Table) else faults.toArrow(),
    }


def entry(simulated: Simulated, row: Row) -> Said:
    return next(each for each in said(simulated) if each[:2] == (int(row.origin, 16), row.number))


def client_of(simulated: Simulated, row: Row) -> str:
    """Who got it there, in truth."""
    homes = {(asked["client"], asked["session"]): asked["router"] for asked in simulated.truth["wants"]["asked"]}
    told = {(pair[:2], homes[pair.client, pair.session], f"c{pair.client}") for pair in got(simulated)}
    assert ((int(row.origin, 16), row.number), row.router, row.client) in told
    return str(row.client)


@pytest.mark.long
def test_logs_that_are_not_whole_are_said_to_be_so(spark: SparkSession, simulated: Simulated, tmp_path: Path) -> None:
    """A half-written line, a newer version, a hole, a compressed file beside its plain one, a log that is gone."""
    gone, *others = (_place(record) for record in _due(simulated))
    holed = next(place for place in others if place[2] != gone[2])
    folder = _edited(simulated, tmp_path / "logs", lambda record: None if _place(record) == holed else record)
    shutil.rmtree(folder / str(gone[2]))
    files = sorted(path for path in folder.glob("*/messages-*.jsonl") if path.parent.name != holed[2])
    half, newer, both = files[:3]
    half.write_text(half.read_text()[:-30])
    lines = newer.read_text().splitlines()
    newer.write_text("\n".join([*lines[:-1], json.dumps(json.loads(lines[-1]) | {"v": 99, "hue": "red"})]) + "\n")
    (both.parent / f"{both.name}.gz").write_bytes(gzip.compress(both.read_bytes()))

    out = tmp_path / "answers"
    analyze(spark, folder, Job(out, ("delivery",)))
    tables = report.read(out)
    (messages,) = (row for row in tables["logs/lines"] if row["family"] == "messages")
    assert (messages["broken"], messages["newer"], sorted(messages["versions"])) == (1, 1, [1, 99])
    names = ("router", "epoch", "family", "records", "from_us", "to_us")
    found = [tuple(row[name] for name in names) for row in tables["logs/holes"]]
    assert sorted(found) == sorted([a_hole(simulated, holed), broken_off(half)])
    assert not [row for row in tables["delivery/faults"] if row["verdict"] != "dropped"]
    page = (out / "report.html").read_text()
    assert "2 records are missing in 2 holes" in page
    assert "are no valid records" in page
    assert "newer version" in page


def a_hole(simulated: Simulated, place: tuple[Any, ...]) -> tuple[Any, ...]:
    """From the record before the one that is gone to the one after it."""
    mine = [record for record in simulated.records("message") if (record["router"], record["epoch"]) == place[2:]]
    mine.sort(key=lambda record: record["n"])
    (at,) = (number for number, record in enumerate(mine) if _place(record) == place)
    before_us = mine[at - 1]["t_us"] if at else BEGINNING_US
    return *place[2:], "messages", 1, before_us, mine[at + 1]["t_us"]


def broken_off(path: Path) -> tuple[Any, ...]:
    """From the time that the half line still tells, and for good."""
    (at_us,) = re.findall(r'"t_us": ?(\d+)', path.read_text().splitlines()[-1])
    return path.parent.name, int(path.name.split("-")[1]), "messages", 1, int(at_us), END_US


@pytest.mark.long
def test_an_empty_folder_has_a_report(spark: SparkSession, tmp_path: Path) -> None:
    analyze(spark, tmp_path, Job(tmp_path / "answers", ("delivery", "latency")))
    assert "There were no records" in (tmp_path / "answers" / "report.html").read_text()
