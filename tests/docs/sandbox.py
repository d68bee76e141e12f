"""A folder in which commands of pages are run as their readers run them.

Law: nothing outside of the folder is written, and addresses of the pages stand for others that are free.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

from tests.docs.commands import ROOT
from tests.routers import free_port

ENDLESS_S = 3.0
"""Seconds after which a command that goes on until Ctrl-C is given one."""


class Sandbox:
    """A folder with a network.yaml in it, where commands of pages are run. Addresses of the pages stand for others."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shown = [port for at in range(3) for port in (7400 + at, 7500 + at, 7600 + at)]
        free: set[int] = set()  # the system may give a free port twice
        while len(free) < len(shown):
            free.add(free_port())
        self.ports = {str(port): str(own) for port, own in zip(shown, free, strict=True)}
        (folder / "network.yaml").write_text(self.here(_NETWORK))
        (folder / "configs").symlink_to(ROOT / "configs")
        (folder / "bin").mkdir()
        for name in ("tamis", "python"):
            (folder / "bin" / name).symlink_to(Path(sys.executable).with_name(name))
        kept = {name: value for name, value in os.environ.items() if not name.startswith("TAMIS_")}
        self.environment = kept | {
            "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
            "HOME": str(folder),
            "XDG_STATE_HOME": str(folder / "state"),
            "XDG_CONFIG_HOME": str(folder / "config"),
            "TAMIS_URL": self.here("tamis://127.0.0.1:7400"),
            "TAMIS_ADMIN": self.here("127.0.0.1:7600"),
        }

    def here(self, text: str) -> str:
        return re.sub(r"(?<=127\.0\.0\.1:)\d+", lambda port: self.ports.get(port[0], port[0]), text)

    def shown(self, text: str) -> str:
        """What was printed, with the addresses of the pages in place of those that were used."""
        for page, used in self.ports.items():
            text = re.sub(rf"(?<=127\.0\.0\.1:){used}\b", page, text)
        return text.replace(str(self.folder), "/home/you")

    def begin(self, text: str) -> subprocess.Popen[str]:
        """Start a command whose output is read from its `stdout`."""
        command = ["bash", "-o", "pipefail", "-c", self.here(text)]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        return subprocess.Popen(  # noqa: S603
            command, cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, start_new_session=True, **pipes
        )

    def run(self, text: str) -> tuple[int, str]:
        """Run a command until it ends, or gets a Ctrl-C as one that goes on; its exit code, and all that it printed."""
        with self.begin(text) as process:
            try:
                out, _ = process.communicate(timeout=ENDLESS_S if is_endless(text) else 60)
                assert not is_endless(text), f"{text} has ended by itself: {out}"
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGINT)
                try:
                    out, _ = process.communicate(timeout=30)
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, signal.SIGKILL)
                    raise
                assert is_endless(text), f"{text} does not end: {out}"
                return 0 if process.returncode in (0, 130, -signal.SIGINT) else process.returncode, out
            return process.returncode, out


def is_endless(text: str) -> bool:
    """Does the command go on until Ctrl-C?"""
    words = text.partition("#")[0].split()
    return words[:2] == ["tamis", "router"] or (
        words[:1] == ["tamis"]
        and (words[1] in ("up", "sub", "top") or bool({"-f", "--follow"} & {*words}))
        and not {"--detach", "--once", "--count", "--timeout"} & {*words}
    )


_NETWORK = """\
records: {messages: all}
unmatched: {share: 1}
routers:
  a: {clients: 127.0.0.1:7400, neighbours: 127.0.0.1:7500, admin: 127.0.0.1:7600, data: run/a}
  b: {clients: 127.0.0.1:7401, neighbours: 127.0.0.1:7501, admin: 127.0.0.1:7601, data: run/b}
  c: {clients: 127.0.0.1:7402, neighbours: 127.0.0.1:7502, admin: 127.0.0.1:7602, data: run/c}
links: [[a, b], [b, c]]
"""
