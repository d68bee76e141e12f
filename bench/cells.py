"""A file of results, a JSON object a line for each cell, so that a run that was interrupted goes on.

Law: a line is never changed, and the last one of a key counts. Lines of another build or of another processor stay in
the file, and are not looked at. A line that was cut short is cut off.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterable
from pathlib import Path
from typing import Any

Cell = dict[str, Any]


class CellFile:
    """The cells of `path` by key, of those that say `about`; without a path, those of this run alone."""

    def __init__(self, path: Path | None, about: Cell) -> None:
        self._path, self._about = path, about
        kept = cells_in(path) if path is not None and path.exists() else []
        self.rows: dict[str, Cell] = {row["key"]: row for row in kept if about.items() <= row.items()}

    def put(self, cell: Cell) -> None:
        """Keep a cell under its `key`."""
        row = cell | self._about
        self.rows[row["key"]] = row
        if self._path is not None:
            with self._path.open("a") as file:
                file.write(json.dumps(row) + "\n")

    def group(self, name: str) -> list[Cell]:
        return [row for row in self.rows.values() if row["group"] == name]


def cells_in(path: Path) -> list[Cell]:
    """Return all cells of a file, of whatever build."""
    text = path.read_text()
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        path.write_text(whole)
    return [json.loads(line) for line in whole.splitlines()]


def digest(paths: Iterable[Path]) -> str:
    """Return a short digest of what files hold."""
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()[:16]


def processor() -> str:
    """Return the name of this machine's processor."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    named = (line.partition(": ")[2] for line in lines if line.startswith("model name"))
    return next(named, platform.processor())
