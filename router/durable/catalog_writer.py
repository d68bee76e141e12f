"""Writer of catalog records: appends them to the log and reports when they are on disk.

Law: a record that the log rejects raises RequestRefused and changes nothing. Each callback that waits for a record is
called once: when the record is on disk, or when the log has failed. A subscription number is assigned once in the
lifetime of the log: numbers are reserved in blocks, each by a record.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from tamis.native.durables import SwitchDurables
from tamis.native.log import LogBusy, LogFailed, LogFull
from tamis.protocol.errors import Refused
from tamis.protocol.wire.codes import RefusalCode
from tamis.router.durable.catalog import NUMBERS_A_BLOCK, NUMBERS_TAKEN, written_numbers
from tamis.router.durable.commits import NOBODY, Commits
from tamis.router.durable.refusals import LOG_HAS_FAILED, RequestRefused

TOO_LONG: Final = (
    "the durable subscription is longer than the longest record of the log, a quarter of `durable.segment_bytes`"
)
Answer = Callable[[RequestRefused | None], None]


class CatalogWriter:
    """`taken`: numbers up to this one are reserved; `taken_in`: numbers of the records that reserve them."""

    def __init__(self, durables: SwitchDurables, taken: int, taken_in: Sequence[int]) -> None:
        self.has_failed = False
        self._durables = durables
        self._taken = self._reserved = taken
        self._taken_in = taken_in
        self._waiting: dict[int, Answer] = {}
        self._token = NOBODY
        self._commits = Commits(durables.all_figures().committed)

    def next_number(self) -> int:
        """Return a number that no durable subscription of this log has had. Raise RequestRefused if the log rejects the
        record that reserves it."""
        if self._taken >= self._reserved:
            reserved = self._taken + NUMBERS_A_BLOCK
            n = self.append(NUMBERS_TAKEN, written_numbers(reserved))
            for older in self._taken_in:
                self._durables.retire(older)
            self._taken_in, self._reserved = [n], reserved
        self._taken += 1
        return self._taken

    def append(self, kind: int, body: bytes) -> int:
        """Append a record and return its number in the log. Raise RequestRefused if the log rejects it."""
        return self.written(lambda: self._durables.append(kind, body))

    def written(self, do: Callable[[], int]) -> int:
        """Call `do`, which appends to the log, and return its result. Raise RequestRefused if the log rejects it."""
        try:
            return do()
        except LogFull:
            raise RequestRefused(RefusalCode.LOG_FULL, "the log has no room") from None
        except LogBusy:
            raise RequestRefused(RefusalCode.OVERLOADED, "the disk is behind; try again in a moment") from None
        except LogFailed:
            raise RequestRefused(RefusalCode.LOG_FAILED, LOG_HAS_FAILED) from None
        except Refused:
            raise RequestRefused(RefusalCode.OVER_QUOTA, TOO_LONG) from None

    def when_on_disk(self, n: int, answer: Answer) -> None:
        """Call `answer` when record `n` (0: the last one appended) is on disk, or with an error if the log has
        failed."""
        n = n or self._durables.all_figures().appended
        if n > self._commits.upto and self.has_failed:
            answer(RequestRefused(RefusalCode.LOG_FAILED, LOG_HAS_FAILED))
            return
        self._token += 1
        token = self._token
        self._waiting[token] = answer
        self._commits.await_(n, lambda: self._waiting.pop(token)(None), token)
        if token in self._waiting:
            self._durables.await_(n)

    def committed(self, n: int, has_failed: bool) -> None:
        """Record that the log is on disk up to `n`. `has_failed`: later records will never be."""
        self._commits.reach(n)
        if has_failed:
            self.has_failed = True
            for token in self._commits.give_up():
                self._waiting.pop(token)(RequestRefused(RefusalCode.LOG_FAILED, LOG_HAS_FAILED))
