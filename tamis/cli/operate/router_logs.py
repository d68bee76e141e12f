"""The log files of the routers that `tamis up` supervises: their lines in order of time, and new lines as they are
written.

Law: a line that is not JSON (a trace, the last words of a process) has the time of the line before it. A rotated file
is read to its end before its successor. At most LINE_BYTES_MAX of a line are kept.
"""

from __future__ import annotations

import heapq
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

LINE_BYTES_MAX: Final = 262_144


class LogLine(NamedTuple):
    """One line of a router's log. `at_us` is 0 before the first line with a time; `fields` is empty if the line is not
    JSON."""

    at_us: int
    router: str
    text: str
    fields: dict[str, Any]


@dataclass(slots=True)
class LogFollower:
    """The log of one router, with the position up to which it was read."""

    router: str
    path: Path
    _at_us: int = 0
    _inode: int = 0
    _offset: int = 0

    def whole(self) -> Iterator[LogLine]:
        """Yield all lines: those of the older file, then those of the current one."""
        yield from self._lines(self.path.with_name(f"{self.path.name}.1"), 0)
        yield from self.more()

    def more(self) -> Iterator[LogLine]:
        """Yield the lines since the last call. Consume all of them."""
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return
        if self._inode and found.st_ino != self._inode:
            yield from self._lines(self.path.with_name(f"{self.path.name}.1"), self._offset)
        if found.st_ino != self._inode or found.st_size < self._offset:
            self._offset = 0
        self._inode = found.st_ino
        yield from self._lines(self.path, self._offset)

    def _lines(self, path: Path, offset: int) -> Iterator[LogLine]:
        """Yield the complete lines of a file from `offset` on; record where they end."""
        try:
            with path.open("rb") as file:
                file.seek(offset)
                while (line := file.readline(LINE_BYTES_MAX)) and (line.endswith(b"\n") or len(line) == LINE_BYTES_MAX):
                    offset += len(line)
                    self._offset = offset
                    yield self._parsed(line.decode(errors="replace").rstrip("\n"))
        except FileNotFoundError:
            return

    def _parsed(self, text: str) -> LogLine:
        fields: dict[str, Any] = {}
        if text.startswith("{"):
            try:
                fields = json.loads(text)
                self._at_us = int(datetime.fromisoformat(fields["time"]).timestamp() * 1e6)
            except (ValueError, KeyError, TypeError):
                fields = {}
        return LogLine(self._at_us, self.router, text, fields)


def in_order(logs: Sequence[LogFollower]) -> Iterator[LogLine]:
    """Return all lines of all logs in order of time; lines of one time and router keep their order."""
    return heapq.merge(*(log.whole() for log in logs), key=lambda line: line.at_us)


def more_of(logs: Sequence[LogFollower]) -> list[LogLine]:
    """Return the lines of all logs since the last call, in order of time."""
    return sorted((line for log in logs for line in log.more()), key=lambda line: line.at_us)
