"""Paper 004: forwarding in a content-based network. Law: its figures, in the order of the paper."""

from __future__ import annotations

from tamis.papers.reproduce.paper004.abstract import ABSTRACT
from tamis.papers.reproduce.paper004.example import EXAMPLE
from tamis.papers.reproduce.paper004.index import FIGURE_6
from tamis.papers.reproduce.paper004.live import LIVE
from tamis.papers.reproduce.paper004.losses import LOSSES
from tamis.papers.reproduce.paper004.network import NETWORK
from tamis.papers.reproduce.paper004.parameters import TABLE_1
from tamis.papers.reproduce.paper004.performance import FIGURE_8, FIGURE_9, FIGURE_10, FIGURE_11

FIGURES = (
    *(ABSTRACT, LOSSES, EXAMPLE, FIGURE_6, TABLE_1),
    *(FIGURE_8, FIGURE_9, FIGURE_10, FIGURE_11, NETWORK, LIVE),
)
