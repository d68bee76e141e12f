"""The folders that a router writes to, and small files in its data folder."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryFile

from tamis.router.daemon.settings import CannotStart


def check_folder(key: str, folder: str) -> None:
    """CannotStart with a sentence unless files can be written in `folder`, which is `key` of the topology file and need
    not be there yet. Nothing is left behind."""
    nearest = Path(folder).absolute()
    while not nearest.exists() and nearest != nearest.parent:
        nearest = nearest.parent
    try:
        with TemporaryFile(dir=nearest):
            return
    except OSError as error:
        where = "it" if str(nearest) == str(Path(folder).absolute()) else str(nearest)
        reason = "is not a folder" if nearest.is_file() else f"takes no files ({error.strerror})"
        raise CannotStart(f"{key}: nothing can be written in {folder}: {where} {reason}") from None


def replace(file: Path, text: str) -> None:
    """Replace the text of `file` whole or not at all, and have it on the disk."""
    fresh = file.with_suffix(".new")
    with fresh.open("w") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
    fresh.replace(file)
    folder = os.open(file.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
