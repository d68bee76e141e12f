"""A single point of paper 004 over TCP: five routers in a ring that advertise what their clients want.

Law: frames of daemons are those of the fleet, and of the arithmetic that knows trees and who wants what.
"""

from __future__ import annotations

from typing import Final

from tamis.papers.reproduce.live import compared_on_ring, live_figure

LIVE: Final = live_figure(
    "004",
    "nothing: it is our check that messages go by the ways of the paper's broadcast.",
    lambda run: compared_on_ring(run, {"advertise": "sff"}),
    seconds=15,
)
