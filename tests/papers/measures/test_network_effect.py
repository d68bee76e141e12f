"""The tree of the network effect leads to every destination."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner

from tamis.native import Batch, Measurement, Table
from tamis.papers.measures.network_effect import height, interfaces_at, main


@pytest.mark.parametrize(("filters", "fan", "levels"), [(10, 10, 1), (11, 10, 2), (90, 10, 2), (91, 10, 3), (9, 3, 3)])
def test_a_tree_is_as_high_as_it_must_be(filters, fan, levels):
    assert height(filters, fan) == levels


def test_each_level_divides_what_its_first_router_leads_to():
    leaf, middle, root = (list(interfaces_at(level, 12, 3)) for level in range(3))
    assert leaf == [0, 1, *[2] * 10]
    assert middle == [0, 0, 1, 1, *[2] * 8]
    assert root == [0] * 4 + [1] * 4 + [2] * 4


def test_every_engine_goes_every_way() -> None:
    options = ["--filters", "30", "--fan", "4,20", "--messages", "10", "--engine", "tamis,counting,sff"]
    told = CliRunner().invoke(main, [*options, "--json"]).stdout
    rows = [json.loads(line) for line in told.splitlines()]
    assert [(row["engine"], row["fan"], row["hops"]) for row in rows] == [
        (engine, fan, hops) for engine in ("tamis", "counting", "sff r=0") for fan, hops in ((0, 1), (4, 5), (20, 3))
    ]
    assert all(len(row["hop_us"]) == (row["hops"] + 1) // 2 for row in rows)
    table = CliRunner().invoke(main, options).stdout.splitlines()
    assert len(table) == 2 + len(rows)


def test_engines_that_disagree_at_a_router_of_the_way_end_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = Table.measure

    def measure(self: Table, messages: Batch) -> Measurement:
        told = honest(self, messages)
        return replace(told, checksum=told.checksum + (self.engine == "sff" and self.stats().interfaces == 4))

    monkeypatch.setattr(Table, "measure", measure)
    told = CliRunner().invoke(main, ["--filters", "30", "--fan", "4", "--messages", "10", "--engine", "tamis,sff"])
    assert told.exit_code == 1
    assert told.stdout == ""
    assert "engines disagree" in told.stderr
