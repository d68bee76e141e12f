"""What is reproduced: a figure or table of a paper, with what it claims.

    settings -> measure(run) -> rows -> criteria -> verdicts
                                     -> plots

Law: rows are flat (a name and a plain value each), so that CSV, JSON, plots and criteria read the same thing. Every
verdict has numbers.
"""

from __future__ import annotations

import enum
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from tamis.bench.cells import CellFile
from tamis.protocol.errors import TamisError

Scalar = str | int | float | bool | None
ResultRow = Mapping[str, Scalar]
ResultRows = Sequence[ResultRow]
Say = Callable[[str], None]
OF_PAPER: Final = " (paper)"
"""Ends the name of a line whose points the paper states."""
Settings = Mapping[str, Scalar | Sequence[int] | Sequence[float] | Sequence[str]]


class Disagreement(TamisError):
    """Two ways to compute one thing differ: an engine and its model, or two engines. No figure is worth anything."""


class Scale(enum.StrEnum):
    """How large a run is: `small` ends in minutes, `paper` has the sizes of the papers."""

    SMALL = "small"
    PAPER = "paper"


class Ruling(enum.StrEnum):
    """What is said of a claim."""

    HOLDS = "holds"
    DIFFERS = "differs"
    OPEN = "cannot be judged"


@dataclass(frozen=True, slots=True)
class Judgement:
    """What is said of one claim: `ours` has the numbers, `why` the reason, which a claim that holds need not have.

    `readings` has every reading of a claim whose text leaves something open, and is empty for other claims.
    """

    ruling: Ruling
    ours: str
    why: str = ""
    readings: tuple[Reading, ...] = ()

    def __post_init__(self) -> None:
        if self.ruling is not Ruling.HOLDS and not self.why:
            raise ValueError(f"a claim that {self.ruling} needs a reason: {self.ours}")

    def told(self) -> dict[str, Any]:
        """The judgement as JSON has it, with its readings."""
        readings = [
            {"name": each.name, "suggested": each.is_suggested}
            | {"verdict": each.judged.ruling, "ours": each.judged.ours, "why": each.judged.why}
            for each in self.readings
        ]
        return {"verdict": self.ruling, "ours": self.ours, "why": self.why, "readings": readings}


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to read a claim whose text leaves something open, and what is said of the claim that is read so.

    `name` is the way in plain words: "by counted updates". `is_suggested`: the paper's own figures suggest it.
    """

    name: str
    judged: Judgement
    is_suggested: bool = False


@dataclass(frozen=True, slots=True)
class Criterion:
    """A claim of a paper: `name` is unique, `claim` is in our words, `paper` has the paper's own numbers."""

    name: str
    claim: str
    paper: str
    judge: Callable[[ResultRows], Judgement]


@dataclass(frozen=True, slots=True)
class PlotSpec:
    """What of the rows is drawn: a line for each value of `by`, of the rows that `where` chooses.

    `kind` is `line`, `bars` (a group for each x), or `stack` (bars on one another). The labels of the axes say what is
    counted, and in which unit; `by_label` is the title of the legend, `by` where it is empty. `paper` has the points
    that the text of the paper states, as rows with the columns `x`, `y` and `by`.
    """

    title: str
    x: str
    y: str
    by: str
    x_label: str
    y_label: str
    log_x: bool = False
    log_y: bool = False
    kind: str = "line"
    where: Mapping[str, Scalar] = field(default_factory=dict)
    by_label: str = ""
    paper: Sequence[ResultRow] = ()

    def chosen(self, rows: ResultRows) -> list[ResultRow]:
        """The rows that are drawn."""
        fitting = (row for row in rows if all(row.get(name) == value for name, value in self.where.items()))
        return [row for row in fitting if row.get(self.x) is not None and row.get(self.y) is not None]

    def of_paper(self, line: str, points: Sequence[tuple[float, float]]) -> PlotSpec:
        """Return this plot with the points (x, y) that the paper states for one more line."""
        stated: list[ResultRow] = [{self.x: x, self.y: y, self.by: line + OF_PAPER} for x, y in points]
        return replace(self, paper=(*self.paper, *stated))


@dataclass(frozen=True, slots=True)
class FigureRun:
    """What a figure measures with: settings, a seed, and cells that are kept in a file.

    A cell is a function of its key, the paper, the scale and the seed; two figures of a paper that ask for one key
    share the cell.
    """

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


@dataclass(frozen=True, slots=True)
class PaperFigure:
    """One figure or table of a paper.

    `shows` is the paper's figure in words, `chosen` what we chose where its text is silent. `seconds` is how long a run
    takes on two cores, for the time that is left. `is_exact`: equal settings and seed give equal rows on every machine.
    `needs_daemons`: it starts routers as processes, and is run where it is asked for.
    """

    paper: str
    id: str
    title: str
    shows: str
    chosen: str
    settings: Mapping[Scale, Settings]
    measure: Callable[[FigureRun], list[ResultRow]]
    criteria: Sequence[Criterion]
    plots: Sequence[PlotSpec] = ()
    seconds: Mapping[Scale, float] = field(default_factory=lambda: {Scale.SMALL: 5.0, Scale.PAPER: 30.0})
    is_exact: bool = False
    needs_daemons: bool = False

    @property
    def name(self) -> str:
        """The file name without its suffix."""
        return f"figure-{self.id}" if self.id[0].isdigit() else self.id

    @property
    def heading(self) -> str:
        return f"Figure {self.id}: {self.title}" if self.id[0].isdigit() else self.title


@dataclass(frozen=True, slots=True)
class Reproduced:
    """One figure that was run: its rows, and what is said of each of its claims."""

    figure: PaperFigure
    scale: Scale
    seed: int
    rows: ResultRows
    judgements: dict[str, Judgement]
    seconds: float
