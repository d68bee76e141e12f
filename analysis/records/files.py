"""The files of a folder of logs, protected until they are read.

Law: a file that exists both plain and compressed is read once, compressed: the plain one is about to be removed. A file
that is still being compressed is ignored. Routers write meanwhile: a plain file is held under a second name, since it
may be compressed and removed at any time; a compressed file is removed only when it is the oldest, and is then missing,
as it would soon have been anyway.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

_COMPRESSED = ".gz"
TIMES = 8
"""The approximate ratio of a file's text to its compressed size."""
FEW_BYTES = 100 * 1024 * 1024
"""Bytes of text up to which Spark is started for few records: a quarter of a million messages."""


def family_of(path: Path) -> str:
    return path.name.partition("-")[0]


def log_files(folder: Path, family: str) -> list[Path]:
    """Return the log files of one family in `folder`, of all routers, sorted; the folder may be that of one router."""
    patterns = (f"{family}-*.jsonl", f"{family}-*.jsonl{_COMPRESSED}")
    found = {path for pattern in patterns for path in folder.rglob(pattern)}
    return sorted(path for path in found if _compressed(path) not in found)


def are_few(folder: Path) -> bool:
    """Return whether the logs in `folder` are small enough for a brief start of Spark."""
    found = (path for family in ("messages", "events") for path in log_files(folder, family))
    sizes = (path.stat().st_size * (TIMES if path.suffix == _COMPRESSED else 1) for path in found if path.exists())
    return sum(sizes) <= FEW_BYTES


def held(paths: Iterable[Path], folder: Path) -> Iterator[Path]:
    """Yield `paths`, with a second name in a folder of its own for each plain file, which protects it until that folder
    is removed."""
    for number, path in enumerate(paths):
        if path.suffix == _COMPRESSED:
            yield path
            continue
        place = folder / str(number) / path.name
        place.parent.mkdir(parents=True)
        try:
            _hold(path, place)
            yield place
        except FileNotFoundError:  # it was compressed just now, or is gone
            if _compressed(path).exists():
                yield _compressed(path)


def _hold(path: Path, place: Path) -> None:
    try:
        os.link(path, place)
    except FileNotFoundError:
        raise
    except OSError:  # another file system, or a file of another user
        shutil.copyfile(path, place)


def _compressed(path: Path) -> Path:
    return path.with_name(path.name + _COMPRESSED)
