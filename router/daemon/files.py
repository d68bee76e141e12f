"""The folders that a router writes to, small files in its data folder, and why a disk refuses one."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from tempfile import TemporaryFile

from tamis.router.daemon.cannot_start import CannotStart


def check_folder(key: str, folder: str) -> None:
    """CannotStart with a sentence unless files can be written in `folder`, which is `key` of the topology file and need
    not be there yet. Nothing is left behind. A disk that is full stops no start: what needs room there says so."""
    nearest = Path(folder).absolute()
    while not nearest.exists() and nearest != nearest.parent:
        nearest = nearest.parent
    try:
        with TemporaryFile(dir=nearest):
            return
    except OSError as error:
        if is_full(error.errno):
            return
        where = "it" if str(nearest) == str(Path(folder).absolute()) else str(nearest)
        reason = "is not a folder" if nearest.is_file() else f"takes no files ({error.strerror})"
        raise CannotStart(f"{key}: nothing can be written in {folder}: {where} {reason}") from None


def is_full(number: int | None) -> bool:
    """Return whether the errno `number` says that the disk has no room, or none for this user."""
    return number in {errno.ENOSPC, errno.EDQUOT}


def reason_of(number: int | None) -> str:
    """Return why a disk refuses, of its errno: as the system says it, or that the disk is full."""
    if is_full(number):
        return "the disk is full"
    return os.strerror(number) if number else "the disk refuses"


def replace(file: Path, text: str) -> None:
    """Replace the text of `file` whole or not at all, and have it on the disk."""
    fresh = file.with_suffix(".new")
    try:
        with fresh.open("w") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
    except OSError:
        fresh.unlink(missing_ok=True)
        raise
    fresh.replace(file)
    folder = os.open(file.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def overwrite(file: Path, text: str) -> None:
    """Write `text` over that of `file`, which takes no room on the disk. It lies in one sector, so it is there whole or
    not at all."""
    with file.open("r+") as stream:
        stream.write(text)
        stream.truncate()
        stream.flush()
        os.fsync(stream.fileno())
