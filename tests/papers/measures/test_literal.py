"""Paper 004 to the letter: what the count of losses says is right."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from tamis.papers.measures import literal
from tamis.simulate.faults import topologies


@pytest.mark.slow
@pytest.mark.parametrize("prune", literal.PRUNINGS)
def test_one_round_of_requests_repairs_what_was_lost(prune):
    found = literal.literal(11, 80, prune)
    assert found["advertised"] > 0
    assert found["one round"] == 0


def test_a_request_skips_interfaces_without_a_predicate():
    world = literal.Standing(topologies.make("line", 3, 1), 1, literal.skipping(literal.PRUNINGS["bytes"]))
    world.begin()
    middle = world.nodes[1]
    ends = sorted(middle.links)
    audits = middle.core._audits
    assert audits._asked(middle.number) == []
    audits.predicates.widen(ends[0], [b"filter"])
    assert [link.neighbour for link in audits._asked(middle.number)] == ends[:1]


def test_counts_are_of_networks_and_of_deliveries():
    runs = [{"advertised": 3, "one round": 0}, {"advertised": 0}, {"advertised": 2}]
    assert literal.count(runs) == {
        "advertised": {"networks": 3, "with losses": 2, "missing": 5},
        "one round": {"networks": 1, "with losses": 0, "missing": 0},
    }


def test_the_command_counts_both_modes() -> None:
    told = CliRunner().invoke(literal.main, ["--networks", "1", "--choice", "8", "--json"]).stdout
    rows = [json.loads(line) for line in told.splitlines()]
    assert {row["prune"] for row in rows} == set(literal.PRUNINGS)
    assert {"advertised", "one round", "changed on one tree"} <= {row["moment"] for row in rows}
    assert all(row["networks"] <= 1 for row in rows)
