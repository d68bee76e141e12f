"""The steps of .ci/run run each test that is not `long` once, and the samples of `make test` are there."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

import pytest
from _pytest.mark.expression import Expression

from tests.conftest import SAMPLES

ROOT = Path(__file__).parents[1]
MAKEFILE = (ROOT / "Makefile").read_text()
CI = (ROOT / ".ci" / "run").read_text()


def marked(target: str) -> str:
    """Return the marks by which a target of the Makefile chooses its tests."""
    [found] = re.findall(rf"^{target}:.*\n\t\$\(PYTEST\) -m \"(.*?)\"", MAKEFILE, re.MULTILINE)
    return str(found)


def steps_of_ci() -> list[str]:
    first = [marked("test")] * len(re.findall(r"\bmake test$", CI, re.MULTILINE))
    return first + re.findall(r"\bmake test-all MARKED=\"(.*)\"$", CI, re.MULTILINE)


def runs(expression: str, marks: set[str]) -> bool:
    return Expression.compile(expression).evaluate(lambda name, **_: name in marks)


KINDS = [
    {name for name, is_set in zip(("slow", "sample", "long"), each, strict=True) if is_set}
    for each in product((0, 1), repeat=3)
]


@pytest.mark.parametrize("marks", KINDS, ids=lambda marks: "-".join(sorted(marks)) or "none")
def test_ci_runs_each_test_once_that_is_not_long(marks: set[str]) -> None:
    assert len(steps_of_ci()) == 2
    assert sum(runs(step, marks) for step in steps_of_ci()) == ("long" not in marks)


def test_make_test_all_leaves_out_the_long_ones_alone() -> None:
    assert marked("test-all") == "$(MARKED)"
    assert re.findall(r"^MARKED \?= (.*)$", MAKEFILE, re.MULTILINE) == ["not long"]


def test_the_last_step_of_ci_is_pytest() -> None:
    assert CI.strip().splitlines()[-1].startswith("make test-all ")


def test_the_last_step_of_ci_ends_in_time() -> None:
    [minutes] = map(int, re.findall(r"^MINUTES=(\d+)$", CI, re.MULTILINE))
    assert minutes < 90, "what CI gives"
    assert "$(WITHIN)" in MAKEFILE
    assert 'export WITHIN="--within-minutes $left' in CI


def test_the_long_tests_that_ci_names_are_there() -> None:
    named = re.findall(r"tests/long/\w+\.py", CI)
    assert len(named) == 5
    for path in named:
        assert "pytest.mark.long" in (ROOT / path).read_text()


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_sample_is_a_slow_test(sample: str) -> None:
    path, _, name = sample.partition("[")[0].partition("::")
    before, found, _ = (ROOT / path).read_text().partition(f"def {name}(")
    assert found
    assert "pytest.mark.slow" in before


def test_make_check_looks_at_everything_and_changes_nothing() -> None:
    [rule] = re.findall(r"^check:.*\n((?:\t.*\n)+)", MAKEFILE, re.MULTILINE)
    for each in (
        "ruff check ",
        "ruff format --check",
        "clang-format --dry-run -Werror",
        "mypy ",
        "pytest tests/test_imports.py",
    ):
        assert each in rule
    assert "--fix" not in rule
    assert "-i $(C_SOURCES)" not in rule
