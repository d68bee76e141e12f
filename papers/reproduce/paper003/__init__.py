"""Paper 003: DAS, distributed filtering algorithms compared. Law: its figures, in the order of the paper."""

from __future__ import annotations

from tamis.papers.reproduce.paper003.attributes import FIGURE_7
from tamis.papers.reproduce.paper003.classification import TABLE_1
from tamis.papers.reproduce.paper003.deviation import DEVIATION
from tamis.papers.reproduce.paper003.efficiency import FIGURES_OF_EFFICIENCY
from tamis.papers.reproduce.paper003.example import EXAMPLE
from tamis.papers.reproduce.paper003.fitting import PRICES
from tamis.papers.reproduce.paper003.growth import FIGURES_OF_GROWTH
from tamis.papers.reproduce.paper003.intersections import FIGURE_4
from tamis.papers.reproduce.paper003.live import LIVE
from tamis.papers.reproduce.paper003.memory import FIGURE_21
from tamis.papers.reproduce.paper003.traffic import FIGURES_OF_FRAMES

_OF_BROKERS = sorted(
    (*FIGURES_OF_EFFICIENCY, *FIGURES_OF_FRAMES, *FIGURES_OF_GROWTH), key=lambda figure: int(figure.id)
)
FIGURES = (EXAMPLE, FIGURE_4, FIGURE_7, *_OF_BROKERS, FIGURE_21, TABLE_1, PRICES, DEVIATION, LIVE)
