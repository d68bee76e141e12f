"""Commands are tried without the contexts and variables of whoever runs the tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tamis.cli.reach.contexts import VARIABLE, VARIABLES


@pytest.fixture(autouse=True)
def _no_contexts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for variable in (VARIABLE, *VARIABLES.values()):
        monkeypatch.delenv(variable, raising=False)
