"""Every input that a fuzzer's target starts from or once found is run again."""

from __future__ import annotations

import importlib

import pytest

from tests.fuzz.__main__ import TARGETS, kept


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_nothing_undocumented_escapes(name: str) -> None:
    module = importlib.import_module(f"tests.fuzz.{name}")
    inputs = module.SEEDS + kept(name)
    assert inputs
    for data in inputs:
        module.target(data)
