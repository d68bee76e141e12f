"""The thread that writes records: events out of a queue, messages out of the ring that the switch fills.

Law: noting never waits. What the queue, the ring or the disk has no room for is lost, counted, and told in a record
`lost` once there is room again. The disk's trouble is logged when it begins and when it is over, and changes nothing
else. Everything is written out at least once a second.
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
from tamis.router.records.files import Bounds, RecordFiles, compress, left_plain, sweep
from tamis.router.records.lines import Family, RecordLines, family_of

WAIT_MS: Final = 200
EVENTS_MAX: Final = 100_000
"""Events that wait to be written: tens of megabytes at most, and more than happens in a second."""
EVENTS_PER_SLICE: Final = 50
"""Events formatted without a pause: a fraction of a millisecond, during which the loop has to wait for Python's
lock."""
RETRY_S: Final = 1.0
NICENESS: Final = 10
CLOSING_S: Final = 2.0
"""Seconds that a router which is asked to stop compresses its last files for: the next start does what is left."""

Fields = Mapping[str, object]
Event = tuple[int, str, int, Fields | Callable[[], Fields]]
"""The time, the kind, the number, and the fields, or a function that returns them when the event is written."""

_log = logging.getLogger(__name__)


class Writer:
    """Write the records of one router. It owns `records` while it runs. `start` it; `close` it once nothing is noted
    any more."""

    def __init__(
        self,
        folder: Path,
        bounds: Bounds,
        lines: RecordLines,
        records: RecordRing,
        clock_s: Callable[[], float] = time.time,
    ) -> None:
        self._folder, self._lines, self._records, self._clock_s = folder, lines, records, clock_s
        self._compressor = Compressor(folder)
        self._files = RecordFiles(folder, lines.epoch, bounds, self._compressor.add)
        self._events: deque[Event] = deque()
        self._names: deque[tuple[int, bytes, int]] = deque()
        self._lost = LostRecords()
        self._is_closing = False
        self._blocked_until_s = 0.0
        self.trouble = ""
        """Why records cannot be written now; empty: they can. Read by other threads."""
        self._thread = threading.Thread(target=self._run, name="records", daemon=True)

    # --- for the loop ------------------------------------------------------------------------------------------------

    def start(self) -> None:
        self._compressor.start()
        self._thread.start()

    def close(self) -> None:
        """Write what has been noted, and end both threads."""
        self._is_closing = True
        self._compressor.hurry()
        self._records.call()
        self._thread.join()
        self._compressor.close()

    def compress_earlier(self) -> None:
        """Compress what earlier lives have left behind; to be called once it is certain that they are over."""
        for path in left_plain(self._folder, self._lines.epoch):
            self._compressor.add(path)

    def note(self, kind: str, what: Fields | Callable[[], Fields]) -> None:
        """Note an event with the present time; never wait."""
        number = self._lines.number(family_of(kind))
        if len(self._events) >= EVENTS_MAX:
            self._lost.add("events", 1)
        else:
            self._events.append((int(self._clock_s() * 1e6), kind, number, what))

    @property
    def lost(self) -> int:
        return self._lost.total

    def name(self, number: int, shown: bytes, hops: int) -> None:
        """Name a router in the records of messages from now on."""
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
        """Write what has been noted until now."""
        try:
            end = self._records.end  # messages before this have only names known by now
            self._take_names()
            self._write_messages(end)
            self._write_events()
            self._tell_losses()
            self._files.age(self._clock_s())
        except Exception:  # a bug: it is logged, and the next turn goes on behind it
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
            time.sleep(0)  # lets a thread that waits for Python's lock have it

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
    """Records lost since the last `taken`, by family; `total` counts those of the whole life."""

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
        """Take in how many messages found no room in the ring until now."""
        if lost > self._seen_in_ring:
            self.add("messages", lost - self._seen_in_ring)
            self._seen_in_ring = lost

    def taken(self) -> dict[Family, int]:
        with self._lock:
            counts, self._counts = self._counts, {}
        return counts


class Compressor:
    """A thread of low priority that compresses closed files, one after the other."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: queue.SimpleQueue[Path | None] = queue.SimpleQueue()
        self._end_s = math.inf
        self._thread = threading.Thread(target=self._run, name="compress", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def add(self, path: Path) -> None:
        self._files.put(path)

    def hurry(self) -> None:
        """Leave the files that CLOSING_S from now is not enough for as they are; the file at hand is finished."""
        self._end_s = time.monotonic() + CLOSING_S

    def close(self) -> None:
        self._files.put(None)
        self._thread.join()

    def _run(self) -> None:
        with suppress(OSError, AttributeError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
        with suppress(OSError):
            sweep(self._folder)  # here, where halves are made: there is none of this life yet
        while (path := self._files.get()) is not None and time.monotonic() < self._end_s:
            try:
                compress(path)
            except OSError as error:
                _log.warning("a file of records stays as it is", extra=fields(file=str(path), reason=error.strerror))
