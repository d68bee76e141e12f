"""Writes the records of keeps to the log, and says when they are on disk.

Law: what the log does not take is refused with a sentence, and nothing of it is done; who waits for a record is
answered once, when it is on disk or never will be. A number of a keep is given once in all lives of the log: numbers
are reserved in blocks, each by a record.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from tamis.native.keeps import SwitchKeeps
from tamis.native.log import LogBusy, LogFailed, LogFull
from tamis.protocol.errors import Refused
from tamis.protocol.wire.codes import RefusalCode
from tamis.router.kept.book import NUMBERS_A_BLOCK, NUMBERS_TAKEN, written_numbers
from tamis.router.kept.commits import NOBODY, Commits
from tamis.router.kept.refusals import LOG_HAS_FAILED, RequestRefused

TOO_LONG: Final = (
    "the keep is longer than a record of this router's log, which has at most a quarter of `kept.segment_bytes`"
)
Answer = Callable[[RequestRefused | None], None]


class BookWriter:
    """`taken`: the numbers up to this one are given; `taken_in`: the records that say so."""

    def __init__(self, keeps: SwitchKeeps, taken: int, taken_in: Sequence[int]) -> None:
        self.has_failed = False
        self._keeps = keeps
        self._taken = self._reserved = taken
        self._taken_in = taken_in
        self._waiting: dict[int, Answer] = {}
        self._token = NOBODY
        self._commits = Commits(keeps.all_figures().committed)

    def next_number(self) -> int:
        """Return a number that no keep of this log ever had. RequestRefused: the log takes nothing."""
        if self._taken >= self._reserved:
            reserved = self._taken + NUMBERS_A_BLOCK
            n = self.append(NUMBERS_TAKEN, written_numbers(reserved))
            for older in self._taken_in:
                self._keeps.retire(older)
            self._taken_in, self._reserved = [n], reserved
        self._taken += 1
        return self._taken

    def append(self, kind: int, body: bytes) -> int:
        """Write a record, and return its number in the log. RequestRefused: the log does not take it."""
        return self.written(lambda: self._keeps.append(kind, body))

    def written(self, do: Callable[[], int]) -> int:
        """Return what `do` does, which writes to the log; RequestRefused where that takes no more."""
        try:
            return do()
        except LogFull:
            raise RequestRefused(RefusalCode.LOG_FULL, "the log has no room") from None
        except LogBusy:
            raise RequestRefused(RefusalCode.OVERLOADED, "the disk is behind: again in a moment") from None
        except LogFailed:
            raise RequestRefused(RefusalCode.LOG_FAILED, LOG_HAS_FAILED) from None
        except Refused:
            raise RequestRefused(RefusalCode.OVER_QUOTA, TOO_LONG) from None

    def when_on_disk(self, n: int, answer: Answer) -> None:
        """Call `answer` once record `n` is on disk (0: all that is written by now), or will never be."""
        n = n or self._keeps.all_figures().appended
        if n > self._commits.upto and self.has_failed:
            answer(RequestRefused(RefusalCode.LOG_FAILED, LOG_HAS_FAILED))
            return
        self._token += 1
        token = self._token
        self._waiting[token] = answer
        self._commits.await_(n, lambda: self._waiting.pop(token)(None), token)
        if token in self._waiting:
            self._keeps.await_(n)

    def committed(self, n: int, has_failed: bool) -> None:
        """Take in that the log is on disk up to `n`, and whether anything will follow."""
        self._commits.reach(n)
        if has_failed:
            self.has_failed = True
            for token in self._commits.give_up():
                self._waiting.pop(token)(RequestRefused(RefusalCode.LOG_FAILED, LOG_HAS_FAILED))
