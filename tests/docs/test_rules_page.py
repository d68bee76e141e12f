"""The table of routing rules has each rule that code and pages cite, where it is held, and the run that shows it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from tamis.simulate.breaks import BREAKS
from tamis.simulate.oracle.violation import INVARIANTS
from tests.router.core.custody.world import BREAKS as LEFT_OUT

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "design" / "rules.md").read_text()
REASONS = (ROOT / "docs" / "design" / "routing.md").read_text()
CODE = ("protocol", "native", "configs", "router", "simulate", "analysis", "testing", "bench", "papers", "tamis")
UNBROKEN = {"R18", "E1", "E2", "E8"}
"""Rules that no run goes without: tests of their own show them."""
_NUMBER = r"(?:R\d{1,2}[b-e]?|E\d{1,2})"
_RULE = re.compile(rf"\b{_NUMBER}\b")


class Rule(NamedTuple):
    """The cells of a row, without its number."""

    text: str
    without: str
    held_in: str
    run: str
    fails: str


ROWS = re.findall(rf"^\| ({_NUMBER}) \| (.*) \| (.*) \| (.*) \| (.*) \| (.*)\|$", PAGE, re.MULTILINE)
RULES = {number: Rule(*(cell.strip() for cell in cells)) for number, *cells in ROWS}


def _sources(folder: str) -> list[Path]:
    found = (path for path in (ROOT / folder).rglob("*.*") if path.suffix in (".py", ".c", ".h"))
    return [path for path in found if path.name != "_tm.c"]


CUSTODY = re.findall(r"^\| (C\d{1,2}) \| (\*\*.*) \| (.*) \| (.*) \| (.*) \|$", PAGE, re.MULTILINE)
PLACE = ROOT / "router" / "core" / "custody"


def cited(text: str) -> set[str]:
    return set(_RULE.findall(text))


def test_every_rule_has_a_row() -> None:
    assert len(ROWS) == len(RULES)
    assert set(RULES) == set(BREAKS) | UNBROKEN


def test_every_rule_that_is_cited_is_in_the_table() -> None:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    for path in [*(path for folder in CODE for path in _sources(folder)), *pages]:
        assert cited(path.read_text()) <= set(RULES), path


def test_every_rule_has_its_reason_on_the_page_of_routing() -> None:
    assert set(RULES) <= cited(REASONS)


@pytest.mark.parametrize("number", RULES)
def test_a_rule_says_what_goes_wrong_without_it_and_where_it_is_held(number: str) -> None:
    rule = RULES[number]
    assert rule.text.startswith("**")
    assert rule.without
    named = re.findall(r"`(?:[\w-]+/)*(\w+\.(?:py|h|c))`", rule.held_in)
    files = [path for folder in CODE for path in _sources(folder) if path.name in named]
    assert {path.name for path in files} == set(named)
    numbers = {number, number.rstrip("bcde")}
    assert any(numbers & cited(path.read_text()) for path in files), f"no file of {named} cites {number}"


@pytest.mark.parametrize("number", sorted(BREAKS))
def test_the_run_is_the_scenario_that_tests_run(number: str) -> None:
    broken = BREAKS[number]
    assert RULES[number].run == f"`{broken.topology}`, {broken.operations}, `{broken.faults}`"
    assert {int(invariant) for invariant in RULES[number].fails.split(", ")} == broken.invariants


@pytest.mark.parametrize("number", sorted(UNBROKEN))
def test_a_rule_without_a_run_names_a_test(number: str) -> None:
    assert "def test_" in (ROOT / RULES[number].run.strip("`")).read_text()


def test_the_example_is_the_run_of_r1() -> None:
    first = BREAKS["R1"]
    scenario = f"--topology {first.topology} --ops {first.operations} --faults {first.faults} --break R1"
    assert f"`tamis simulate {scenario}`" in PAGE


def test_the_invariants_are_those_of_the_judge() -> None:
    for number, what in INVARIANTS.items():
        assert f"- {number}: {what}\n" in PAGE


def test_each_rule_of_custody_is_cited_where_it_is_held_and_left_out_by_a_test() -> None:
    assert [number for number, *_ in CUSTODY] == [f"C{each}" for each in range(1, 16)]
    for number, _, without, held_in, left_out in CUSTODY:
        assert without
        for name in re.findall(r"`(\w+\.py)`", held_in):
            assert re.search(rf"\b{number}\b", (PLACE / name).read_text()), (number, name)
        for name in re.findall(r"`([\w-]+)`", left_out):
            assert LEFT_OUT[name].startswith(f"{number}: ")
    assert {name for *_, cell in CUSTODY for name in re.findall(r"`([\w-]+)`", cell)} == set(LEFT_OUT)
