"""The cells of the gallery, in a file (`bench/cells.py`).

Law: cells are of one build of the extension, and of one state of the workloads.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from tamis.bench.cells import Cell, CellFile, cells_in, digest, processor
from tamis.bench.matching.contenders import Contender, Setup
from tamis.native import _tm

_MATCHING = Path(__file__).parents[1]


class Cells:
    """What has been measured, here and in the runs before that wrote into `path`."""

    def __init__(self, path: Path | None) -> None:
        self._file = CellFile(path, digests() | {"processor": processor()})
        self.run = f"{time.time_ns()}"
        """Of this process: cells of one run and group were measured in turns."""

    def has(self, key: str, cell_s: float, figures: set[str]) -> bool:
        """A cell that was left out with less time than `cell_s` is not there, nor is one that lacks such figures."""
        row = self._file.rows.get(key)
        if row is None:
            return False
        return bool(row["cell_s"] >= cell_s) if "skipped" in row else figures <= row.keys()

    def rows(self) -> list[Cell]:
        return list(self._file.rows.values())

    def group(self, setup: Setup) -> list[Cell]:
        return self._file.group(group_of(setup))

    def put(self, setup: Setup, contender: Contender, figures: dict[str, Any]) -> None:
        head = {"key": key_of(setup, contender), "group": group_of(setup), "run": self.run}
        asked = {"workload": setup.workload, "filters": setup.filter_count, "interfaces": setup.interface_count}
        asked |= {"messages": setup.message_count, "seed": setup.seed, "contender": contender.label}
        self._file.put(head | asked | figures)


def digests() -> dict[str, str]:
    """Of the compiled extension, and of what draws filters and messages."""
    drawing = sorted([*(_MATCHING / "workloads").glob("*.py"), _MATCHING / "words.py"])
    return {"extension": digest([Path(_tm.__file__)]), "workloads": digest(drawing)}


def group_of(setup: Setup) -> str:
    interfaces = "F" if setup.interface_count is None else setup.interface_count
    return f"{setup.workload} {setup.filter_count} x {interfaces} seed {setup.seed}"


def key_of(setup: Setup, contender: Contender) -> str:
    return f"{group_of(setup)}: {contender.label}"


def cells_of(path: Path) -> dict[str, Cell]:
    """By key, of whatever build: for a comparison. Figures of another processor are left out."""
    here = processor()
    return {row["key"]: row for row in cells_in(path) if row.get("processor") == here}
