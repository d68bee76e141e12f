"""The memory of a process, as the system reports it."""

from __future__ import annotations

import re
from pathlib import Path


def own_bytes(pid: int) -> int:
    """Return the memory that process `pid` has for itself."""
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return sum(int(kib) << 10 for kib in re.findall(r"^Private_(?:Clean|Dirty):\s+(\d+) kB", text, re.MULTILINE))
