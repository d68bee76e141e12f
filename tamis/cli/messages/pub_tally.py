"""The counts of `tamis pub`: messages sent, and their outcomes, printed at the end.

Law: a message counts as "published" only if a router has confirmed it, and otherwise as "sent"; if the clock of the
router shows that it drops such messages, the output states that, too.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from typing import TYPE_CHECKING, Final

import click

from tamis.cli.progress import Progress
from tamis.cli.tables import duration, so_many
from tamis.client.errors import STORED_NOWHERE, PublishRefused
from tamis.protocol.shown import shown

if TYPE_CHECKING:
    from tamis.client.errors import PublishUnknown
    from tamis.client.receipt import Receipts

REASONS_SHOWN: Final = 3
"""The most reasons of refusals that are printed, each once; further messages are counted."""
_AHEAD_MAX_S: Final = 86_400
"""The lead of a clock over the router's beyond which the router drops messages (TOO_FAR_AHEAD)."""


class Tally:
    """The counts of messages to `router`. `is_confirmed`: the router confirms each message; `says_stored`: it also
    reports whether a durable subscription has it."""

    def __init__(self, router: str, *, is_confirmed: bool, says_stored: bool) -> None:
        self.sent = self.refused_lines = 0
        self.is_left_out = False
        """Whether an event had more values than a message has room for."""
        self.clock_ahead_s: float | None = None
        """By how much the clock of this machine is ahead of the router's; None if the router has sent no time."""
        self.first_unknown: PublishUnknown | None = None
        self._is_confirmed, self._says_stored = is_confirmed, says_stored
        self._published = self._stored = self._unstored = self._unknown = self._refused = 0
        self._reasons: Counter[str] = Counter()
        self._router = router
        self._began_s = time.monotonic()
        self._progress = Progress("messages published" if is_confirmed else "messages sent")

    @property
    def is_whole(self) -> bool:
        """Whether every message was sent, and none is known to be refused or dropped."""
        return not (self.refused_lines or self._refused or self._unknown or self._is_dropped)

    @property
    def is_all_stored(self) -> bool:
        return self._stored == self._published

    def sent_one(self) -> None:
        """Count a message without confirmation."""
        self.sent += 1
        self._progress.step()

    def confirmed(self, receipts: Receipts) -> None:
        """Count messages that the router has accepted."""
        self.sent += receipts.published
        self._published += receipts.published
        self._stored += receipts.stored
        self._unstored += receipts.unstored
        self._progress.step(receipts.published)

    def failed(self, error: PublishRefused | PublishUnknown) -> None:
        """Count a message that the router refused, or whose outcome is unknown."""
        self.sent += 1
        if not isinstance(error, PublishRefused):
            self._unknown += 1
            self.first_unknown = self.first_unknown or error
            return
        self._refused += 1
        reason = str(error)
        if reason in self._reasons or len(self._reasons) < REASONS_SHOWN:
            self._reasons[reason] += 1

    def sum_up(self, *, as_json: bool) -> None:
        seconds = time.monotonic() - self._began_s
        if as_json:
            click.echo(json.dumps({**self._counts(), "seconds": round(seconds, 6)}))
        for reason, count in self._reasons.items():
            of_many = f"{so_many(count, 'message')}: " if count > 1 else ""
            click.echo(shown(f"Error: {of_many}{reason}", keep="\n"), err=True)
        if self._is_ahead:
            click.echo(self._clock_sentence(), err=True)
        if self.is_left_out:
            click.echo("events had more values than messages have room for; `left-out` says how many", err=True)
        click.echo(self._sentence(seconds), err=True)

    @property
    def _is_ahead(self) -> bool:
        return (self.clock_ahead_s or 0.0) > _AHEAD_MAX_S

    @property
    def _is_dropped(self) -> bool:
        return self._is_ahead and not self._is_confirmed and self.sent > 0

    def _counts(self) -> dict[str, int | float]:
        counts: dict[str, int | float] = {"sent": self.sent}
        if self._is_confirmed:
            counts |= {"published": self._published, "unknown": self._unknown}
        if self._says_stored:
            counts |= {"stored": self._stored, "unstored": self._unstored}
        counts["refused"] = self._refused + self.refused_lines
        if self._is_ahead and self.clock_ahead_s is not None:
            counts["clock_ahead_s"] = round(self.clock_ahead_s, 3)
        return counts

    def _clock_sentence(self) -> str:
        ahead = duration(self.clock_ahead_s or 0.0)
        return (
            f"the clock here is {ahead} ahead of that of router {shown(self._router)!r}, which drops messages of "
            "clocks more than a day ahead of its own"
        )

    def _sentence(self, seconds: float) -> str:
        took, bad = duration(seconds), "".join(self._bad())
        if not self._is_confirmed:
            what = "sent, and dropped by the router" if self._is_dropped else "sent"
            return f"{so_many(self.sent, 'message')} {what} in {took}{bad}"
        count = so_many(self._published, "message")
        if self._says_stored and self._unstored == self._published > 0:
            return f"{count} published; {STORED_NOWHERE} ({took}){bad}"
        return f"{count} published in {took}{self._told_unstored()}{bad}"

    def _bad(self) -> list[str]:
        """Return the text about messages that were not published, or whose outcome is unknown."""
        refused = f", {self._refused:,} refused by the router" if self._refused else ""
        unknown = f", {self._unknown:,} without an answer" if self._unknown else ""
        lines = f", {so_many(self.refused_lines, 'line')} refused" if self.refused_lines else ""
        return [refused, unknown, lines]

    def _told_unstored(self) -> str:
        """Return the text about messages that are not known to be stored; empty if all are stored."""
        if not self._says_stored:
            return ""
        unknown = self._published - self._stored - self._unstored
        nowhere = f"; {self._unstored} of them not stored: no durable subscription that the router knows matches"
        unsaid = f"; {unknown} possibly stored: the router did not report it"
        return (nowhere if self._unstored else "") + (unsaid if unknown else "")
