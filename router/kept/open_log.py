"""The log of a router, opened before it serves.

Law: a log that cannot be opened keeps the router from starting, with a sentence that names the folder and what to do;
one that is damaged is served, and says what is missing.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Final

from tamis.configs.sections.kept import KeptSettings
from tamis.native.log import Log, LogFailed, LogFull
from tamis.router.daemon.files import reason_of
from tamis.router.daemon.logs import fields
from tamis.router.daemon.settings import CannotStartNow
from tamis.router.kept.log_watch import ranges_shown

RING_BYTES_MIN: Final = 4 << 20
"""A ring holds four of the longest frames."""

_log = logging.getLogger(__name__)


def ring_bytes(settings: KeptSettings) -> int:
    """Return the size of the ring: the power of two that `memory_bytes` has room for."""
    return max(RING_BYTES_MIN, 1 << (settings.memory_bytes.bit_length() - 1))


def segment_bytes(settings: KeptSettings) -> int:
    """Return the size of a segment, whole sectors."""
    return settings.segment_bytes // 512 * 512


def open_log(settings: KeptSettings) -> Log:
    """Return the log of a router, held until its keeps are filled; CannotStartNow where there is none to be had."""
    folder = Path(settings.folder or "")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        log = Log(
            folder,
            bytes_max=settings.bytes,
            segment_bytes=segment_bytes(settings),
            ring_bytes=ring_bytes(settings),
            is_held=True,
        )
    except OSError as error:
        raise CannotStartNow(
            f"kept.folder {folder}: {reason_of(error.errno)}; the log of kept messages is there"
        ) from None
    except LogFull:
        raise CannotStartNow(
            f"kept.folder {folder}: the disk is full, and the log of kept messages has nothing there to begin with: "
            "make room, or name a folder of another disk"
        ) from None
    except LogFailed as error:
        raise CannotStartNow(
            f"kept.folder {folder}: the log of kept messages cannot be opened: {error}. "
            "One router uses a folder, and no program but routers of this file writes there"
        ) from None
    except ValueError as error:
        raise CannotStartNow(f"kept: {error}") from None
    _tell(log, folder)
    return log


def _tell(log: Log, folder: Path) -> None:
    found, state = log.recovery(), log.state()
    _log.info("the log of kept messages is open", extra=fields(folder=str(folder), **found))
    if state["damaged"] or found["missing"] or found["lost_copies"]:
        counts = {name: found[name] for name in ("damages", "missing", "lost_copies")}
        _log.error(
            "the log of kept messages is damaged: these records cannot be read, and consumers get Gaps for them",
            extra=fields(folder=str(folder), files=state["damaged"], **counts, ranges=ranges_shown(log)),
        )
