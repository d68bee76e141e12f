"""One run of one figure: its settings, its seed, and cells that are kept in a file.

Law: a cell is a function of its key, the paper, the scale and the seed; two figures of a paper that ask for one key
share the cell. A cell that was measured by another build, or on another processor, is measured anew.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tamis.bench.cells import CellFile, digest, processor
from tamis.bench.reproduce.figure import Scale, Settings
from tamis.native import _tm

BENCH: Final = Path(__file__).parents[1]
MODELS: Final = BENCH.parent / "simulate" / "models"

Say = Callable[[str], None]


def build() -> dict[str, str]:
    """What must be equal for a cell to be taken over: the compiled C, what measures, the models, the machine."""
    measures = [*(BENCH / "reproduce").rglob("*.py"), *(BENCH / "matching").rglob("*.py"), *MODELS.rglob("*.py")]
    return {
        "extension": digest([Path(_tm.__file__)]),
        "bench": digest(sorted(measures)),
        "processor": processor(),
    }


@dataclass(frozen=True, slots=True)
class FigureRun:
    """What a figure measures with."""

    paper: str
    scale: Scale
    seed: int
    settings: Settings
    cells: CellFile
    say: Say

    def cell(self, key: str, measure: Callable[[], Any]) -> Any:  # noqa: ANN401 - JSON
        """What `measure` gives (plain JSON), from the file if it is there."""
        name = f"{self.paper} {self.scale} {self.seed} {key}"
        if name not in self.cells.rows:
            self.say(key)
            value = json.loads(json.dumps(measure()))  # the same, whether it was kept or is new
            self.cells.put({"key": name, "group": self.paper, "value": value})
        return self.cells.rows[name]["value"]

    def numbers(self, name: str) -> list[int]:
        """A setting that is a list of whole numbers."""
        values = self.settings[name]
        if not isinstance(values, list | tuple):
            raise ValueError(f"setting {name} is {values!r}, no list")
        return [int(value) for value in values]

    def whole(self, name: str) -> int:
        """A setting that is a whole number."""
        value = self.settings[name]
        if not isinstance(value, int):
            raise ValueError(f"setting {name} is {value!r}, no whole number")
        return value

    def shares(self, name: str) -> list[float]:
        """A setting that is a list of numbers."""
        values = self.settings[name]
        if not isinstance(values, list | tuple):
            raise ValueError(f"setting {name} is {values!r}, no list")
        return [float(value) for value in values]
