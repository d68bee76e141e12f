"""The thread that writes records: events from a queue, messages from the ring that the switch fills.

Law: adding a record never blocks. Records without room in the queue, the ring or the disk are lost and counted, and a
record `lost` has their number once there is room again. A failure of the disk is logged when it begins and when it
ends, and has no other effect. All records are written within a second.
"""

from __future__ import annotations

import logging
import math
import os
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from tamis.native.records import RecordRing
from tamis.router.daemon.files import reason_of
from tamis.router.daemon.logs import fields
from tamis.router.records.converting import COMPRESSED, compress
from tamis.router.records.files import Bounds, RecordFiles, left_plain, sweep
from tamis.router.records.lines import Family, RecordLines, family_of

WAIT_MS: Final = 200
EVENTS_MAX: Final = 100_000
"""Most events that wait to be written: tens of megabytes, and more than occur in a second."""
EVENTS_PER_SLICE: Final = 50
"""Events formatted without a pause: a fraction of a millisecond, in which the loop waits for Python's global lock."""
RETRY_S: Final = 1.0
NICENESS: Final = 10
CLOSING_S: Final = 2.0
"""Seconds in which a stopping router compresses its last files; its next start compresses the others."""

Fields = Mapping[str, object]
Event = tuple[int, str, int, Fields | Callable[[], Fields]]
"""The time, the kind, the number, and the fields, or a function that returns them when the event is written."""

_log = logging.getLogger(__name__)


class Writer:
    """Writes the records of one router, and owns `records` while it runs. Call `close` after the last record. `ending`:
    the form of closed files."""

    def __init__(
        self,
        folder: Path,
        bounds: Bounds,
        lines: RecordLines,
        records: RecordRing,
        clock_s: Callable[[], float] = time.time,
        ending: str = COMPRESSED,
    ) -> None:
        self._folder, self._lines, self._records, self._clock_s = folder, lines, records, clock_s
        self._compressor = Compressor(folder, ending)
        self._files = RecordFiles(folder, lines.epoch, bounds, self._compressor.add)
        self._events: deque[Event] = deque()
        self._names: deque[tuple[int, bytes, int]] = deque()
        self._lost = LostRecords()
        self._is_closing = False
        self._blocked_until_s = 0.0
        self.trouble = ""
        """Why records cannot be written now; "" if they can. Other threads read it."""
        self._thread = threading.Thread(target=self._run, name="records", daemon=True)

    # --- for the loop ------------------------------------------------------------------------------------------------

    def start(self) -> None:
        self._compressor.start()
        self._thread.start()

    def close(self) -> None:
        """Write all added records, and end both threads."""
        self._is_closing = True
        self._compressor.hurry()
        self._records.call()
        self._thread.join()
        self._compressor.close()

    def compress_earlier(self) -> None:
        """Compress the files that earlier runs have left; call this once it is certain that those have ended."""
        for path in left_plain(self._folder, self._lines.epoch):
            self._compressor.add(path)

    def note(self, kind: str, what: Fields | Callable[[], Fields]) -> None:
        """Add a record with the present time, without blocking."""
        number = self._lines.number(family_of(kind))
        if len(self._events) >= EVENTS_MAX:
            self._lost.add("events", 1)
        else:
            self._events.append((int(self._clock_s() * 1e6), kind, number, what))

    @property
    def lost(self) -> int:
        return self._lost.total

    def name(self, number: int, shown: bytes, hops: int) -> None:
        """Set the id and the distance of a router number, for later records of messages."""
        self._names.append((number, shown, hops))

    # --- the thread --------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        while not self._is_closing:
            self._records.wait(WAIT_MS)
            self.turn()
        self._blocked_until_s = 0.0
        self.turn()
        for path in self._files.close():
            self._compressor.add(path)

    def turn(self) -> None:
        """Write all records added until now."""
        try:
            end = self._records.end  # the names of all messages before this are in the queue
            self._take_names()
            self._write_messages(end)
            self._write_events()
            self._tell_losses()
            self._files.age(self._clock_s())
        except Exception:  # a bug: log it and continue with the next turn
            _log.exception("failed to write records")

    def _take_names(self) -> None:
        while self._names:
            self._records.name(*self._names.popleft())

    def _write_messages(self, end: int) -> None:
        self._lost.saw_in_ring(self._records.lost)
        while True:
            lines, count = self._records.take(end)
            if not count:
                return
            self._write("messages", lines, count)

    def _write_events(self) -> None:
        while self._events:
            count = min(len(self._events), EVENTS_PER_SLICE)
            self._write("events", b"".join([self._line(self._events.popleft()) for _ in range(count)]), count)
            time.sleep(0)  # yield Python's global lock to a waiting thread

    def _line(self, event: Event) -> bytes:
        t_us, kind, number, what = event
        return self._lines.line(kind, t_us, number, what() if callable(what) else what)

    def _tell_losses(self) -> None:
        if self.trouble:
            return
        for family, count in self._lost.taken().items():
            self.note("lost", {"family": family, "count": count})

    # --- trouble -----------------------------------------------------------------------------------------------------

    def _write(self, family: Family, lines: bytes | memoryview, count: int) -> None:
        now_s = self._clock_s()
        if now_s < self._blocked_until_s:
            self._lost.add(family, count)
            return
        try:
            self._files.write(family, lines, now_s)
        except OSError as error:
            self._lost.add(family, count)
            self._blocked_until_s = now_s + RETRY_S
            self._say_trouble(error)
        else:
            self._say_relief()

    def _say_trouble(self, error: OSError) -> None:
        reason = reason_of(error.errno)
        if not self.trouble:
            _log.error("records cannot be written", extra=fields(folder=str(self._folder), reason=reason))
        self.trouble = f"records cannot be written to {self._folder}: {reason}"

    def _say_relief(self) -> None:
        if self.trouble:
            self.trouble = ""
            _log.warning("records are written again", extra=fields(folder=str(self._folder), lost=self._lost.total))


class LostRecords:
    """Numbers of records lost since the last `taken`, by family. `total`: those of the whole run."""

    def __init__(self) -> None:
        self._counts: dict[Family, int] = {}
        self._lock = threading.Lock()
        self._seen_in_ring = 0
        self.total = 0

    def add(self, family: Family, count: int) -> None:
        with self._lock:
            self._counts[family] = self._counts.get(family, 0) + count
            self.total += count

    def saw_in_ring(self, lost: int) -> None:
        """Record the total number of messages that found no room in the ring."""
        if lost > self._seen_in_ring:
            self.add("messages", lost - self._seen_in_ring)
            self._seen_in_ring = lost

    def taken(self) -> dict[Family, int]:
        with self._lock:
            counts, self._counts = self._counts, {}
        return counts


class Compressor:
    """A thread of low priority that brings closed files into the form `ending`, one after another."""

    def __init__(self, folder: Path, ending: str) -> None:
        self._folder, self._ending = folder, ending
        self._files: queue.SimpleQueue[Path | None] = queue.SimpleQueue()
        self._end_s = math.inf
        self._thread = threading.Thread(target=self._run, name="compress", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def add(self, path: Path) -> None:
        self._files.put(path)

    def hurry(self) -> None:
        """Leave the files uncompressed whose turn comes later than CLOSING_S from now; finish the present one."""
        self._end_s = time.monotonic() + CLOSING_S

    def close(self) -> None:
        self._files.put(None)
        self._thread.join()

    def _run(self) -> None:
        with suppress(OSError, AttributeError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
        with suppress(OSError):
            sweep(self._folder)  # in this thread, which makes partial files: none of this run exists yet
        while (path := self._files.get()) is not None and time.monotonic() < self._end_s:
            try:
                compress(path, self._ending)
            except OSError as error:
                _log.warning(
                    "a file of records cannot be compressed", extra=fields(file=str(path), reason=error.strerror)
                )
            except Exception:  # a bug: log it, leave the file as it is, and continue with the next one
                _log.exception("failed to compress a file of records", extra=fields(file=str(path)))
