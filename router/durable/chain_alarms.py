"""Alarms of what is stored for other routers, and of what is missing of what they stored for this one.

Law: a condition is a problem of the router, which stays ready, until it has ended; an alarm is raised when it begins,
at most once a minute for each. What an entry has lost is an alarm each time.
"""

from __future__ import annotations

from typing import Final

from tamis.router.daemon.health import Health
from tamis.router.durable.alarms import NEARLY_FULL, OVER_BELOW
from tamis.router.durable.chains import DurableChains

SILENT_S: Final = 60.0
"""How long messages wait for a router that acknowledges none, until that is an alarm."""


class ChainAlarms:
    def __init__(self, health: Health) -> None:
        self._health = health
        self._problems: set[str] = set()
        """Names of the conditions that hold."""
        self._doubts: dict[str, int] = {}

    def look(self, chains: DurableChains) -> None:
        """Compare what holds now with the last look."""
        for router, each in chains.standings():
            waiting = f"{each.bytes:,} bytes wait for router {router}"
            self._note(
                f"custody: {router} is behind",
                f"{waiting}, which has acknowledged none for {each.silent_s:.0f} s: is it up, and has its log room?",
                holds=each.silent_s >= SILENT_S,
            )
            name = f"custody: {router} is nearly full"
            self._note(
                name,
                f"{waiting}, {each.full:.0%} of the bound by custody.bytes and custody.share: at 100% the oldest are "
                "given up, and its consumers are told, or new ones are refused (custody.overflow)",
                holds=each.full >= (OVER_BELOW if name in self._problems else NEARLY_FULL),
            )
        for router, missed in chains.missed():
            if missed.doubts > self._doubts.get(router, 0):
                self._health.alarm(
                    f"router {router} no longer has messages that it stored for this one: consumers of all durable "
                    "subscriptions here get a Gap (ENTRY_LOST)"
                )
            self._doubts[router] = missed.doubts

    def _note(self, name: str, text: str, *, holds: bool) -> None:
        if holds:
            self._health.problem(name, text, is_ready=True)
            if name not in self._problems:
                self._health.alarm_once(name, text)
            self._problems.add(name)
        elif name in self._problems:
            self._problems.discard(name)
            self._health.mended(name)
