"""The file of the gallery: a JSON object a line for each cell.

Law: a line is never changed, and the last one of a key counts. Lines of another build, of other workloads or of another
processor stay in the file, and are not looked at.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from tamis.bench.matching.contenders import Contender, Setup
from tamis.bench.matching.journal import build_digests, processor

Cell = dict[str, Any]


class Cells:
    """What has been measured, here and in the runs before that wrote into `path`."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        digests = build_digests()
        self._about = {name: digests[name] for name in ("extension", "workloads")} | {"processor": processor()}
        self.run = f"{time.time_ns()}"
        """Of this process: cells of one run and group were measured in turns."""
        lines = _lines(path) if path is not None and path.exists() else []
        self._rows = {row["key"]: row for row in lines if self._about.items() <= row.items()}

    def has(self, key: str, cell_s: float, figures: set[str]) -> bool:
        """A cell that was left out with less time than `cell_s` is not there, nor is one that lacks such figures."""
        row = self._rows.get(key)
        if row is None:
            return False
        return bool(row["cell_s"] >= cell_s) if "skipped" in row else figures <= row.keys()

    def rows(self) -> list[Cell]:
        return list(self._rows.values())

    def group(self, setup: Setup) -> list[Cell]:
        return [row for row in self._rows.values() if row["group"] == group_of(setup)]

    def put(self, setup: Setup, contender: Contender, figures: dict[str, Any]) -> None:
        head = {"key": key_of(setup, contender), "group": group_of(setup), "run": self.run}
        asked = {"workload": setup.workload, "filters": setup.filter_count, "interfaces": setup.interface_count}
        asked |= {"messages": setup.message_count, "seed": setup.seed, "contender": contender.label}
        row = head | asked | figures | self._about
        self._rows[row["key"]] = row
        if self._path is not None:
            with self._path.open("a") as file:
                file.write(json.dumps(row) + "\n")


def group_of(setup: Setup) -> str:
    interfaces = "F" if setup.interface_count is None else setup.interface_count
    return f"{setup.workload} {setup.filter_count} x {interfaces} seed {setup.seed}"


def key_of(setup: Setup, contender: Contender) -> str:
    return f"{group_of(setup)}: {contender.label}"


def cells_of(path: Path) -> dict[str, Cell]:
    """By key, of whatever build: for a comparison. Figures of another processor are left out."""
    here = processor()
    return {row["key"]: row for row in _lines(path) if row.get("processor") == here}


def _lines(path: Path) -> list[Cell]:
    """A line without its end was cut short, and is cut off."""
    text = path.read_text()
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        path.write_text(whole)
    return [json.loads(line) for line in whole.splitlines()]
