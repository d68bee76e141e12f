"""What a recorded folder holds after a power cut at any tick of the clock that all recorded processes share.

Law: what a sync covers is on the disk: of a file its bytes and its size, of a folder its names. Of the writes that no
sync covers, each sector is there or not; of the changes of names, any first part. The cut comes between two lines of
the record.
"""

from __future__ import annotations

import os
import struct
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

SECTOR: Final = 512
LINE: Final = struct.Struct("<QQIHBc")
WRITE, GROW, CUT, NEW, RENAME, REMOVE, SYNC = b"w", b"g", b"c", b"n", b"r", b"u", b"s"
RECORDER: Final = Path(__file__).with_name("recorder.c")


class Change(NamedTuple):
    """A line of a record. `at`: of a write; the size of a file; the tick at which a sync began."""

    tick: int
    kind: bytes
    name: str
    other: str
    at: int
    data: bytes


def built_recorder(folder: Path) -> Path:
    """Return the library that records, compiled."""
    library = folder / "recorder.so"
    command = ["gcc", "-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-o", library, RECORDER]
    subprocess.run([*command, "-ldl", "-lpthread"], check=True)  # noqa: S603 - the C compiler
    return library


def recorded(library: Path, folder: Path, record: Path, clock: Path, *, has_sync: bool) -> dict[str, str]:
    """Return the environment in which a process is recorded."""
    words = {"LD_PRELOAD": library, "RECORDED": folder.resolve(), "RECORD": record, "CLOCK": clock}
    return {key: str(value) for key, value in words.items()} | ({} if has_sync else {"UNSYNCED": "1"})


def read_record(record: Path) -> list[Change]:
    """Return the lines of all processes that were recorded there, in their order."""
    found = [change for file in record.parent.glob(f"{record.name}.*") for change in _lines(file.read_bytes())]
    return sorted(found, key=lambda each: each.tick)


def _lines(data: bytes) -> Iterable[Change]:
    at = 0
    while at + LINE.size <= len(data):
        tick, place, size, name_size, other_size, kind = LINE.unpack_from(data, at)
        at += LINE.size
        name, other = (data[at : at + name_size], data[at + name_size : at + name_size + other_size])
        at += name_size + other_size
        if at + size > len(data):
            return  # the process was killed as it wrote this line
        yield Change(tick, kind, name.decode().lstrip("/"), other.decode().lstrip("/"), place, data[at : at + size])
        at += size


@dataclass(slots=True)
class RecordedFile:
    """`disk`: what there is after any cut; `loose`: what may be lost."""

    disk: bytearray = field(default_factory=bytearray)
    loose: list[Change] = field(default_factory=list)

    def sync(self, before: int) -> None:
        """Take what was done before this tick for written."""
        for change in self.loose:
            if change.tick < before:
                _apply(self.disk, change)
        self.loose = [change for change in self.loose if change.tick >= before]

    def after_cut(self, dice: Random, odds: float) -> bytearray:
        """Return what is left: of each sector that was written, with these odds, the new bytes."""
        left = bytearray(self.disk)
        for change in self.loose:
            if change.kind == WRITE:
                for part in _sectors(change):
                    if dice.random() < odds:
                        _apply(left, part)
            elif dice.random() < odds:
                _apply(left, change)
        return left


def _apply(disk: bytearray, change: Change) -> None:
    if change.kind == CUT:
        del disk[change.at :]
    end = change.at + len(change.data)
    if len(disk) < end:
        disk.extend(bytes(end - len(disk)))
    disk[change.at : end] = change.data


def _sectors(change: Change) -> Iterable[Change]:
    at, end = change.at, change.at + len(change.data)
    while at < end:
        upto = min(end, (at // SECTOR + 1) * SECTOR)
        yield change._replace(at=at, data=change.data[at - change.at : upto - change.at])
        at = upto


class RecordedFolder:
    """A folder as it was when the record began, and as its lines change it."""

    def __init__(self, base: Path) -> None:
        found = [path for path in base.rglob("*") if path.is_file()] if base.exists() else []
        self._now = {str(path.relative_to(base)): RecordedFile(bytearray(path.read_bytes())) for path in found}
        self._names = dict(self._now)
        """As they were synced."""
        self._loose: list[tuple[int, str, RecordedFile | None]] = []
        """Changes of names that no sync covers, with their ticks; None: the name is gone."""

    def take(self, change: Change) -> None:
        """Take the next line."""
        if change.kind == SYNC and change.name in self._now:
            self._now[change.name].sync(change.at)
        elif change.kind == SYNC:
            self._sync_names(change.at)
        elif change.kind == RENAME:
            moved = self._now.pop(change.name)
            self._set(change.tick, change.other, moved)
            self._loose.append((change.tick, change.name, None))
        elif change.kind == REMOVE:
            self._now.pop(change.name, None)
            self._loose.append((change.tick, change.name, None))
        elif change.kind == NEW and change.name not in self._now:
            self._set(change.tick, change.name, RecordedFile())
        elif change.kind == NEW:
            self._now[change.name].loose.append(change._replace(kind=CUT))
        elif change.name in self._now:
            self._now[change.name].loose.append(change)

    def _set(self, tick: int, name: str, file: RecordedFile) -> None:
        self._now[name] = file
        self._loose.append((tick, name, file))

    def _sync_names(self, before: int) -> None:
        for tick, name, file in self._loose:
            if tick < before:
                _rename(self._names, name, file)
        self._loose = [each for each in self._loose if each[0] >= before]

    def cut(self, into: Path, dice: Random) -> None:
        """Write what a cut leaves now."""
        odds = dice.choice((0.0, 0.5, 0.9, 1.0))
        names = dict(self._names)
        for _, name, file in self._loose[: dice.randint(0, len(self._loose)) if odds < 1 else None]:
            _rename(names, name, file)
        into.mkdir(parents=True)
        for name, file in names.items():
            path = into / name
            path.parent.mkdir(exist_ok=True)
            with path.open("wb") as out:
                _write_sparse(out.fileno(), file.after_cut(dice, odds))


def _rename(names: dict[str, RecordedFile], name: str, file: RecordedFile | None) -> None:
    if file is None:
        names.pop(name, None)
    else:
        names[name] = file


def _write_sparse(out: int, data: bytearray) -> None:
    """Write a file without its zeros at the end, which take memory."""
    end = len(data.rstrip(b"\0"))
    os.pwrite(out, bytes(data[:end]), 0)
    os.ftruncate(out, len(data))
