"""Any broker for the length of a `with` block: started in a folder of its own, ready, and gone afterwards.

Law: what is started here is stopped here, by its process id, however the block ends: first asked, then killed. It runs
in a session of its own, so that a Ctrl-C reaches us alone and we decide the order. The folder goes with it.
"""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from tamis.protocol.errors import TamisError
from tamis.testing.process import last_words

READY_S = 60
STOP_S = 15
_POLL_S = 0.002


class NotStarted(TamisError):
    """A daemon ended, or did not listen in time."""


@dataclass(frozen=True, slots=True)
class Launch:
    """How to start a program; `helper` is another one that must run before it and as long."""

    command: tuple[str, ...]
    port: int
    environment: Mapping[str, str] = field(default_factory=dict)
    helper: Launch | None = None


@dataclass(frozen=True, slots=True)
class Running:
    """A daemon that accepts connections; `ready_s` is how long that took from its start."""

    pid: int
    port: int
    ready_s: float


@contextmanager
def running(launch: Launch, folder: Path) -> Iterator[Running]:
    """The daemon, listening."""
    if launch.helper is not None:
        with running(launch.helper, folder), running(replace(launch, helper=None), folder) as daemon:
            yield daemon
        return
    log = folder / f"{Path(launch.command[0]).name}.log"
    start = time.perf_counter()
    with log.open("wb") as told:
        process = subprocess.Popen(  # noqa: S603 - our own command
            launch.command,
            cwd=folder,
            env=os.environ | launch.environment,
            stdin=subprocess.DEVNULL,
            stdout=told,
            stderr=told,
            start_new_session=True,
        )
    try:
        _wait_until_listening(process, launch.port, log)
        yield Running(process.pid, launch.port, time.perf_counter() - start)
    finally:
        _stop(process)


def resident_bytes(pid: int) -> int:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def _wait_until_listening(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + READY_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise NotStarted(f"exited at once with {process.returncode}: {last_words(log)}")
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(_POLL_S)
        else:
            return
    raise NotStarted(f"does not listen on port {port} within {READY_S} s")


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(STOP_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
