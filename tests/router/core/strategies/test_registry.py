"""The registry of strategies: complete, the only place that knows names, and open to experiments."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tamis.configs import choices
from tamis.native.others import FORWARDINGS
from tamis.protocol.strategies import BY_NAME, DEFAULT, chosen, options_of, recorded_as
from tamis.protocol.strategies import STRATEGIES as FACTS
from tamis.router.core.core import CoreParts, CoreSettings
from tamis.router.core.statements.own_predicate import OwnPredicate
from tamis.router.core.strategies.edges import EdgeCore
from tamis.router.core.strategies.paper import PaperCore
from tamis.router.core.strategies.registry import STRATEGIES
from tamis.simulate.twin.policies import POLICIES

ROOT = Path(__file__).parents[4]
FOLDERS = ("protocol", "configs", "router", "serving", "simulate", "analysis", "tamis", "testing")


def test_every_strategy_has_its_core() -> None:
    assert list(STRATEGIES) == list(BY_NAME)
    for name, strategy in STRATEGIES.items():
        core = strategy.core(name, 1, CoreSettings())
        assert core.start(0)
        assert strategy.facts is BY_NAME[name]


def test_the_switch_has_every_policy() -> None:
    assert set(POLICIES) == set(FORWARDINGS) == {strategy.policy for strategy in STRATEGIES.values()}


def test_a_topology_file_and_records_choose_the_same_strategy() -> None:
    for facts in FACTS:
        assert chosen(facts.key, facts.options) is facts
        assert facts.options.keys() == options_of(facts.key).keys()
        assert recorded_as(facts.recorded) is facts
        assert choices.STRATEGIES[facts.key] is choices.SUPPORTED
    with pytest.raises(KeyError, match="has no mode: none"):
        chosen(DEFAULT.key, {"mode": "none"})
    assert options_of("none") == {}
    assert recorded_as("none") is None


class OtherOwn(OwnPredicate):
    """A part that an experiment puts in."""


def test_parts_of_an_experiment_replace_those_of_any_strategy() -> None:
    for strategy in STRATEGIES.values():
        core = strategy.core("a", 1, CoreSettings(), instead=CoreParts(own=OtherOwn))
        own = core._edges.interest.own if isinstance(core, EdgeCore) else core._advertiser.own
        assert isinstance(own, OtherOwn)
    assert isinstance(STRATEGIES["paper"].core("a", 1, CoreSettings(), instead=CoreParts(own=OtherOwn)), PaperCore)


def _compared_strings(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = (node.left, *node.comparators)
            yield from (each.value for each in sides if isinstance(each, ast.Constant) and isinstance(each.value, str))


@pytest.mark.slow
def test_nobody_compares_the_name_of_a_strategy() -> None:
    names = {facts.name for facts in FACTS} | {facts.recorded for facts in FACTS}
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*.py"):
            found = names & set(_compared_strings(ast.parse(path.read_text())))
            assert not found, f"{path.relative_to(ROOT)} compares with {found}: ask for a property in its place"
