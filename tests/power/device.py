"""A block device that records each write and flush, with ext4 on it, and what it holds after a cut at any of them.

qemu-storage-daemon serves a file by FUSE, its driver `blklogwrites` below; a loop device stands on that file, ext4 on
the loop device. The record is that of Linux' dm-log-writes.

Law: what a flush covers, and what was written through (FUA), is on the disk. Of the writes after the last flush before
the cut, each is there, lost, or torn at a sector, by the dice.
"""

from __future__ import annotations

import shutil
import struct
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

SECTOR: Final = 512
DISK_BYTES: Final = 48 << 20
LOG_BYTES: Final = 1 << 30  # sparse; a recording that is longer fails
FLUSH, FUA, DISCARD = 1, 2, 4
MAGIC: Final = 0x6A736677736872
HEAD: Final = struct.Struct("<QQQI")  # magic, version, entries, bytes of a sector
ENTRY: Final = struct.Struct("<QQQQ")  # sector, sectors, flags, bytes of data that belong to the entry itself
START_S: Final = 10.0


def what_is_not_here() -> str | None:
    """A sentence on what this machine lacks for it; None: nothing."""
    for program in ("qemu-storage-daemon", "losetup", "mkfs.ext4", "mount"):
        if shutil.which(program) is None:
            return f"{program} is not installed"
    for device in ("/dev/fuse", "/dev/loop-control"):
        try:
            with Path(device).open("rb"):
                pass
        except OSError as error:
            return f"{device} cannot be opened: {error.strerror}"
    return None


def run(*command: str | Path) -> str:
    """What a command prints; an error says what it said."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - fixed programs
    if done.returncode != 0:
        message = f"{' '.join(map(str, command))}: {done.stderr.strip() or done.returncode}"
        raise OSError(message)
    return done.stdout.strip()


def entries_so_far(log: Path) -> int:
    """How many writes and flushes are recorded; the daemon says it before it answers a flush."""
    with log.open("rb") as file:
        return int(HEAD.unpack(file.read(HEAD.size))[2])


@contextmanager
def recording(folder: Path) -> Iterator[tuple[Path, Path]]:
    """A mounted file system whose writes are recorded: (where it is mounted, the record)."""
    disk, log, fuse, mount = folder / "disk", folder / "log", folder / "fuse", folder / "mount"
    for path, size in ((disk, DISK_BYTES), (log, LOG_BYTES), (fuse, 0)):
        with path.open("wb") as file:
            file.truncate(size)
    mount.mkdir()
    command = [
        "qemu-storage-daemon",
        *("--blockdev", f"driver=file,node-name=raw,filename={disk}"),
        *("--blockdev", f"driver=file,node-name=log,filename={log}"),
        "--blockdev",
        f"driver=blklogwrites,node-name=recorded,file=raw,log=log,log-sector-size={SECTOR},log-super-update-interval=1",
        *("--export", f"type=fuse,id=export,node-name=recorded,mountpoint={fuse},writable=on"),
    ]
    with subprocess.Popen(command) as daemon:  # noqa: S603 - fixed program
        try:
            end = time.monotonic() + START_S
            while fuse.stat().st_size == 0:
                if time.monotonic() > end or daemon.poll() is not None:
                    message = "qemu-storage-daemon does not export the file"
                    raise OSError(message)
                time.sleep(0.02)
            loop = Path(run("losetup", "--find", "--show", fuse))
            try:
                run("mkfs.ext4", "-q", "-b", "4096", "-E", "nodiscard", loop)
                run("mount", loop, mount)
                try:
                    yield mount, log
                finally:
                    run("umount", mount)
            finally:
                run("losetup", "--detach", loop)
        finally:
            daemon.terminate()


@dataclass(frozen=True, slots=True)
class Entry:
    """A write (or a flush, or both) as it was recorded."""

    at: int
    data: bytes
    flags: int


def read_record(log: Path) -> list[Entry]:
    """All entries of a record."""
    with log.open("rb") as file:
        magic, _, count, sector = HEAD.unpack(file.read(HEAD.size))
        if magic != MAGIC or sector != SECTOR:
            message = f"{log}: not a record of writes in sectors of {SECTOR} bytes"
            raise ValueError(message)
        found, at = [], SECTOR
        for _ in range(count):
            file.seek(at)
            first, sectors, flags, _ = ENTRY.unpack(file.read(ENTRY.size))
            at += SECTOR
            data = b""
            if sectors and not flags & DISCARD:
                file.seek(at)
                data = file.read(sectors * SECTOR)
                at += len(data)
            found.append(Entry(first * SECTOR, data, flags))
    return found


def repair(image: Path) -> None:
    """What an operator does where a mount is refused: a superblock may be torn, and ext4 has others."""
    subprocess.run(["e2fsck", "-f", "-y", image], capture_output=True, check=False)  # noqa: S603, S607 - fixed program


class Cutter:
    """Images of a disk after cuts, which must come in rising order."""

    def __init__(self, entries: list[Entry], folder: Path) -> None:
        self.entries = entries
        self._base = folder / "synced"
        self._image = folder / "cut"
        self._done = 0
        with self._base.open("wb") as file:
            file.truncate(DISK_BYTES)

    def cut(self, at: int, dice: Random) -> tuple[Path, int]:
        """The disk after the first `at` entries, and how many of these a flush covers."""
        synced = max((i + 1 for i in range(at) if self.entries[i].flags & FLUSH), default=0)
        with self._base.open("r+b") as file:
            for entry in self.entries[self._done : synced]:
                file.seek(entry.at)
                file.write(entry.data)
        self._done = max(self._done, synced)
        run("cp", "--sparse=always", self._base, self._image)
        odds = dice.choice((0.0, 0.5, 0.9, 1.0))  # that a write is there
        with self._image.open("r+b") as file:
            for entry in self.entries[synced:at]:
                data = entry.data
                if not entry.flags & FUA:
                    if dice.random() >= odds:
                        continue
                    if len(data) > SECTOR and odds < 1 and dice.random() < 0.5:
                        data = data[: dice.randrange(1, len(data) // SECTOR) * SECTOR]
                file.seek(entry.at)
                file.write(data)
        return self._image, synced
