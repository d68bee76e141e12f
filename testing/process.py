"""Child processes that end with their parent.

Law: a child has a session of its own, so a Ctrl-C reaches only the parent, which then decides the order. If `setpriv`
is installed (util-linux, on every common Linux), the kernel kills the child when the thread that started it ends, for
any reason.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

_LAST_LINES: Final = 3
_LAST_BYTES_MAX: Final = 4_096


async def spawn(command: Sequence[str], log: Path, environment: Mapping[str, str]) -> asyncio.subprocess.Process:
    """Start `command` with a pipe for its output; its stderr is appended to `log`.

    `environment` is added to that of this process.
    """
    guard = shutil.which("setpriv")
    with log.open("ab") as errors:
        return await asyncio.create_subprocess_exec(
            *((guard, "--pdeathsig", "KILL") if guard else ()),
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=errors,
            env=os.environ | environment,
            start_new_session=True,
        )


def last_words(log: Path) -> str:
    """Return the last lines of a log, on one line; empty if there is none."""
    if not log.exists():
        return ""
    end = log.read_bytes()[-_LAST_BYTES_MAX:].decode(errors="replace")
    return " | ".join(end.splitlines()[-_LAST_LINES:])
