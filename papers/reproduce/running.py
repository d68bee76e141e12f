"""Figures, one after the other: measured, judged, written down.

    out/cells.jsonl          every cell that was measured: a run that was interrupted goes on from there
    out/000/figure-9.json    a figure as soon as it is judged, with CSV, SVG and PNG
    out/verdicts.json, out/index.html, out/000.html     at the end, of all figures that stand in the folder

Law: what one figure does stops no other, but for a disagreement, which ends the run. The time left is that of the
figures to come, by what they take on two cores, times how much slower this machine has been so far.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tamis.bench.cells import CellFile
from tamis.papers.reproduce import outputs
from tamis.papers.reproduce.figure import FigureRun, PaperFigure, Reproduced, Scale
from tamis.papers.reproduce.measuring import build

SEED: Final = 2003
CELLS: Final = "cells.jsonl"
_SPOKEN_EVERY_S: Final = 2.0
_TRUSTED_S: Final = 30.0
"""The first figures are short, and say little of how slow a machine is: that long it is taken for one like ours."""


@dataclass(slots=True)
class TimeLeft:
    """Says on stderr what is measured, and how long all of it will still take."""

    figures: Sequence[PaperFigure]
    scale: Scale
    _done: int = 0
    _spent_s: float = 0.0
    _expected_s: float = 0.0
    _began_s: float = field(default_factory=time.monotonic)
    _spoke_s: float = 0.0

    def says(self, what: str) -> None:
        now_s = time.monotonic()
        if now_s - self._spoke_s < _SPOKEN_EVERY_S:
            return
        self._spoke_s = now_s
        figure = self.figures[self._done]
        where = f"{self._done + 1}/{len(self.figures)} {figure.paper} {figure.id}"
        print(f"{where}: {what} (about {_short(self._left_s(now_s))} left)", file=sys.stderr, flush=True)

    def begins(self) -> None:
        self._began_s = time.monotonic()

    def ends(self) -> float:
        """One figure is done; the seconds that it took."""
        took_s = time.monotonic() - self._began_s
        self._spent_s += took_s
        self._expected_s += self.figures[self._done].seconds[self.scale]
        self._done += 1
        return took_s

    def _left_s(self, now_s: float) -> float:
        slowness = (self._spent_s + _TRUSTED_S) / (self._expected_s + _TRUSTED_S)
        running = self.figures[self._done].seconds[self.scale] * slowness - (now_s - self._began_s)
        to_come = sum(figure.seconds[self.scale] for figure in self.figures[self._done + 1 :])
        return max(running, 0.0) + to_come * slowness


def run(figures: Sequence[PaperFigure], scale: Scale, seed: int, out: Path) -> list[Reproduced]:
    """Measure and judge the figures, and write all there is in `out`; Disagreement if an engine or a model is wrong."""
    out.mkdir(parents=True, exist_ok=True)
    cells = CellFile(out / CELLS, build())
    left = TimeLeft(figures, scale)
    done = []
    for figure in figures:
        left.begins()
        left.says("begins")
        work = FigureRun(figure.paper, scale, seed, figure.settings[scale], cells, left.says)
        rows = figure.measure(work)
        judgements = {criterion.name: criterion.judge(rows) for criterion in figure.criteria}
        done.append(Reproduced(figure, scale, seed, rows, judgements, left.ends()))
        outputs.write_figure(out, done[-1])
    outputs.write_pages(out)
    return done


def _short(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"
