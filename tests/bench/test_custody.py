"""Each measure of messages that are stored for another process runs with each contender that is installed."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner

from tamis.bench.custody.__main__ import MEASURES, main
from tamis.bench.custody.catch_up import Absence
from tamis.bench.custody.clusters import CONTENDERS
from tamis.bench.custody.measures import measures
from tamis.bench.durable.daemons import KEEPERS

pytestmark = pytest.mark.slow
KNOWN = measures(Absence(mib=1, payload_bytes=1_024))
IS_THERE = [name for name in CONTENDERS if CONTENDERS[name].program() is not None]
FAST = ("--rounds", "1", "--seconds", "0.3", "--mib", "1", "--json")


def rows(*arguments: str) -> list[dict[str, object]]:
    done = CliRunner().invoke(main, [*FAST, *arguments])
    assert done.exit_code == 0, done.output
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("name", IS_THERE)
def test_a_contender_is_measured(name: str) -> None:
    for measure in (each for each in MEASURES if name in KNOWN[each].measure.brokers):
        [row] = rows("--only", name, "--measure", measure)
        figures = [figure.name for figure in KNOWN[measure].measure.figures]
        assert all(isinstance(row[figure], float) and row[figure] >= 0 for figure in figures), row
        assert row[figures[0]] > 0
        assert row["fdatasync_us"] > 0


def test_who_is_not_there_is_named_and_fails_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    away = CONTENDERS["redis-wait"]
    changed = {away.name: replace(away, program=lambda: None)}
    monkeypatch.setattr("tamis.bench.custody.__main__.CONTENDERS", changed)
    [row] = rows("--only", away.name, "--measure", "publish")
    assert row["why"] == f"not measured: it needs {KEEPERS['redis-synced'].how_to_install}"


def test_an_unknown_name_is_refused() -> None:
    done = CliRunner().invoke(main, ["--only", "nobody"])
    assert done.exit_code == 2
    assert "allowed: own, stored, held" in done.output
