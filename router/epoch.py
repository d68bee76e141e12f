"""The epoch of a router: a number that is greater at every start.

Law: an epoch is on disk before it is used. Without a folder to keep it in it is the time, in Unix milliseconds, and a
clock that was set back makes neighbours say so (R9).
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Final

from tamis.router.settings import CannotStart

_FILE: Final = "epoch"


class Epoch:
    """In the folder `data`, which is made where it is not there; None: nowhere."""

    def __init__(self, data: str | None) -> None:
        self._folder = Path(data) if data else None

    def next(self) -> int:
        """For a new start."""
        return self.raise_to(max(self._kept() + 1, time.time_ns() // 1_000_000))

    def raise_to(self, epoch: int) -> int:
        """Keep `epoch`, which is greater than all before; CannotStart if it cannot be kept."""
        if self._folder is not None:
            try:
                self._folder.mkdir(parents=True, exist_ok=True)
                _replace(self._folder / _FILE, f"{epoch}\n")
            except OSError as error:
                raise CannotStart(f"{self._folder / _FILE}: {error.strerror}") from error
        return epoch

    def _kept(self) -> int:
        """0 where there is none."""
        if self._folder is None:
            return 0
        try:
            return int((self._folder / _FILE).read_text())
        except FileNotFoundError:
            return 0
        except (OSError, ValueError) as error:
            raise CannotStart(f"{self._folder / _FILE}: holds no epoch: {error}") from error


def _replace(file: Path, text: str) -> None:
    """All of it or nothing, and on the disk."""
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
