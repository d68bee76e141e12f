"""A container engine of a test's own.

Law: it lives in a folder and a network namespace of its own, so that it meets no other engine, takes no port of this
machine, and leaves nothing behind; of a test that is killed its folder stays, and no process. Where none can be
started, or runs no container, the test is skipped and says why. It reaches no registry: the image that others are
built from is a Debian made by mmdebstrap, or the tar file that TAMIS_TEST_BASE names.
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
from typing import NoReturn

import pytest

PROGRAMS = ("dockerd", "docker", "docker-compose", "setpriv", "unshare", "nsenter", "ip")
BASE = "python:3.11-slim-bookworm"
LIMITS = ("--cpus=1", "--memory=1280m", "--ulimit=nofile=10256:10256")
"""As a router in a compose file has them; a machine that is itself confined may refuse them."""
PATIENCE_S = 300
"""For what takes seconds: a machine may have other things to do for a minute or two."""


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
        ours = {"DOCKER_HOST": f"unix://{self.folder}/socket", "DOCKER_BUILDKIT": "0"}
        patient = {"COMPOSE_HTTP_TIMEOUT": str(PATIENCE_S)}  # docker-compose 1.29 gives up on a busy engine after 60 s
        options = {"env": os.environ | ours | patient, "capture_output": True, "text": True} | more
        return subprocess.run(command, check=False, **options)  # noqa: S603 - our own commands

    def import_base(self, *packages: str) -> None:
        """With further `packages` of Debian, which a tar file of TAMIS_TEST_BASE has or has not. Skips the test if it
        cannot be had, or does not run."""
        made = os.environ.get("TAMIS_TEST_BASE")
        base = Path(made) if made else self.folder / "base.tar"
        if not made:
            included = ",".join(("python3", "python3-venv", *packages))
            debian = ("mmdebstrap", "--variant=minbase", f"--include={included}", "bookworm", base)
            _or_skip("no Debian for its images", self.ran(*debian))
        self.run("docker", "import", base, BASE)
        _or_skip("it runs no container", self.ran("docker", "run", "--rm", *LIMITS, BASE, "true"))


@contextlib.contextmanager
def engine() -> Iterator[Engine]:
    """Skips the test where there can be none."""
    wanted = PROGRAMS if "TAMIS_TEST_BASE" in os.environ else (*PROGRAMS, "mmdebstrap")
    missing = [program for program in wanted if not shutil.which(program)]
    if missing:
        _skip(f"not installed: {', '.join(missing)}")
    if os.geteuid() != 0:
        _skip("only root may")
    with tempfile.TemporaryDirectory(prefix="tamis-engine-") as name, (Path(name) / "log").open("wb") as log:
        folder = Path(name)
        with subprocess.Popen(_command(folder), stdout=log, stderr=log) as process:  # noqa: S603 - our own command
            try:
                found = Engine(folder, process.pid)
                _wait(found, process)
                yield found
            finally:
                _end(process)


def _command(folder: Path) -> list[str]:
    """All of it is one process, so that a signal reaches dockerd; which gets one when this process is gone."""
    paths = f"--data-root={folder}/data --exec-root={folder}/exec --pidfile={folder}/pid -H unix://{folder}/socket"
    bound = ["setpriv", "--pdeathsig", "TERM", "unshare", "--net", "--mount"]
    return [*bound, "sh", "-c", f"ip link set lo up && exec dockerd {paths}"]


def _wait(found: Engine, process: subprocess.Popen[bytes]) -> None:
    until_s = time.monotonic() + PATIENCE_S
    while found.ran("docker", "info").returncode != 0:
        if process.poll() is not None or time.monotonic() > until_s:
            _skip(_last_line((found.folder / "log").read_text(errors="replace")))


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        raise


def _or_skip(why: str, done: subprocess.CompletedProcess[str]) -> None:
    if done.returncode != 0:
        _skip(f"{why}: {_last_line(done.stderr)}")


def _skip(why: str) -> NoReturn:
    pytest.skip(f"no container engine can be started here: {why}")


def _last_line(text: str) -> str:
    return " ".join(text.strip().splitlines()[-1:])
