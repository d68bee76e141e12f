"""Paper 001: lookup reuse. Law: its figures, in the order of the paper."""

from __future__ import annotations

from tamis.papers.reproduce.paper001.extensions import COVERING, GENERAL_GRAPHS
from tamis.papers.reproduce.paper001.fleet import FLEET
from tamis.papers.reproduce.paper001.live import LIVE
from tamis.papers.reproduce.paper001.overhead import FIGURES_1_TO_4, KEYS
from tamis.papers.reproduce.paper001.unitcosts import TABLE_1

FIGURES = (TABLE_1, *FIGURES_1_TO_4, FLEET, KEYS, GENERAL_GRAPHS, COVERING, LIVE)
