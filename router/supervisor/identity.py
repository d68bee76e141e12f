"""The identity of a process behind its number.

Law: a process is signalled only if its number and its start are the recorded ones, as numbers are reused by later
processes. The check and the signal use one descriptor, which excludes a race between them. Linux only.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_START_FIELD = 19
"""Field of /proc/PID/stat, counted after the name, which is in parentheses and may contain any character."""


@dataclass(frozen=True, slots=True)
class ProcessIdentity:
    """One process. `started` is the boot of the machine and the tick at which the process began."""

    pid: int
    started: str

    @classmethod
    def of(cls, pid: int) -> ProcessIdentity | None:
        """Return the identity of the process `pid`; None if there is none."""
        try:
            stat = Path(f"/proc/{pid}/stat").read_text()
            boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        except (FileNotFoundError, ProcessLookupError):
            return None
        return cls(pid, f"{boot}/{stat.rpartition(')')[2].split()[_START_FIELD]}")


class Handle:
    """A handle of one running process, whichever process started it."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._descriptor, number)

    def wait(self, seconds: float) -> bool:
        """Return whether the process ended within `seconds`."""
        poll = select.poll()
        poll.register(self._descriptor, select.POLLIN)
        return bool(poll.poll(max(0.0, seconds) * 1000))


@contextlib.contextmanager
def held(identity: ProcessIdentity) -> Iterator[Handle | None]:
    """Yield a handle of the process, or None if it has ended."""
    try:
        descriptor = os.pidfd_open(identity.pid)
    except (ProcessLookupError, OverflowError, ValueError):
        yield None
        return
    try:
        yield Handle(descriptor) if ProcessIdentity.of(identity.pid) == identity else None
    finally:
        os.close(descriptor)


def is_running(identity: ProcessIdentity) -> bool:
    with held(identity) as handle:
        return handle is not None and not handle.wait(0)
