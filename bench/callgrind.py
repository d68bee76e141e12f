"""Instructions, counted by callgrind: the figure that a busy machine cannot move.

Law: only what runs inside one function of C is counted, in a child that runs a module of this project.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys

_COLLECTED = re.compile(r"Collected : (\d+)")


def is_installed() -> bool:
    return shutil.which("valgrind") is not None


def counted(function: str, module: str, *arguments: str) -> int:
    """Return the instructions inside `function` while `python -m module` runs with these arguments."""
    command = ["valgrind", "--tool=callgrind", f"--toggle-collect={function}", "--callgrind-out-file=/dev/null"]
    command += [sys.executable, "-m", module, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - our own command
    return int(_COLLECTED.findall(done.stderr)[-1])
