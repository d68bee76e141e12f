"""A container engine of a test's own.

Law: it lives in a folder and a network namespace of its own, so that it meets no other engine, takes no port of this
machine, and leaves nothing behind. Where none can be started, the test is skipped and says why. It reaches no registry:
the image that others are built from is a Debian made by mmdebstrap, or the tar file that TAMIS_TEST_BASE names.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

PROGRAMS = ("dockerd", "docker", "docker-compose", "unshare", "nsenter", "ip")
BASE = "python:3.11-slim-bookworm"
PATIENCE_S = 300


@dataclass(frozen=True, slots=True)
class Engine:
    """`pid` is that of dockerd, in whose network namespace ports are published."""

    folder: Path
    pid: int

    def run(self, *command: str | Path, **more: object) -> str:
        """What the command prints; it has to succeed."""
        done = self.ran(*command, **more)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout

    def ran(self, *command: str | Path, **more: object) -> subprocess.CompletedProcess[str]:
        environment = os.environ | {"DOCKER_HOST": f"unix://{self.folder}/socket", "DOCKER_BUILDKIT": "0"}
        options = {"env": environment, "capture_output": True, "text": True} | more
        return subprocess.run(command, check=False, **options)  # noqa: S603 - our own commands

    def import_base(self) -> None:
        made = os.environ.get("TAMIS_TEST_BASE")
        base = Path(made) if made else self.folder / "base.tar"
        if not made:
            self.run("mmdebstrap", "--variant=minbase", "--include=python3,python3-venv", "bookworm", base)
        self.run("docker", "import", base, BASE)


@contextlib.contextmanager
def engine() -> Iterator[Engine]:
    """Skips the test where there can be none."""
    wanted = PROGRAMS if "TAMIS_TEST_BASE" in os.environ else (*PROGRAMS, "mmdebstrap")
    missing = [program for program in wanted if not shutil.which(program)]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    if os.geteuid() != 0:
        pytest.skip("only root may start a container engine")
    with tempfile.TemporaryDirectory(prefix="tamis-engine-") as name, (Path(name) / "log").open("wb") as log:
        folder = Path(name)
        with subprocess.Popen(_command(folder), stdout=log, stderr=log) as process:  # noqa: S603 - our own command
            try:
                found = Engine(folder, process.pid)
                _wait(found, process)
                yield found
            finally:
                process.terminate()
                process.wait(PATIENCE_S)


def _command(folder: Path) -> list[str]:
    paths = f"--data-root={folder}/data --exec-root={folder}/exec --pidfile={folder}/pid -H unix://{folder}/socket"
    return ["unshare", "--net", "sh", "-c", f"ip link set lo up && exec dockerd {paths}"]


def _wait(found: Engine, process: subprocess.Popen[bytes]) -> None:
    until_s = time.monotonic() + PATIENCE_S
    while found.ran("docker", "info").returncode != 0:
        if process.poll() is not None or time.monotonic() > until_s:
            last = (found.folder / "log").read_text(errors="replace").strip().splitlines()[-1:]
            pytest.skip(f"no container engine can be started here: {' '.join(last)}")
