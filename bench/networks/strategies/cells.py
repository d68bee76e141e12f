"""The file of the table: a JSON object a line for each cell.

    {"key": "wan39 1000 x 50 %, 2000 events: advertise/tamis", "group": ..., "layout": ..., figures, "build": ...}

Law: a line is never changed, and the last one of a key counts. Lines of another build or of another processor stay in
the file, and are not looked at. A line that was cut short is cut off.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from tamis.native import _tm
from tamis.protocol.strategies import BY_NAME, StrategyFacts

Cell = dict[str, Any]
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
        self._path = path
        self._about = {"build": build(), "processor": processor()}
        lines = _lines(path) if path is not None and path.exists() else []
        self._rows: dict[str, Cell] = {row["key"]: row for row in lines if self._about.items() <= row.items()}

    def has(self, setup: Setup, contender: Contender, budget_s: float) -> bool:
        """Return whether there is such a cell; one that was left out with less time than `budget_s` is not."""
        row = self._rows.get(f"{setup}: {contender}")
        return row is not None and ("skipped" not in row or row["budget_s"] >= budget_s)

    def put(self, setup: Setup, contender: Contender, figures: Mapping[str, Any]) -> None:
        head = {"key": f"{setup}: {contender}", "group": str(setup)} | asdict(setup) | asdict(contender)
        row: Cell = head | dict(figures) | self._about
        self._rows[row["key"]] = row
        if self._path is not None:
            with self._path.open("a") as file:
                file.write(json.dumps(row) + "\n")

    def group(self, setup: Setup) -> list[Cell]:
        return [row for row in self._rows.values() if row["group"] == str(setup)]


def build() -> str:
    """Return a digest of the compiled extension and of all Python that a figure depends on."""
    sources = sorted(file for part in _PARTS for file in (_ROOT / part).rglob("*.py"))
    contents = (path.read_bytes() for path in (Path(_tm.__file__), *sources))
    return hashlib.sha256(b"".join(contents)).hexdigest()[:16]


def processor() -> str:
    """Return the name of this machine's processor."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    named = (line.partition(": ")[2] for line in lines if line.startswith("model name"))
    return next(named, platform.processor())


def _lines(path: Path) -> list[Cell]:
    text = path.read_text()
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        path.write_text(whole)
    return [json.loads(line) for line in whole.splitlines()]
