"""Health of the log of stored messages, checked each second and logged when it changes.

Law: the router logs when a state begins and when it ends, with figures; a check reads memory and never the disk. While
the disk accepts no new file the router reports a problem and stays ready, because consumers free space in the log.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Final

from tamis.native.log import Log
from tamis.router.daemon.files import reason_of
from tamis.router.daemon.health import Health
from tamis.router.daemon.logs import fields

DISK: Final = "durable.disk"
FAILED: Final = "durable.log"
"""Names of the problems that Health receives."""
RANGES_SHOWN: Final = 10
HAS_FAILED: Final = "the log of stored messages cannot be written: its disk has failed"

_log = logging.getLogger(__name__)


def ranges_shown(log: Log) -> list[str]:
    """Return the first ranges of numbers that cannot be read."""
    return [f"{first:#x} to {last:#x}" for first, last in log.missing()[:RANGES_SHOWN]]


class LogWatch:
    """Watches `log` in `folder`, whose segments have `segment_bytes`. `refused`: returns the number of refused
    publishes."""

    def __init__(
        self,
        log: Log,
        folder: str,
        segment_bytes: int,
        health: Health,
        refused: Callable[[], int],
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._log, self._folder, self._segment_bytes = log, folder, segment_bytes
        self._health, self._refused, self._now_s = health, refused, now_s
        self._since: dict[str, tuple[float, int]] = {}
        """Current states: when each began, and the number of refused publishes at that time."""
        began = log.state()  # earlier damage was logged when the log was opened
        self._damaged, self._missing, self._aside = began["damaged"], began["missing"], 0

    def look(self) -> None:
        """Log and report the changes since the last check."""
        state = self._log.state()
        self._look_at_disk(state)
        self._look_at_room(state)
        self._look_at_damage(state)
        if state["is_failed"]:
            self._health.problem(FAILED, HAS_FAILED)
            if self._enter(FAILED):
                _log.error("the log of stored messages has failed", extra=self._about(state))

    def _look_at_disk(self, state: dict[str, int]) -> None:
        reason = reason_of(state["disk_error"])
        if not state["disk_error"]:
            self._health.mended(DISK)
            self._leave(DISK, "the disk of the log of stored messages accepts files again", state)
            return
        files = f"{state['spare']} spare files of {self._segment_bytes:,} bytes remain for acknowledgements"
        self._health.problem(
            DISK,
            f"{reason}: durable.folder {self._folder} accepts no further log file; {files}; "
            "once the last file is full, new messages are refused; stored messages are delivered",
            is_ready=True,
        )
        if self._enter(DISK):
            _log.error(
                "the disk of the log of stored messages accepts no file", extra=self._about(state, reason=reason)
            )

    def _look_at_room(self, state: dict[str, int]) -> None:
        if not state["is_full"]:
            self._leave("full", "the log of stored messages has room again", state)
        elif self._enter("full"):
            why = reason_of(state["disk_error"]) if state["disk_error"] else "it has reached durable.bytes"
            _log.error("the log of stored messages is full", extra=self._about(state, reason=why))

    def _look_at_damage(self, state: dict[str, int]) -> None:
        damaged, missing, aside = state["damaged"], state["missing"], state["set_aside"]
        if damaged > self._damaged or missing > self._missing:
            about = self._about(state, damaged=damaged, missing=missing, ranges=ranges_shown(self._log))
            _log.error("the log of stored messages is damaged", extra=about)
        if aside > self._aside:
            about = self._about(state, files=aside - self._aside, files_in_all=aside, damaged=damaged)
            _log.warning("a damaged file of the log of stored messages was moved to damaged/", extra=about)
        self._damaged, self._missing, self._aside = damaged, missing, aside

    # --- states ----------------------------------------------------------------------------------------------------

    def _enter(self, name: str) -> bool:
        """Record that state `name` holds; return whether it is new."""
        if name in self._since:
            return False
        self._since[name] = self._now_s(), self._refused()
        return True

    def _leave(self, name: str, text: str, state: dict[str, int]) -> None:
        """Log `text` and end state `name`, if it holds."""
        if name in self._since:
            since_s, refused = self._since.pop(name)
            took = {"seconds": round(self._now_s() - since_s, 1), "refused": self._refused() - refused}
            _log.warning(text, extra=self._about(state, **took))

    def _about(self, state: dict[str, int], **more: object) -> dict[str, object]:
        return fields(folder=self._folder, bytes=state["disk_bytes"], spare_files=state["spare"], **more)
