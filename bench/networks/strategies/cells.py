"""The cells of the table, in a file (`bench/cells.py`).

    {"key": "wan39 1000 x 50 %, 2000 events: advertise/tamis", "group": ..., "layout": ..., figures, "build": ...}

Law: cells are of one build: of the compiled extension, and of all Python that a figure depends on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from tamis.bench.cells import Cell, CellFile, digest, processor
from tamis.native import _tm
from tamis.protocol.strategies import BY_NAME, StrategyFacts

_ROOT: Final = Path(__file__).parents[3]
_PARTS: Final = ("protocol", "router/core", "simulate", "native", "bench/networks/strategies")


@dataclass(frozen=True, slots=True)
class Setup:
    """What contenders are compared on."""

    layout: str
    subscriptions: int
    coverable: int
    events: int

    def __str__(self) -> str:
        return f"{self.layout} {self.subscriptions} x {self.coverable} %, {self.events} events"


@dataclass(frozen=True, slots=True)
class Contender:
    """A strategy with an engine."""

    strategy: str
    engine: str

    def __str__(self) -> str:
        return f"{self.strategy}/{self.engine}"

    @property
    def facts(self) -> StrategyFacts:
        return BY_NAME[self.strategy]


class Cells:
    """What has been measured, here and in the runs before that wrote into `path`."""

    def __init__(self, path: Path | None) -> None:
        self._file = CellFile(path, {"build": build(), "processor": processor()})

    def has(self, setup: Setup, contender: Contender, budget_s: float) -> bool:
        """Return whether there is such a cell; one that was left out with less time than `budget_s` is not."""
        row = self._file.rows.get(f"{setup}: {contender}")
        return row is not None and ("skipped" not in row or row["budget_s"] >= budget_s)

    def put(self, setup: Setup, contender: Contender, figures: Mapping[str, Any]) -> None:
        head = {"key": f"{setup}: {contender}", "group": str(setup)}
        self._file.put(head | asdict(setup) | asdict(contender) | dict(figures))

    def group(self, setup: Setup) -> list[Cell]:
        return self._file.group(str(setup))


def build() -> str:
    """Return a digest of the compiled extension and of all Python that a figure depends on."""
    sources = sorted(file for part in _PARTS for file in (_ROOT / part).rglob("*.py"))
    return digest([Path(_tm.__file__), *sources])
