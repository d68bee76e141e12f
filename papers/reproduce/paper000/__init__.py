"""Paper 000: the forwarding table and the counting algorithm. Law: its figures, in the order of the paper."""

from __future__ import annotations

from tamis.papers.reproduce.paper000.example import EXAMPLE
from tamis.papers.reproduce.paper000.matches import FIGURE_10, FIGURE_11
from tamis.papers.reproduce.paper000.parameters import TABLE_1
from tamis.papers.reproduce.paper000.performance import CIRCUIT, FIGURE_9, FIGURE_12

FIGURES = (EXAMPLE, TABLE_1, FIGURE_9, FIGURE_10, FIGURE_11, FIGURE_12, CIRCUIT)
