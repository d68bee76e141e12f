"""Paper 003: DAS, distributed filtering algorithms compared. Law: its figures, in the order of the paper."""

from __future__ import annotations

from tamis.bench.reproduce.paper003.attributes import FIGURE_7
from tamis.bench.reproduce.paper003.intersections import FIGURE_4
from tamis.bench.reproduce.paper003.traffic import FIGURES_OF_FRAMES
from tamis.bench.reproduce.paper003.waiting import WAITING

FIGURES = (FIGURE_4, FIGURE_7, *FIGURES_OF_FRAMES, *WAITING)
