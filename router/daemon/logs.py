"""The router's log on standard error, as text for people or as one JSON object a line.

Law: a line is a fixed sentence and fields, by which lines of one kind can be found and counted. At most SAME_PER_SECOND
lines a second are written of one sentence, and the next one counts the others: a flood of messages must not fill the
disk as well.
"""

from __future__ import annotations

import json
import logging
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from tamis.protocol.shown import shown

SAME_PER_SECOND: Final = 20
_SENTENCES_MAX: Final = 1_000


def fields(**values: object) -> dict[str, object]:
    """Return the argument for the fields behind the sentence: `log.info("listening", extra=fields(address=text))`."""
    return {"fields": values}


def configure(level: str, form: str) -> None:
    """Send all lines of `level` and above to standard error; may be called again."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if form == "json" else TextLines())
    handler.addFilter(Throttle(time.monotonic))
    root = logging.getLogger("tamis")
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    root.propagate = False


class Throttle(logging.Filter):
    """Pass SAME_PER_SECOND lines of one sentence each second; the next one counts the suppressed ones."""

    def __init__(self, clock: Callable[[], float]) -> None:
        super().__init__()
        self._clock = clock
        self._seen: dict[str, tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        now, key = self._clock(), str(record.msg)
        since, count = self._seen.get(key, (now, 0))
        if now - since >= 1:
            _fields_of(record).update({"suppressed": count - SAME_PER_SECOND} if count > SAME_PER_SECOND else {})
            since, count = now, 0
        if len(self._seen) >= _SENTENCES_MAX:
            self._seen.clear()
        self._seen[key] = (since, count + 1)
        return count < SAME_PER_SECOND


class TextLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        said = " ".join(f"{name}={_shown(value)}" for name, value in _fields_of(record).items())
        line = f"{_time(record)} {record.levelname.lower():<7} {shown(record.getMessage())}"
        return f"{line}  {said}".rstrip() + _trace(self, record)


class JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = {"time": _time(record), "level": record.levelname.lower(), "message": record.getMessage()}
        trace = {"trace": _trace(self, record)} if record.exc_info else {}
        return json.dumps(line | _fields_of(record) | trace, default=str)


def _fields_of(record: logging.LogRecord) -> dict[str, object]:
    found: dict[str, object] = record.__dict__.setdefault("fields", {})
    return found


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _trace(formatter: logging.Formatter, record: logging.LogRecord) -> str:
    return "\n" + shown(formatter.formatException(record.exc_info), keep="\n") if record.exc_info else ""


def _shown(value: object) -> str:
    text = " ".join(map(str, value)) if isinstance(value, list) else str(value)
    return text if text.isprintable() and text and " " not in text else json.dumps(text)
