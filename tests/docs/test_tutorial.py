"""The tutorial shows what its commands print: each is run, beside the files that it tells the reader to save."""

from __future__ import annotations

import io
import re
import runpy
import shlex
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from tamis.cli import demo
from tamis.cli.main import main

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "tutorial.md").read_text()
CONSOLE = [block.partition("\n") for block in re.findall(r"^```console\n\$ (.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)]
FILES = re.findall(r"^```\w+ (\S+)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


@pytest.fixture
def saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, content in FILES:
        (tmp_path / name).write_text(content)
    (tmp_path / "configs").symlink_to(ROOT / "configs")
    monkeypatch.chdir(tmp_path)


def printed(command: str) -> str:
    program, *words = shlex.split(command)
    screen = io.StringIO()  # both streams, as a terminal shows them
    with redirect_stdout(screen), redirect_stderr(screen):
        if program == "make":
            demo.demo()
        elif program == ".venv/bin/python":
            runpy.run_path(words[0])
        else:
            assert program == ".venv/bin/tamis"
            main(words)
    return screen.getvalue()


@pytest.mark.usefixtures("saved")
@pytest.mark.parametrize(("command", "_", "shown"), CONSOLE, ids=[command for command, *_ in CONSOLE])
def test_a_command_prints_what_is_shown(command: str, _: str, shown: str) -> None:
    screen = printed(command)
    assert shown == screen if command != "make run" else shown in screen


def test_there_are_commands_and_files() -> None:
    assert len(CONSOLE) >= 8
    assert {name for name, _ in FILES} == {"filters.jsonl", "messages.jsonl", "deals.py"}


def test_what_it_points_to_is_there() -> None:
    for link in re.findall(r"\]\(([^)#]+)\)", PAGE):
        assert (ROOT / "docs" / link).exists()
