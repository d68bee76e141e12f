"""docs/how-to/three-teams.md: a reader who has nothing does all of it, and sees what the page prints."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.commands import ROOT
from tests.docs.sandbox import Sandbox

PAGE = (ROOT / "docs" / "how-to" / "three-teams.md").read_text()
LISTENS_S = 4.0
"""Seconds that the board has to subscribe before another terminal publishes."""
REFUSED = ("Error:", "rules.yaml:")
"""How the answer to a command begins that fails; one that prints counts of rules has no place in it."""


def steps() -> Iterator[tuple[str, list[str]]]:
    """Yield each command with the lines that the page shows below it."""
    block: list[str] = re.findall(r"^    (.*)$", re.sub(r"```.*?```", "", PAGE, flags=re.DOTALL), re.MULTILINE)
    starts = [at for at, line in enumerate(block) if line.startswith("$ ")]
    for at, end in zip(starts, [*starts[1:], len(block)], strict=True):
        yield block[at].removeprefix("$ "), block[at + 1 : end]


def is_to_fail(command: str, shown: list[str]) -> bool:
    is_mistake = bool(shown) and shown[0].startswith(REFUSED) and "passed" not in shown[0]
    return is_mistake or ("--durable orders" in command and "--name board" in command)


def note_token(sandbox: Sandbox, team: str, out: str) -> str:
    """Write the token of a team into its file; return the digest."""
    token, digest = re.findall(r"shown only now: (\S+)\n.*'(sha256:\w+)'", out)[0]
    (sandbox.folder / f"{team}.token").write_text(token)
    return digest


def write_files(sandbox: Sandbox, digests: dict[str, str]) -> None:
    """Write the files of the page, with the digests of the tokens."""
    blocks = re.findall(r"`(\w+\.yaml)`.*?```yaml\n(.*?)```", PAGE, re.DOTALL)
    assert [name for name, _ in blocks] == ["rules.yaml", "network.yaml"]
    for name, text in blocks:
        filled = re.sub(r"sha256:DIGEST-OF-(\w+)", lambda found: digests[found[1]], text)
        (sandbox.folder / name).write_text(sandbox.here(filled))


@pytest.mark.slow
def test_three_teams_share_a_network(tmp_path: Path) -> None:
    sandbox, digests = Sandbox(tmp_path), {}
    waiting: list[tuple[list[str], subprocess.Popen[str]]] = []
    try:
        for command, shown in steps():
            if command.startswith("chmod"):
                write_files(sandbox, digests)
            if command.startswith("tamis sub true"):
                waiting.append((shown, sandbox.begin(command)))
                time.sleep(LISTENS_S)
                continue
            code, out = sandbox.run(command)
            assert (code != 0) is is_to_fail(command, shown), (command, out)
            assert set(shown) <= set(sandbox.shown(out).splitlines()), (command, out)
            if command.startswith("tamis token new"):
                digests[command.split()[-1]] = note_token(sandbox, command.split()[-1], out)
        for shown, process in waiting:
            assert set(shown) <= set(process.communicate(timeout=30)[0].splitlines())
        assert len(digests) == 4
        assert len(waiting) == 1
    finally:
        sandbox.run("tamis down network.yaml")
