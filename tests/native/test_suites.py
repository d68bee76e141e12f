"""No engine is left out of a suite, and no suite names one."""

from __future__ import annotations

import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tamis.native import ENGINES
from tests.native import conftest
from tests.native.suites import FUZZED, IN_C, IN_PYTHON

C_FOLDER = Path(__file__).parents[2] / "native" / "tests"


@pytest.mark.parametrize("suite", IN_PYTHON)
def test_a_suite_in_python_is_run_on_the_engine_of_the_fixture(suite: str) -> None:
    module, name = IN_PYTHON[suite]
    function = getattr(importlib.import_module(f"tests.native.{module}"), name)
    assert "engine" in inspect.signature(function).parameters


@pytest.mark.slow
def test_every_engine_of_the_registry_is_collected_for_each_suite() -> None:
    """As pytest itself says, which is quiet already: once more, and it would only count."""
    asked = [f"tests/native/{module}.py::{name}" for module, name in IN_PYTHON.values()]
    command = [sys.executable, "-m", "pytest", "--collect-only", "-p", "no:cacheprovider", *asked]
    told = subprocess.run(command, capture_output=True, text=True, check=True, cwd=C_FOLDER.parents[1])  # noqa: S603
    for module, name in IN_PYTHON.values():
        cases = re.findall(rf"^tests/native/{module}\.py::{name}\[(.*)\]$", told.stdout, re.MULTILINE)
        for engine in (*ENGINES, *conftest.OTHERWISE):
            assert any(f"-{engine}-" in f"-{case}-" for case in cases), (engine, name)


@pytest.mark.parametrize("program", [*IN_C.values(), *FUZZED.values()])
def test_a_suite_in_c_walks_the_registry_and_names_no_engine(program: str) -> None:
    text = (C_FOLDER / f"{program}.c").read_text()
    assert re.search(r"engine <=? ?(engines\(\)|last)", text)
    assert [name for name in ENGINES if f'"{name}"' in text] == []
