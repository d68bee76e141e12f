"""The folders to which a router writes, small files in its data folder, and the reasons of failed writes."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from tempfile import TemporaryFile

from tamis.serving.cannot_start import CannotStart


def check_folder(key: str, folder: str) -> None:
    """Raise CannotStart unless files can be written in `folder`, the value of `key` in the topology file, which need
    not exist yet. No file is left behind. A full disk prevents no start: the parts that need room report it."""
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
        reason = "is not a folder" if nearest.is_file() else f"accepts no files ({error.strerror})"
        raise CannotStart(f"{key}: nothing can be written in {folder}: {where} {reason}") from None


def is_full(number: int | None) -> bool:
    """Return whether the errno `number` means that the disk has no room, or none for this user."""
    return number in {errno.ENOSPC, errno.EDQUOT}


def reason_of(number: int | None) -> str:
    """Return the reason of a failed write by its errno: the text of the system, or that the disk is full."""
    if is_full(number):
        return "the disk is full"
    return os.strerror(number) if number else "the disk refuses the write"


def replace(file: Path, text: str) -> None:
    """Replace the text of `file` whole or not at all, and flush it to the disk."""
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
    """Overwrite the text of `file` by `text`, which takes no room on the disk. The text fits one sector, and is
    therefore written whole or not at all."""
    with file.open("r+") as stream:
        stream.write(text)
        stream.truncate()
        stream.flush()
        os.fsync(stream.fileno())
