"""Which files a folder of logs has.

Law: a file that is there plain and compressed is read once, compressed: the plain one is about to go. What is still
being compressed is no file yet.
"""

from __future__ import annotations

from pathlib import Path

_COMPRESSED = ".gz"


def family_of(path: Path) -> str:
    return path.name.partition("-")[0]


def log_files(folder: Path, family: str) -> list[Path]:
    """Of all routers, sorted; the folder may be that of one router."""
    patterns = (f"{family}-*.jsonl", f"{family}-*.jsonl{_COMPRESSED}")
    found = {path for pattern in patterns for path in folder.rglob(pattern)}
    return sorted(path for path in found if path.with_name(path.name + _COMPRESSED) not in found)
