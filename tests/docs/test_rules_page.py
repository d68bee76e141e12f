"""The page of routing rules names each rule that code and pages cite, where it lives, and the run that shows it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tamis.simulate.breaks import BREAKS
from tamis.simulate.oracle.violation import INVARIANTS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "design" / "rules.md").read_text()
CODE = ("protocol", "native", "configs", "router", "simulate", "analysis", "tamis")
RESERVED: set[str] = set()
_RULE = re.compile(r"\b(?:R\d+[bc]?|E(?:10|[1-9]))\b")
UNBROKEN = {"R18", "E1", "E2", "E8"}
"""Rules that no run goes without: tests of their own show them."""

SECTIONS = {
    title.partition(":")[0]: text
    for title, text in re.findall(r"^## ([RE]\d+[bc]?: .*?)\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE)
}


def _sources(folder: str) -> list[Path]:
    found = (path for path in (ROOT / folder).rglob("*.*") if path.suffix in (".py", ".c", ".h"))
    return [path for path in found if path.name != "_tm.c"]


def test_every_rule_has_a_section() -> None:
    assert set(SECTIONS) == set(BREAKS) | UNBROKEN | RESERVED
    assert not RESERVED & set(BREAKS), "a rule that is in force has a section like the others"


def test_every_rule_that_is_cited_is_listed() -> None:
    pages = [path for path in (ROOT / "docs").rglob("*.md") if path.parent.name != "decisions"]
    for path in [*(path for folder in CODE for path in _sources(folder)), *pages]:
        assert set(_RULE.findall(path.read_text())) <= set(SECTIONS), path


@pytest.mark.parametrize("rule", sorted(set(SECTIONS) - RESERVED))
def test_a_rule_says_why_and_where(rule: str) -> None:
    text = SECTIONS[rule]
    for part in ("*Why.*", "*Without it.*", "*Where.*", "*Shown by*"):
        assert text.count(part) == 1, part
    named = re.findall(r"`(\w+\.(?:py|h|c))`", text.partition("*Where.*")[2])
    files = [path for folder in CODE for path in _sources(folder) if path.name in named]
    assert {path.name for path in files} == set(named)
    cited = {rule, rule.rstrip("bc")}
    assert any(cited & set(_RULE.findall(path.read_text())) for path in files), f"no file of {named} cites {rule}"


@pytest.mark.parametrize("rule", sorted(BREAKS))
def test_the_command_is_the_scenario_that_tests_run(rule: str) -> None:
    broken = BREAKS[rule]
    scenario = f"--topology {broken.topology} --ops {broken.operations} --faults {broken.faults} --break {rule}"
    text = SECTIONS[rule]
    assert f"`tamis simulate {scenario}`" in text
    [invariants] = re.findall(r"^invariant (.*) fails\.$", text, re.MULTILINE)
    assert {int(number) for number in invariants.split(" or ")} == broken.invariants


def test_the_invariants_are_those_of_the_judge() -> None:
    for number, what in INVARIANTS.items():
        assert f"- {number}: {what}\n" in PAGE
