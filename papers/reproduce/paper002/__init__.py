"""Paper 002: link matching. Law: its charts, in the order of the paper."""

from __future__ import annotations

from tamis.papers.reproduce.paper002.eventlog import EVENT_LOG
from tamis.papers.reproduce.paper002.live import LIVE
from tamis.papers.reproduce.paper002.loading import CHART_1
from tamis.papers.reproduce.paper002.matching import CHART_3
from tamis.papers.reproduce.paper002.steps import CHART_2

FIGURES = (CHART_1, CHART_2, CHART_3, EVENT_LOG, LIVE)
