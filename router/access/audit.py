"""The audit log: what the rules decided, as lines of JSON of which each has a digest of the line before it.

Law: a line that was written is not changed, and `verify.py` finds one that was, or that is missing between others. Of
one kind at most LINES_PER_S lines a second are written; the others are counted, and the count is a line. Lines are
written and synced each second in a thread, so that they cost the loop nothing; past PENDING_MAX lines that the disk has
not taken, the newest are dropped, counted, and an alarm is raised. Beyond BYTES_MAX the oldest files are removed. A
line has names of principals, verbs, objects, roles and constraints of the rules, never a value of a message.
"""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Final

from tamis.protocol.access.audit_line import FILE_FORM, GENESIS, digest_of, file_name
from tamis.protocol.filters import Constraint
from tamis.protocol.language.format import format_constraint
from tamis.serving.cannot_start import CannotStart

LINES_PER_S: Final = 20
PENDING_MAX: Final = 10_000
FILE_BYTES_MAX: Final = 16 * 1024 * 1024
BYTES_MAX: Final = 256 * 1024 * 1024
LINE_BYTES_MAX: Final = 4_096
TEXT_CHARACTERS_MAX: Final = 512


class AuditLog:
    """The audit log in one folder, which is made. `alarm` is called with a sentence when lines are lost. Raise
    CannotStart if the folder cannot be used."""

    def __init__(self, folder: str, alarm: Callable[[str], None], clock: Callable[[], float] = time.time) -> None:
        self._folder, self._alarm, self._clock = Path(folder), alarm, clock
        self._pending: list[dict[str, object]] = []
        self._of_kind: Counter[str] = Counter()
        self._suppressed: Counter[str] = Counter()
        self._dropped = 0
        self._writer = ThreadPoolExecutor(1, "audit")
        self._writing: tuple[Future[None], list[dict[str, object]]] | None = None
        """What the thread writes."""
        self.is_failing = False
        self._file, self._size = -1, 0
        self._number, self._before = 0, GENESIS
        """The last line that is written, and its digest."""
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._open()
        except (OSError, ValueError) as error:
            raise CannotStart(f"access: the audit log in {folder} cannot be used: {error}") from error

    def note(self, kind: str, **said: object) -> None:
        """Add a line; fields that are None or empty are left out."""
        self._of_kind[kind] += 1
        if self._of_kind[kind] > LINES_PER_S:
            self._suppressed[kind] += 1
        elif len(self._pending) >= PENDING_MAX:
            self._dropped += 1
        else:
            self._pending.append({"at": round(self._clock(), 3), "kind": kind} | _fields(said))

    def second_passed(self) -> None:
        """Write what was added in the last second, in a thread, unless the disk is still busy with the seconds
        before."""
        self._of_kind.clear()
        if self._writing is not None and not self._writing[0].done():
            return
        self._end_writing()
        if lines := self._taken():
            self._writing = self._writer.submit(self._write, lines), lines

    def close(self) -> None:
        """Wait for the thread, write what was added since, and close the file."""
        self._end_writing()
        self._writer.shutdown()
        try:
            self._write(self._taken())
        except OSError as error:
            self._alarm(f"the last lines of the audit log are lost: {error}")
        os.close(self._file)

    # --- writing -----------------------------------------------------------------------------------------------------

    def _taken(self) -> list[dict[str, object]]:
        lines, self._pending = self._pending, []
        now = round(self._clock(), 3)
        lines += [{"at": now, "kind": "suppressed", "of": kind, "lines": n} for kind, n in self._suppressed.items()]
        if self._dropped:
            lines.append({"at": now, "kind": "dropped", "lines": self._dropped})
        self._suppressed.clear()
        self._dropped = 0
        return lines

    def _end_writing(self) -> None:
        """Wait for the thread; put back the lines that the disk did not take."""
        if self._writing is None:
            return
        done, lines = self._writing
        self._writing = None
        error = done.exception()
        if error is not None:
            if not self.is_failing:
                self._alarm(f"the audit log cannot be written: {error}")
            self._pending = (lines + self._pending)[:PENDING_MAX]
        self.is_failing = error is not None

    def _write(self, lines: list[dict[str, object]]) -> None:
        """Append lines, whole or not at all, and sync them."""
        before, number, data = self._before, self._number, bytearray()
        for line in lines:
            number += 1
            whole = json.dumps({"n": number, "before": before} | line, ensure_ascii=False).encode()
            data += whole + b"\n"
            before = digest_of(whole)
        if self._size and self._size + len(data) > FILE_BYTES_MAX:
            self._next_file(number)
        try:
            _write_all(self._file, data)
            os.fsync(self._file)
        except OSError:
            os.ftruncate(self._file, self._size)
            raise
        self._size, self._before, self._number = self._size + len(data), before, number

    # --- files -------------------------------------------------------------------------------------------------------

    def _open(self) -> None:
        """Open the newest file behind its last whole line: one that a crash has cut is removed."""
        found = sorted(path for path in self._folder.iterdir() if FILE_FORM.fullmatch(path.name))
        path = found[-1] if found else self._folder / file_name(1)
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        data = path.read_bytes()
        self._size = data.rfind(b"\n") + 1
        if self._size:
            last = data[data.rfind(b"\n", 0, self._size - 1) + 1 : self._size - 1]
            self._number, self._before = int(json.loads(last)["n"]), digest_of(last)
        elif len(found) > 1:
            raise ValueError(f"{path.name} is empty, and is not the first file")
        if len(data) > self._size:
            os.ftruncate(self._file, self._size)
            self.note("torn", bytes=len(data) - self._size)

    def _next_file(self, number: int) -> None:
        """Begin a file, named by the number of its first line or a later one, and remove the oldest past the bound."""
        path = self._folder / file_name(number)
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o600)
        os.close(self._file)
        self._file, self._size = file, 0
        files = sorted(each for each in self._folder.iterdir() if FILE_FORM.fullmatch(each.name))
        for oldest in files[: max(0, len(files) - BYTES_MAX // FILE_BYTES_MAX)]:
            oldest.unlink()


def _fields(said: dict[str, object]) -> dict[str, object]:
    return {name: _shown(value) for name, value in said.items() if value not in (None, "", ())}


def _shown(value: object) -> object:
    text = format_constraint(value) if isinstance(value, Constraint) else value
    return text[:TEXT_CHARACTERS_MAX] if isinstance(text, str) else text


def _write_all(file: int, data: bytes | bytearray) -> None:
    at = 0
    while at < len(data):
        at += os.write(file, memoryview(data)[at:])
