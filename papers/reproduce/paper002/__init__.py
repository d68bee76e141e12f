"""Paper 002: link matching. Law: its charts, in the order of the paper."""

from __future__ import annotations

from tamis.papers.reproduce.paper002.bursts import BURSTS
from tamis.papers.reproduce.paper002.eventlog import EVENT_LOG
from tamis.papers.reproduce.paper002.live import LIVE
from tamis.papers.reproduce.paper002.loading import CHART_1
from tamis.papers.reproduce.paper002.matching import CHART_3
from tamis.papers.reproduce.paper002.prototype import PROTOTYPE
from tamis.papers.reproduce.paper002.steps import CHART_2
from tamis.papers.reproduce.paper002.trits import TRITS

FIGURES = (TRITS, CHART_1, BURSTS, CHART_2, CHART_3, PROTOTYPE, EVENT_LOG, LIVE)
