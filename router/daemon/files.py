"""Small files that a router keeps in its data folder."""

from __future__ import annotations

import os
from pathlib import Path


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
