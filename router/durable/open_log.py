"""Opening of the log of a router: before it serves clients, or at the first request for a durable subscription.

Law: a log that cannot be opened raises CannotStartNow, whose sentence names the folder and a remedy; a damaged log is
used, and the missing ranges are logged.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path

from tamis.configs.sections.durable import SHARE_OF_FREE, DurableSettings
from tamis.native.log import Log, LogFailed, LogFull
from tamis.router.daemon.files import reason_of
from tamis.router.daemon.logs import fields
from tamis.router.durable.log_bounds import LOG_BYTES_MIN, LogBounds, bounds_of, free_bytes, ring_bytes
from tamis.router.durable.log_watch import ranges_shown
from tamis.serving.cannot_start import CannotStartNow

_log = logging.getLogger(__name__)


class NoRoom(CannotStartNow):
    """Raised when the disk has too little room for a log by default."""


@dataclass(frozen=True, slots=True)
class OpenedLog:
    """A log and its bounds. The holder closes the log."""

    log: Log
    bounds: LogBounds


def open_log(settings: DurableSettings) -> OpenedLog:
    """Open or make the log of a router; its records are held until DurableRegistry releases them. Raise CannotStartNow
    if that fails."""
    folder = Path(settings.folder or "")
    try:
        bounds = bounds_of(settings)
        if bounds.bytes_max == 0:
            raise NoRoom(
                f"the disk of {folder} has {free_bytes(folder):,} bytes free, and a new log needs "
                f"{LOG_BYTES_MIN * SHARE_OF_FREE:,} free: make room, or set `durable.folder`"
            )
        folder.mkdir(parents=True, exist_ok=True)
        log = Log(
            folder,
            bytes_max=bounds.bytes_max,
            segment_bytes=bounds.segment_bytes,
            ring_bytes=ring_bytes(settings),
            is_held=True,
        )
    except OSError as error:
        raise CannotStartNow(
            f"durable.folder {folder}: the log of stored messages cannot be opened: {reason_of(error.errno)}"
        ) from None
    except LogFull:
        raise CannotStartNow(
            f"durable.folder {folder}: the disk is full, and the log of stored messages cannot have its first file: "
            "make room, or set a folder on another disk"
        ) from None
    except LogFailed as error:
        raise CannotStartNow(
            f"durable.folder {folder}: the log of stored messages cannot be opened: {error}. "
            "Only one router may use the folder, and no other program may write to it"
        ) from None
    except ValueError as error:
        raise CannotStartNow(f"durable: {error}") from None
    _tell(log, folder, bounds)
    return OpenedLog(log, bounds)


def _tell(log: Log, folder: Path, bounds: LogBounds) -> None:
    found, state = log.recovery(), log.state()
    _log.info(
        "the log of stored messages is open",
        extra=fields(folder=str(folder), bytes_max=bounds.bytes_max, segment_bytes=bounds.segment_bytes, **found),
    )
    if state["damaged"] or found["missing"] or found["lost_copies"]:
        counts = {name: found[name] for name in ("damages", "missing", "lost_copies")}
        _log.error(
            "the log of stored messages is damaged: these records cannot be read, and consumers receive Gaps for them",
            extra=fields(folder=str(folder), files=state["damaged"], **counts, ranges=ranges_shown(log)),
        )
