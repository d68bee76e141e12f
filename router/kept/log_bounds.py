"""How large the log of a router may become, and its ring in memory, and whether there is one already.

Law: the file says it. Where it says nothing of `kept`, the log has a part of the free space of its disk, in which its
own files count as free, and never less than it has on disk already; its segments keep their size.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tamis.configs.sections.kept import SHARE_OF_FREE, KeptSettings

SECTOR: Final = 512
SEGMENTS: Final = 16
"""A log that is kept by default has at least so many segments, or they have SEGMENT_BYTES_MIN."""
SEGMENT_BYTES_MIN: Final = 4 << 20
LEAST_SEGMENTS: Final = 4
LOG_BYTES_MIN: Final = LEAST_SEGMENTS * SEGMENT_BYTES_MIN
"""Bytes of the smallest log that is made by default: two segments are in reserve."""
RING_BYTES_MIN: Final = 4 << 20
"""A ring holds four of the longest frames."""


@dataclass(frozen=True, slots=True)
class LogBounds:
    """Bytes of the log on disk, and of one of its segments, whole sectors."""

    bytes_max: int
    segment_bytes: int


def has_log(settings: KeptSettings) -> bool:
    """Return whether a log is there, which a router opens at its start."""
    try:
        return bool(_file_sizes(Path(settings.folder or "")))
    except OSError:
        return True  # the opening says what is wrong


def bounds_of(settings: KeptSettings) -> LogBounds:
    """Return the bounds of a log that is opened now. OSError where its disk cannot be asked; a log that is kept by
    default and has no room at all has 0 bytes."""
    if not settings.is_by_default:
        return LogBounds(settings.bytes, settings.segment_bytes // SECTOR * SECTOR)
    folder = Path(settings.folder or "")
    files = _file_sizes(folder)
    there = sum(files)
    share = min((free_bytes(folder) + there) // SHARE_OF_FREE, settings.bytes)
    if files:
        segment_bytes = max(files) // SECTOR * SECTOR
        return LogBounds(max(share, there + segment_bytes, LEAST_SEGMENTS * segment_bytes), segment_bytes)
    segment_bytes = min(settings.segment_bytes, max(SEGMENT_BYTES_MIN, share // SEGMENTS))
    return LogBounds(share if share >= LOG_BYTES_MIN else 0, segment_bytes // SECTOR * SECTOR)


def ring_bytes(settings: KeptSettings) -> int:
    """Return the size of the ring: the power of two that `memory_bytes` has room for."""
    return max(RING_BYTES_MIN, 1 << (settings.memory_bytes.bit_length() - 1))


def _file_sizes(folder: Path) -> list[int]:
    """Return the sizes of the segments, in use and spare, that are in the folder of a log; it need not be there."""
    try:
        with os.scandir(folder) as entries:
            return [entry.stat().st_size for entry in entries if entry.name.startswith(("segment-", "spare-"))]
    except (FileNotFoundError, NotADirectoryError):
        return []


def free_bytes(folder: Path) -> int:
    """Return what is free on the disk where `folder` is, or will be."""
    while not folder.exists():
        folder = folder.parent
    disk = os.statvfs(folder)
    return disk.f_bavail * disk.f_frsize
