"""The epoch of a router: a number that is greater at every start.

Law: an epoch is on disk before it is used. Without a folder the epoch is the time, in Unix milliseconds; if the clock
was set back, neighbours correct it (R9). A file that holds no epoch, or one more than a day ahead of the clock,
prevents no start: the log shows its content, and the time is used instead. A full disk that holds an epoch prevents no
start either: the epoch is overwritten.
"""

from __future__ import annotations

import logging
import time
from pathlib import Path
from typing import Final

from tamis.router.core.epochs import DAY_MS
from tamis.router.daemon.files import is_full, overwrite, reason_of, replace
from tamis.router.daemon.logs import fields
from tamis.serving.cannot_start import CannotStartNow

_FILE: Final = "epoch"
_BYTES_MAX: Final = 64
"""Bytes of the longest epoch; the rest of a file is neither read nor shown."""

_log = logging.getLogger(__name__)


def unix_ms() -> int:
    """Return the time of the wall clock in Unix milliseconds."""
    return time.time_ns() // 1_000_000


class Epoch:
    """The epoch file in the folder `data`, which is created on demand; None: no epoch is stored."""

    def __init__(self, data: str | None) -> None:
        self._folder = Path(data) if data else None

    def next(self) -> int:
        """Return the epoch for a new start, after writing it to disk."""
        now_ms = unix_ms()
        return self.keep(max(self._kept(now_ms) + 1, now_ms))

    def keep(self, epoch: int) -> int:
        """Write `epoch` to disk and return it; CannotStartNow if that fails."""
        if self._folder is not None:
            try:
                self._folder.mkdir(parents=True, exist_ok=True)
                self._write(f"{epoch}\n")
            except OSError as error:
                raise CannotStartNow(f"{self._folder / _FILE}: {reason_of(error.errno)}") from error
        return epoch

    def _write(self, text: str) -> None:
        assert self._folder is not None  # noqa: S101 - checked by `keep`
        file = self._folder / _FILE
        try:
            replace(file, text)
        except OSError as error:
            if not is_full(error.errno) or not file.exists():
                raise
            overwrite(file, text)

    def _kept(self, now_ms: int) -> int:
        """Return the epoch on disk; 0 if there is no usable one."""
        if self._folder is None:
            return 0
        file = self._folder / _FILE
        try:
            with file.open("rb") as stream:
                text = stream.read(_BYTES_MAX)
        except FileNotFoundError:
            return 0
        except OSError as error:
            raise CannotStartNow(f"{file}: {error.strerror}") from error
        epoch = int(text) if text.strip().isdigit() else None
        if epoch is None or epoch > now_ms + DAY_MS:
            why = "it is not an epoch" if epoch is None else "it is more than a day ahead of this clock"
            _log.warning(
                "the epoch file is not used", extra=fields(file=str(file), held=ascii(text)[2:-1], because=why)
            )
            return 0
        return epoch
