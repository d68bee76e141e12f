"""The session in the README is what its commands print."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.commands import ROOT
from tests.docs.recording import COMMANDS, in_page, recording

PAGE = in_page((ROOT / "README.md").read_text())


def without_chance(session: str) -> list[str]:
    """Its lines, without numbers that differ each time; routers become ready in any order."""
    names = re.compile(r"[0-9a-f]{16}|-[0-9a-f]{8}|\d{4}-.*Z|press-1:")
    lines = [re.sub(r"\d[\d.]*", "0", names.sub("", line)) for line in session.splitlines()]
    return sorted(re.sub(r" +", " ", line).rstrip() for line in lines)


def test_the_readme_has_the_session() -> None:
    assert re.findall(r"^\$ (.*)$", PAGE, re.MULTILINE) == list(COMMANDS)


@pytest.mark.slow
def test_the_session_is_what_its_commands_print(tmp_path: Path) -> None:
    made = recording(tmp_path)
    assert without_chance(made) == without_chance(PAGE)
