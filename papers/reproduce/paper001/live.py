"""Single points of paper 001 over TCP: five routers in a ring, that reuse what was matched where a message entered.

Law: frames of daemons are those of the fleet, and of the arithmetic that knows trees and who wants what.
"""

from __future__ import annotations

from typing import Final

from tamis.papers.reproduce.live import compared_on_ring, live_figure

_ENGINES: Final = dict.fromkeys(("link-matching", "link-matching-destinations", "match-first"), "kdtree")
"""Reuse never, where tables are equal, and always."""

LIVE: Final = live_figure(
    "001",
    "nothing: it is our check that reuse changes no way of a message.",
    lambda run: compared_on_ring(run, _ENGINES),
    seconds=40,
)
