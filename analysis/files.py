"""Which files a folder of logs has, and that they stay until they are read.

Law: a file that is there plain and compressed is read once, compressed: the plain one is about to go. What is still
being compressed is no file yet. Routers go on writing meanwhile: a plain file is held under a second name, as it may be
compressed and removed at any moment; a compressed file is removed only when it is the oldest, and is then missing as it
would soon have been anyway.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

_COMPRESSED = ".gz"


def family_of(path: Path) -> str:
    return path.name.partition("-")[0]


def log_files(folder: Path, family: str) -> list[Path]:
    """Return the log files of one family in `folder`, of all routers, sorted; the folder may be that of one router."""
    patterns = (f"{family}-*.jsonl", f"{family}-*.jsonl{_COMPRESSED}")
    found = {path for pattern in patterns for path in folder.rglob(pattern)}
    return sorted(path for path in found if _compressed(path) not in found)


def held(paths: Iterable[Path], folder: Path) -> Iterator[Path]:
    """Yield `paths`, with a second name in a folder of its own for each plain file, which holds it until that folder is
    removed."""
    for number, path in enumerate(paths):
        if path.suffix == _COMPRESSED:
            yield path
            continue
        place = folder / str(number) / path.name
        place.parent.mkdir(parents=True)
        try:
            _hold(path, place)
            yield place
        except FileNotFoundError:  # it has been compressed just now; if that is gone, too, there is nothing to read
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
