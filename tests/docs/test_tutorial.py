"""The tutorial shows what its commands print: each is run, beside the files that it tells the reader to save."""

from __future__ import annotations

import contextlib
import io
import re
import runpy
import shlex
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from tamis.cli import demo
from tamis.cli.main import main

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "tutorial.md").read_text()
CONSOLE = [block.partition("\n") for block in re.findall(r"^```console\n\$ (.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)]
SESSION = [
    block.partition("\n") for block in re.findall(r"^```shell-session\n\$ (.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
]
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
            demo.demo(pause_s=0)
        elif program == ".venv/bin/python":
            runpy.run_path(words[0])
        else:
            assert program == ".venv/bin/tamis"
            main(words)
    return screen.getvalue()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@contextlib.contextmanager
def ports_of_our_own(folder: Path) -> Iterator[Callable[[str], str]]:
    """What was printed as the page has it, although other ports are used, and other things differ each time."""
    ports = {"7400": str(free_port()), "7600": str(free_port())}
    for name in ("hello.yaml", "hello.py"):
        text = (folder / name).read_text()
        for shown, used in ports.items():
            text = text.replace(shown, used)
        (folder / name).write_text(text)

    def as_shown(printed: str) -> str:
        for shown, used in ports.items():
            printed = printed.replace(used, shown)
        printed = re.sub(r"logs: \S+", "logs: /home/you/.local/state/tamis/hello-5d41402a/logs", printed)
        return re.sub(r"in \d+\.\d\d s", "in 0.01 s", re.sub(r"process \d+", "process 4711", printed))

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TAMIS_URL", f"tamis://127.0.0.1:{ports['7400']}")
        patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        try:
            yield as_shown
        finally:
            printed(".venv/bin/tamis down hello.yaml")  # it is down already, unless something went wrong


@pytest.mark.slow
@pytest.mark.usefixtures("saved")
def test_the_session_with_a_router(tmp_path: Path) -> None:
    with contextlib.ExitStack() as stack:
        as_shown = stack.enter_context(ports_of_our_own(tmp_path))
        subscriber: subprocess.Popen[str] | None = None
        for command, _, shown in SESSION:
            words = shlex.split(command)
            if words[1] == "sub":  # in its own terminal; it waits for what comes later
                first, _, rest = shown.partition("\n")
                subscriber = stack.enter_context(in_the_background(words[1:]))
                assert subscriber.stderr
                assert subscriber.stderr.readline() == f"{first}\n"
            else:
                assert as_shown(printed(command)) == shown
        assert subscriber
        assert subscriber.communicate(timeout=30) == (rest, "")


@contextlib.contextmanager
def in_the_background(words: list[str]) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "tamis.cli.main", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:  # noqa: S603
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.usefixtures("saved")
@pytest.mark.slow
@pytest.mark.parametrize(("command", "_", "shown"), CONSOLE, ids=[command for command, *_ in CONSOLE])
def test_a_command_prints_what_is_shown(command: str, _: str, shown: str) -> None:
    screen = printed(command)
    assert shown == screen if command != "make run" else shown in screen


def test_there_are_commands_and_files() -> None:
    assert len(CONSOLE) >= 8
    assert {name for name, _ in FILES} == {"hello.yaml", "hello.py", "filters.jsonl", "messages.jsonl", "deals.py"}


def test_what_it_points_to_is_there() -> None:
    for link in re.findall(r"\]\(([^)#]+)\)", PAGE):
        assert (ROOT / "docs" / link).exists()
