"""Instructions, counted by callgrind: the figure that a busy machine cannot move.

Law: only what runs inside one function of C is counted, in a child that runs a module of this project.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys

from tamis.protocol.errors import TamisError


class NotCounted(TamisError):
    """No instruction was counted."""


_COLLECTED = re.compile(r"Collected : (\d+)")


def is_installed() -> bool:
    return shutil.which("valgrind") is not None


def counted(function: str, module: str, *arguments: str) -> int:
    """Return the instructions inside `function` while `python -m module` runs with these arguments; raise NotCounted if
    it was not called, or has no symbol."""
    command = ["valgrind", "--tool=callgrind", f"--toggle-collect={function}", "--callgrind-out-file=/dev/null"]
    command += [sys.executable, "-m", module, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - our own command
    instructions = int(_COLLECTED.findall(done.stderr)[-1])
    if not instructions:
        raise NotCounted(f"callgrind saw no call of {function}: is it inlined, or are its symbols stripped?")
    return instructions
