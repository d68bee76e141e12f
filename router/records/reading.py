"""Reader of the records in a folder, also while they are written.

Law: a stream is one file family of one router, its files in order of epochs and numbers; of a file in several forms the
first of `protocol/records.py` is read. A line is read once its end is written, and once, whichever forms its file takes
meanwhile; a file that is damaged and a line that is no record are skipped and counted. Only a piece of a file is in
memory at a time.
"""

from __future__ import annotations

import gzip
import heapq
import json
import zlib
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

from tamis.protocol.records import ENDINGS
from tamis.router.records.files import RecordFile, record_files
from tamis.router.records.lines import FAMILIES

COLUMNS: Final = ENDINGS[0]
CHUNK_BYTES: Final = 256 * 1024
LINE_BYTES_MAX: Final = 16 * 1024 * 1024
"""Bytes longer than any line: a file without an end of line within them is no record file."""


class RecordLine(NamedTuple):
    t_us: int
    text: str
    record: dict[str, Any]


@dataclass(slots=True)
class _FilePlace:
    """What was read of a file: its bytes as lines, which another form need not have, and its records."""

    offset: int = 0
    records: int = 0


def router_folders(folder: Path) -> list[Path]:
    """Return the folders with records: `folder` itself, or folders in it."""
    if any(record_files(folder)):
        return [folder]
    inside = sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []
    return [path for path in inside if any(record_files(path))]


@dataclass(slots=True)
class RecordStream:
    """One family of one router. Each `read` yields the lines since the last one. `broken`: number of skipped lines and
    files; `damaged`: a sentence for each of these files."""

    folder: Path
    family: str
    broken: int = 0
    damaged: list[str] = field(default_factory=list)
    _places: dict[tuple[int, int], _FilePlace] = field(default_factory=dict)
    _done: set[tuple[int, int]] = field(default_factory=set)

    def read(self) -> Iterator[RecordLine]:
        files = self._files()
        for file in files:
            key = file.epoch, file.number
            if key in self._done:
                continue
            try:
                yield from self._read_file(file, key)
            except FileNotFoundError:
                continue  # compressed or removed in the meantime: the next read yields its lines
            if not file.is_plain or file is not files[-1]:
                self._done.add(key)

    def skip_to_end(self, lines: int) -> list[RecordLine]:
        """Return at most the last `lines` lines; `read` continues after them. Only files with these lines are read."""
        files, last = self._files(), deque[RecordLine](maxlen=lines)
        for file in reversed(files):
            if len(last) < lines:
                with suppress(FileNotFoundError):
                    found = deque(self._read_file(file, (file.epoch, file.number)), maxlen=lines - len(last))
                    last.extendleft(reversed(found))
            if file is not files[-1]:
                self._done.add((file.epoch, file.number))
        return list(last)

    def _files(self) -> list[RecordFile]:
        found: dict[tuple[int, int], RecordFile] = {}
        for file in sorted(record_files(self.folder), key=lambda file: ENDINGS.index(file.ending)):
            if file.family == self.family:
                found.setdefault((file.epoch, file.number), file)
        return [found[key] for key in sorted(found)]

    def _read_file(self, file: RecordFile, key: tuple[int, int]) -> Iterator[RecordLine]:
        place = self._places.setdefault(key, _FilePlace())
        try:
            for text in _lines_of_columns(file, place) if file.ending == COLUMNS else _whole_lines(file, place):
                place.offset += len(text)
                place.records += not text.isspace()
                line = _line(text)
                if line is not None:
                    yield line
                else:
                    self.broken += 1
        except FileNotFoundError:
            raise
        except (EOFError, OSError, zlib.error) as error:
            self.broken += 1
            self.damaged.append(f"{file.path}: {error}")


@dataclass(slots=True)
class Reader:
    """All streams of some folders, merged in order of time."""

    streams: list[RecordStream]

    @classmethod
    def of(cls, folders: Iterable[Path], families: Iterable[str] = FAMILIES) -> Reader:
        chosen = tuple(families)
        return cls([RecordStream(folder, family) for folder in folders for family in chosen])

    @property
    def broken(self) -> int:
        return sum(stream.broken for stream in self.streams)

    @property
    def damaged(self) -> list[str]:
        return [sentence for stream in self.streams for sentence in stream.damaged]

    def read(self) -> Iterator[RecordLine]:
        """Return the lines since the last call; the first call returns all lines."""
        return heapq.merge(*(stream.read() for stream in self.streams), key=lambda line: line.t_us)

    def last(self, lines: int) -> list[RecordLine]:
        """Return the last `lines` lines of all streams together."""
        found = [line for stream in self.streams for line in stream.skip_to_end(lines)]
        return sorted(found, key=lambda line: line.t_us)[-lines:]


def _lines_of_columns(file: RecordFile, place: _FilePlace) -> Iterator[bytes]:
    """Yield the lines behind `place`."""
    from tamis.protocol.record_columns import lines_of, rows_in

    with file.path.open("rb") as stream:
        for batch in rows_in(stream, place.records):
            yield from (line + b"\n" for line in lines_of(batch))


def _whole_lines(file: RecordFile, place: _FilePlace) -> Iterator[bytes]:
    """Yield the lines behind `place` whose ends are written."""
    rest = b""
    with file.path.open("rb") if file.is_plain else gzip.open(file.path) as stream:
        stream.seek(place.offset)
        while chunk := stream.read1(CHUNK_BYTES):
            *whole, rest = (rest + chunk).split(b"\n")
            yield from (line + b"\n" for line in whole)
            if len(rest) > LINE_BYTES_MAX:
                raise OSError("a line has no end")


def _line(text: bytes) -> RecordLine | None:
    try:
        record = json.loads(text)
        return RecordLine(int(record["t_us"]), text.decode().rstrip("\n"), record)
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
