"""Sizes of the log of a router and of its ring in memory; whether a log exists already.

Law: the topology file sets the size. Without `durable` in the file the log gets a part of the free space of its disk,
with its own files counted as free, and never less than it has on disk already; its segments keep their size.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tamis.configs.sections.durable import SHARE_OF_FREE, DurableSettings

SECTOR: Final = 512
SEGMENTS: Final = 16
"""Least number of segments of a log by default, unless they would be smaller than SEGMENT_BYTES_MIN."""
SEGMENT_BYTES_MIN: Final = 4 << 20
LEAST_SEGMENTS: Final = 4
LOG_BYTES_MIN: Final = LEAST_SEGMENTS * SEGMENT_BYTES_MIN
"""Bytes of the smallest log by default; two of its segments are a reserve."""
RING_BYTES_MIN: Final = 4 << 20
"""Bytes of the smallest ring, which holds four of the longest frames."""


@dataclass(frozen=True, slots=True)
class LogBounds:
    """Most bytes of the log on disk, and the bytes of one segment, a multiple of SECTOR."""

    bytes_max: int
    segment_bytes: int


def has_log(settings: DurableSettings) -> bool:
    """Return whether the folder has a log, or cannot be read: a router then opens it at its start."""
    try:
        return bool(_file_sizes(Path(settings.folder or "")))
    except OSError:
        return True  # opening it raises the error with its reason


def bounds_of(settings: DurableSettings) -> LogBounds:
    """Return the bounds of a log that is opened now; a log by default without room on its disk has 0 bytes. Raise
    OSError if the disk cannot be read."""
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


def ring_bytes(settings: DurableSettings) -> int:
    """Return the bytes of the ring: the largest power of two within `memory_bytes`, at least RING_BYTES_MIN."""
    return max(RING_BYTES_MIN, 1 << (settings.memory_bytes.bit_length() - 1))


def _file_sizes(folder: Path) -> list[int]:
    """Return the sizes of the segments in `folder`, in use and spare; empty if there is no folder."""
    try:
        with os.scandir(folder) as entries:
            return [entry.stat().st_size for entry in entries if entry.name.startswith(("segment-", "spare-"))]
    except (FileNotFoundError, NotADirectoryError):
        return []


def free_bytes(folder: Path) -> int:
    """Return the free bytes of the disk where `folder` is or would be made."""
    while not folder.exists():
        folder = folder.parent
    disk = os.statvfs(folder)
    return disk.f_bavail * disk.f_frsize
