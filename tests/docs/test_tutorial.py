"""The tutorial shows what its commands print: each is run, beside the files that it tells the reader to save."""

from __future__ import annotations

import contextlib
import io
import os
import re
import runpy
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from tamis.cli.lab import demo
from tamis.cli.main import main
from tests.docs.sandbox import Sandbox

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "tutorial.md").read_text()
CONSOLE = [block.partition("\n") for block in re.findall(r"^```console\n\$ (.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)]
FIRST, NETWORK = PAGE.split("\n## A network of your own\n")
SESSION = [
    block.partition("\n") for block in re.findall(r"^```shell-session\n\$ (.*?)^```$", FIRST, re.DOTALL | re.MULTILINE)
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


# --- the network of one's own ----------------------------------------------------------------------------------------


def alike(printed: str) -> list[str]:
    """Its lines without what differs each time: figures, the place of the folder, and which router is ready first."""
    lines = [re.sub(r"logs: \S+|\d[\d.]*", "0", line) for line in printed.splitlines()]
    return sorted(re.sub(r" +", " ", line).strip() for line in lines)


class Network:
    """The commands of the last part, run in a folder. Subscribers go on; `up` says which process `b` is."""

    def __init__(self, folder: Path) -> None:
        self.sandbox = Sandbox(folder)
        self.file = folder / "plant.yaml"
        self.subscribers: list[subprocess.Popen[str]] = []
        self.process_of_b = ""

    def run(self, command: str, shown: str) -> None:
        if command.startswith("tamis sub"):
            self.subscribers.append(self.sandbox.begin(command.removesuffix("&")))
            assert self.heard(self.subscribers[-1]).startswith("subscribed as ")
            return
        patience = time.monotonic() + 30
        while True:  # what the network does of itself takes its time
            code, said = self.sandbox.run(command.replace("4712", self.process_of_b))
            is_whole = "total" not in shown or " 300 total" in said
            if code == 0 and alike(said) == alike(shown) and is_whole:
                break
            is_awaited = command.startswith(("wc", "tamis status")) and time.monotonic() < patience
            assert is_awaited, f"{command}: {said}"
            time.sleep(0.2)
        if command.startswith("tamis example"):
            [end] = re.findall(r"^```yaml\n(.*?)^```$", NETWORK, re.DOTALL | re.MULTILINE)
            text = self.sandbox.here(self.file.read_text())
            self.file.write_text(text[: text.index("\nlinks:\n") + 1] + end)
        if command.startswith("tamis up"):
            [self.process_of_b] = re.findall(r"^b: ready, process (\d+),", said, re.MULTILINE)

    def heard(self, subscriber: subprocess.Popen[str]) -> str:
        assert subscriber.stdout
        return subscriber.stdout.readline()

    def close(self) -> None:
        self.sandbox.run("tamis down plant.yaml")
        for subscriber in self.subscribers:
            os.killpg(subscriber.pid, signal.SIGKILL)
            subscriber.communicate(timeout=30)


READER_S = 6.0
"""Longer than `tamis analyze --settle`: a reader takes that long between some of the commands, and what is published
meanwhile certainly had to come."""


def run_network(folder: Path, commands: list[tuple[str, str]], reader_s: float = 0) -> Sandbox:
    """Run `commands` in `folder`, and return where further ones can be run when the network is down. The reader waits
    for `reader_s` before the jobs and before the kill."""
    network = Network(folder)
    try:
        for command, shown in commands:
            time.sleep(reader_s if " class=job --count" in command or command.startswith("kill") else 0)
            network.run(command, shown)
        desk = network.subscribers[0]
        heard = [network.heard(desk) for _ in range(3)]  # a sentence about the router that was killed is among them
        assert 'class="alert" severity=6\n' in heard
    finally:
        network.close()
    return network.sandbox


def network_commands() -> list[tuple[str, str]]:
    found = []
    for block in re.findall(r"^```shell-session\n(.*?)^```$", NETWORK, re.DOTALL | re.MULTILINE):
        for each in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = each.partition("\n")
            found.append((command, shown))
    return found


@pytest.mark.slow
def test_the_network_of_ones_own(tmp_path: Path) -> None:
    run_network(tmp_path, [each for each in network_commands() if not each[0].startswith("tamis analyze")])


@pytest.mark.long
def test_the_network_of_ones_own_and_its_report(tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    from pyarrow import parquet as pq

    from tamis.analysis.questions.verdict_counts import FAULTS, verdict_counts

    [(analyze, shown)] = [each for each in network_commands() if each[0].startswith("tamis analyze")]
    sandbox = run_network(tmp_path, [each for each in network_commands() if each[0] != analyze], READER_S)
    process = sandbox.begin(analyze)
    said, _ = process.communicate(timeout=900)
    assert process.returncode == 0, said
    assert said.endswith(shown)
    assert (tmp_path / shown.strip()).stat().st_size > 10_000
    counts = verdict_counts(tmp_path / "answers")
    due = sum(row["due"] for row in pq.read_table(tmp_path / "answers" / "delivery" / "counts").to_pylist())
    print(counts, "due:", due)
    assert counts is not None
    assert due >= 300, "the jobs had to come"
    assert {verdict: counts[verdict] for verdict in FAULTS} == dict.fromkeys(FAULTS, 0)
    assert counts["delivered"] >= 302


def test_the_last_part_has_what_a_network_is_for() -> None:
    begun = " ".join(" ".join(command.split()[:2]) for command, _ in network_commands())
    for each in ("example", "check", "up", "sub", "pub", "status", "down", "analyze"):
        assert f"tamis {each}" in begun
    assert "kill -9" in begun


def test_there_are_commands_and_files() -> None:
    assert len(CONSOLE) >= 6
    assert {name for name, _ in FILES} == {"hello.yaml", "hello.py", "filters.jsonl", "messages.jsonl", "deals.py"}


def test_what_it_points_to_is_there() -> None:
    for link in re.findall(r"\]\(([^)#]+)\)", PAGE):
        assert (ROOT / "docs" / link).exists()
