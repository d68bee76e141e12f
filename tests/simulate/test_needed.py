"""Each strategy needs the rules that it keeps: without one of them an invariant fails that is its own, and soon."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from tamis.protocol.strategies import BY_NAME
from tamis.simulate import needed
from tamis.simulate.breaks import BREAKS

EDGES = ["E3", "E4", "E5", "E6", "E7"]
WHOLE = ("flood", "link-matching", "match-first", "advertise-destinations", "profile", "rendezvous")
PREVENTIVE = ("profile-preventive", "rendezvous-preventive")
"""They differ in what is said of edges from those without."""


def _edges_of(strategy: str) -> list[str]:
    return [rule for rule in needed.rules_of(BY_NAME[strategy]) if rule.startswith("E")]


def test_a_strategy_keeps_the_rules_of_its_family() -> None:
    assert set(BREAKS) == {rule for facts in BY_NAME.values() for rule in needed.rules_of(facts)}
    assert _edges_of("advertise") == _edges_of("flood") == _edges_of("match-first") == []
    assert _edges_of("profile") == EDGES
    assert _edges_of("profile-preventive") == EDGES[:-1]
    assert _edges_of("rendezvous") == [*EDGES, "E9", "E10"]
    assert [name for name, facts in BY_NAME.items() if "R13" in needed.rules_of(facts)] == [
        "advertise-destinations",
        "link-matching-destinations",
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("strategy", "rule"),
    [
        *((name, rule) for name in WHOLE for rule in needed.rules_of(BY_NAME[name])),
        *((name, rule) for name in PREVENTIVE for rule in _edges_of(name)),
    ],
)
def test_a_rule_that_is_left_out_is_missed_here_too(strategy: str, rule: str) -> None:
    what = needed.missed(strategy, rule)
    assert what.seed is not None, what.command
    assert set(what.invariants) <= BREAKS[rule].invariants


@pytest.mark.slow
def test_a_rule_that_nothing_depends_on_is_not_missed() -> None:
    what = needed.missed("profile-preventive", "E7", within_s=0)
    assert (what.seed, what.invariants) == (None, ())
    assert what.command.endswith("--strategy profile-preventive --break E7")


@pytest.mark.slow
def test_the_command_says_how_soon_each_is_missed() -> None:
    arguments = ["--strategy", "rendezvous", "--rule", "E5", "--rule", "R13"]
    done = CliRunner().invoke(needed.main, arguments, standalone_mode=False)
    assert done.return_value == 0
    assert done.stdout.split()[:2] == ["rendezvous", "E5"]
    done = CliRunner().invoke(needed.main, [*arguments, "--json"], standalone_mode=False)
    [line] = done.stdout.splitlines()
    assert json.loads(line)["invariants"] == [1]
