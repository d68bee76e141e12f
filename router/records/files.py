"""The files of one router's records.

    <folder>/<router>/messages-<epoch>-<number>.jsonl        being written, or plain until the router's next start
    <folder>/<router>/messages-<epoch>-<number>.jsonl.gz     closed and compressed
    <folder>/<router>/messages-<epoch>-<number>.parquet      closed, with format parquet
    <folder>/<router>/messages-<epoch>-<number>.*.part       one of these being made; useless after a crash

Law: only one run of the router writes a file, at its end, in whole lines, and holds its lock; a write that fails
halfway is undone. Closed files change only into another form (`converting.py`), during which a whole file always
exists. All files of a folder with such names stay within the bound together; the oldest are removed first, and never
those being written. Other files are left alone.
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tamis.protocol.records import ENDINGS
from tamis.router.records.lines import Family

NAME: Final = re.compile(rf"(messages|events)-(\d+)-(\d{{6,}})({'|'.join(map(re.escape, ENDINGS))})")
PLAIN: Final = ENDINGS[-1]
PART: Final = ".part"


@dataclass(frozen=True, slots=True)
class Bounds:
    file_bytes_max: int
    file_seconds_max: float
    stored_bytes_max: int


@dataclass(slots=True)
class _Open:
    path: Path
    descriptor: int
    since_s: float
    size: int = 0


class RecordFiles:
    """The folder of one router in one run. A failed write raises OSError and leaves no partial line.

    `closed` is called with each closed file, which the caller passes to `converting.compress`, in any thread.
    """

    def __init__(self, folder: Path, epoch: int, bounds: Bounds, closed: Callable[[Path], None]) -> None:
        self._folder, self._epoch, self._bounds, self._closed = folder, epoch, bounds, closed
        self._open: dict[Family, _Open] = {}
        self._numbers: dict[Family, int] = {}
        self._stored_bytes: int | None = None  # upper bound of all files; None until the folder is read

    def write(self, family: Family, lines: bytes | memoryview, now_s: float) -> None:
        """Write whole lines; those without room in the present file go to the next one."""
        while lines:
            file = self._file(family, now_s)
            some = _fitting(lines, self._bounds.file_bytes_max - file.size, is_empty=file.size == 0)
            if some:
                self._append(file, some)
                lines = lines[len(some) :]
            if lines or file.size >= self._bounds.file_bytes_max:
                self._close(family)

    def age(self, now_s: float) -> None:
        """Close the files that have reached their largest age."""
        for family, file in list(self._open.items()):
            if now_s - file.since_s >= self._bounds.file_seconds_max:
                self._close(family)

    def close(self) -> list[Path]:
        """Close all files and return those being written, which stay uncompressed."""
        last = [file.path for file in self._open.values()]
        for file in self._open.values():
            os.close(file.descriptor)
        self._open.clear()
        return last

    def _file(self, family: Family, now_s: float) -> _Open:
        file = self._open.get(family)
        if file is None:
            file = self._open[family] = self._next(family, now_s)
        return file

    def _next(self, family: Family, now_s: float) -> _Open:
        """Create the next file; its number follows those that another run with this epoch has left."""
        self._folder.mkdir(parents=True, exist_ok=True)
        number = self._numbers.get(family)
        if number is None:
            found = [file for file in record_files(self._folder) if (file.family, file.epoch) == (family, self._epoch)]
            number = max((file.number + 1 for file in found), default=0)
        path = self._folder / f"{family}-{self._epoch}-{number:06}{PLAIN}"
        file = _Open(path, _create(path), now_s)
        self._numbers[family] = number + 1
        return file

    def _append(self, file: _Open, lines: bytes | memoryview) -> None:
        self._make_room(len(lines))
        try:
            written = 0
            while written < len(lines):
                written += os.write(file.descriptor, lines[written:])
        except OSError:
            with suppress(OSError):
                os.ftruncate(file.descriptor, file.size)
            raise
        file.size += len(lines)

    def _close(self, family: Family) -> None:
        file = self._open.pop(family)
        os.close(file.descriptor)
        self._closed(file.path)

    def _make_room(self, size: int) -> None:
        """Remove old files if `size` more bytes exceed the bound. The folder is read only then, as compression has made
        files smaller in the meantime."""
        if self._stored_bytes is None or self._stored_bytes + size > self._bounds.stored_bytes_max:
            self._stored_bytes = self._trim(self._bounds.stored_bytes_max - size)
        self._stored_bytes += size

    def _trim(self, bytes_max: int) -> int:
        """Remove the oldest files until the others have at most `bytes_max` bytes, if possible; return their bytes."""
        being_written = {file.path for file in self._open.values()}
        files = sorted(record_files(self._folder, with_parts=True), key=lambda file: file.age)
        kept = sum(file.size for file in files)
        for file in files:
            if kept <= bytes_max:
                break
            if file.path not in being_written:
                file.path.unlink(missing_ok=True)
                kept -= file.size
        return kept


@dataclass(frozen=True, slots=True)
class RecordFile:
    """An existing file; `age` orders files by the time of their last line."""

    path: Path
    family: str
    epoch: int
    number: int
    ending: str
    size: int
    changed_ns: int

    @property
    def age(self) -> tuple[int, int, int]:
        return self.changed_ns, self.epoch, self.number

    @property
    def is_plain(self) -> bool:
        return self.ending == PLAIN


def record_files(folder: Path, with_parts: bool = False) -> Iterator[RecordFile]:
    """Yield the record files of one router, in no order; skip files that are removed in the meantime."""
    try:
        entries = list(os.scandir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return
    for entry in entries:
        name = entry.name.removesuffix(PART) if with_parts else entry.name
        match = NAME.fullmatch(name)
        if match:
            with suppress(FileNotFoundError):
                status = entry.stat()
                yield RecordFile(
                    *(Path(entry.path), match[1], int(match[2]), int(match[3]), match[4]),
                    *(status.st_size, status.st_mtime_ns),
                )


def left_plain(folder: Path, epoch: int) -> list[Path]:
    """Return the files that runs other than `epoch` have left plain, oldest first."""
    files = [file for file in record_files(folder) if file.is_plain and file.epoch != epoch]
    return [file.path for file in sorted(files, key=lambda file: file.age)]


def sweep(folder: Path) -> None:
    """Remove the partial files that a crash has left."""
    for file in record_files(folder, with_parts=True):
        if file.path.name.endswith(PART):
            file.path.unlink(missing_ok=True)


def _create(path: Path) -> int:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o640)
    with suppress(OSError):  # a file system without locks
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return descriptor


def _fitting(lines: bytes | memoryview, room: int, is_empty: bool) -> bytes | memoryview:
    """Return as many whole lines as `room` allows, but at least one of any length for an empty file."""
    if len(lines) <= room:
        return lines
    whole = bytes(lines)
    end = whole.rfind(b"\n", 0, max(room, 0)) + 1
    if end == 0 and is_empty:
        end = whole.find(b"\n") + 1 or len(whole)
    return whole[:end]
