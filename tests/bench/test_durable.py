"""The comparison of brokers that store messages: each installed one confirms and delivers all messages."""

from __future__ import annotations

import json
import shutil

import pytest
from click.testing import CliRunner

from tamis.bench.durable.__main__ import main
from tamis.bench.durable.daemons import KEEPERS
from tamis.bench.durable.measures import measures
from tamis.bench.router.brokers.run import Plan, run

pytestmark = pytest.mark.skipif(not (shutil.which("cc") or shutil.which("gcc")), reason="needs a C compiler")
COUNT = 2_000
SHORT = Plan(rounds=1, seconds=0.2)
# rabbitmq takes seconds to start, and a JetStream that syncs each message takes a second for a window
CASES = [
    pytest.param(name, measure.name, marks=pytest.mark.long if name == "rabbitmq" else pytest.mark.slow)
    for measure in measures(COUNT).values()
    for name in measure.brokers
    if measure.name != "latency"
]


@pytest.mark.parametrize(("name", "measure"), CASES)
def test_a_broker_is_measured(name: str, measure: str) -> None:
    if KEEPERS[name].program() is None:
        pytest.skip(KEEPERS[name].how_to_install)
    plan = Plan(rounds=1, seconds=2) if name in ("rabbitmq", "jetstream-synced") else SHORT
    (rows,) = run([measures(COUNT)[measure]], [name], plan, lambda _words: None, KEEPERS)
    assert rows[0].trouble == ""
    messages = rows[0].rounds[0].seen["messages"]
    assert messages == COUNT if measure == "consume" else messages > 0


@pytest.mark.slow
def test_the_disk_stands_beside_each_row() -> None:
    arguments = ["--only", "tamis", "--measure", "latency", "--rounds", "1", "--seconds", "0.2", "--json"]
    told = CliRunner().invoke(main, arguments)
    assert told.exit_code == 0, told.output
    (row,) = map(json.loads, told.stdout.splitlines())
    assert row["fdatasync_us"] > 0
    assert 0 < row["p50_us"] <= row["p99_us"]


@pytest.mark.parametrize("arguments", [("--only", "kafka"), ("--measure", "beauty")])
def test_an_unknown_name_is_refused_with_the_known_ones(arguments: tuple[str, str]) -> None:
    told = CliRunner().invoke(main, arguments)
    assert told.exit_code == 2
    assert f"unknown '{arguments[1]}'; allowed: " in told.stderr
