"""Write lines of records into files, by router.

Law: the files equal those of a router, since the router's own writer writes them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Protocol

from tamis.router.records.converting import compress
from tamis.router.records.files import Bounds, RecordFiles
from tamis.router.records.lines import Family

BOUNDS: Final = Bounds(file_bytes_max=256 * 1024 * 1024, file_seconds_max=float("inf"), stored_bytes_max=2**60)
"""Bounds so large that no file is removed: a run is analysed whole."""


class LogLines(Protocol):
    """Writes lines of records into a router's files."""

    def write(self, router: str, epoch: int, family: Family, record: Mapping[str, object]) -> None: ...

    def close(self) -> None: ...


class LogFiles:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lives: dict[tuple[str, int], RecordFiles] = {}

    def write(self, router: str, epoch: int, family: Family, record: Mapping[str, object]) -> None:
        life = self._lives.get((router, epoch)) or self._begin(router, epoch)
        line = json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n"
        life.write(family, line.encode(), 0.0)

    def close(self) -> None:
        for life in self._lives.values():
            life.close()
        self._lives.clear()

    def _begin(self, router: str, epoch: int) -> RecordFiles:
        life = self._lives[router, epoch] = RecordFiles(self._folder / router, epoch, BOUNDS, compress)
        return life
