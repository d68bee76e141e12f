"""The log file of one router, written by its supervisor.

Law: if the log cannot be written, its lines are lost without further effect. The loss is logged once, in one sentence.
"""

from __future__ import annotations

import contextlib
import logging
import sys
from logging.handlers import RotatingFileHandler
from pathlib import Path

LOG_BYTES_MAX = 10_485_760
"""Bytes of one file: days of an ordinary router; a hundred routers stay below 2 GiB."""

_log = logging.getLogger(__name__)


class LogFile(RotatingFileHandler):
    def __init__(self, path: Path) -> None:
        """Log to `path`; the file is created with its first line."""
        super().__init__(path, maxBytes=LOG_BYTES_MAX, backupCount=1, delay=True)
        self._is_told = False

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the name is logging's
        error = sys.exception()
        if not isinstance(error, OSError):
            super().handleError(record)
        elif not self._is_told:
            self._is_told = True
            _log.warning("%s cannot be written, lines are lost: %s", self.baseFilename, error)

    def close(self) -> None:
        # Every line was flushed: only the rest of a line that was reported as lost can remain.
        with contextlib.suppress(OSError):
            super().close()
