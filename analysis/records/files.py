"""The files of a folder of logs, protected until they are read.

Law: a file that exists in several forms is read once, in the first form of `protocol/records.py`: the others are about
to be removed. A file that is still being made is ignored. Routers write meanwhile: a plain file is held under a second
name, since it may be compressed and removed at any time; a file in another form is removed only when it is the oldest,
and is then missing, as it would soon have been anyway, or when it is converted, and is then read in its new form.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from tamis.protocol.records import ENDINGS

FAMILIES: Final = ("messages", "events")
COLUMNS, _COMPRESSED, PLAIN = ENDINGS
TIMES: Final = {COLUMNS: 12, _COMPRESSED: 8, PLAIN: 1}
"""The approximate ratio of a file's text to its size, by form."""
FEW_BYTES = 100 * 1024 * 1024
"""Bytes of text up to which Spark is started for few records: a quarter of a million messages."""


def family_of(path: Path | str) -> str:
    return str(path).rpartition("/")[2].partition("-")[0]


def ending_of(path: str) -> str:
    """Return the form of a file; "" if it is no file of records."""
    return next((ending for ending in ENDINGS if path.endswith(ending)), "")


def forms_of(path: str) -> list[str]:
    """Return `path`, then the file in its other forms, the first of which replaces it when it is gone."""
    stem = path.removesuffix(ending_of(path))
    return [path, *(stem + ending for ending in ENDINGS if stem + ending != path)]


def stem_of(path: Path) -> Path:
    """Return what the forms of a file have in common."""
    return Path(str(path).removesuffix(ending_of(path.name)))


def log_files(folder: Path, family: str) -> list[Path]:
    """Return the log files of one family in `folder`, of all routers, sorted; the folder may be that of one router."""
    found = (str(path) for ending in ENDINGS for path in folder.rglob(f"{family}-*{ending}"))
    return sorted(map(Path, first_forms(found)))


def first_forms(paths: Iterable[str]) -> list[str]:
    """Return, of each file, the first of its forms in `paths`."""
    found: dict[str, str] = {}
    for path in sorted(paths, key=lambda path: ENDINGS.index(ending_of(path))):
        found.setdefault(path.removesuffix(ending_of(path)), path)
    return sorted(found.values())


def are_few(folder: Path) -> bool:
    """Return whether the logs in `folder` are small enough for a brief start of Spark."""
    return text_bytes_in(folder) <= FEW_BYTES


def text_bytes_in(folder: Path) -> int:
    """Return about how many bytes of lines the logs in `folder` have."""
    found = (path for family in FAMILIES for path in log_files(folder, family))
    return sum(text_bytes(path.name, path.stat().st_size) for path in found if path.exists())


def text_bytes(name: str, size: int) -> int:
    """Return about how many bytes of lines a file of `size` bytes has."""
    return size * TIMES[ending_of(name)]


def held(paths: Iterable[Path], folder: Path) -> Iterator[Path]:
    """Yield `paths`, with a second name in a folder of its own for each plain file, which protects it until that folder
    is removed."""
    for number, path in enumerate(paths):
        if not path.name.endswith(PLAIN):
            yield path
            continue
        place = folder / str(number) / path.name
        place.parent.mkdir(parents=True)
        try:
            _hold(path, place)
            yield place
        except FileNotFoundError:  # it was closed just now, or is gone
            yield from [form for form in map(Path, forms_of(str(path))) if form.exists()][:1]


def _hold(path: Path, place: Path) -> None:
    try:
        os.link(path, place)
    except FileNotFoundError:
        raise
    except OSError:  # another file system, or a file of another user
        shutil.copyfile(path, place)
