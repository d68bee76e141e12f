"""Lines of records into files, by router.

Law: the files are those that a router would leave: `<folder>/<router>/<family>-<epoch>-<number>.jsonl`. A simulated
life is short, so there is one file of each family for it, and nothing is compressed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Protocol


class Lines(Protocol):
    """Where records go."""

    def write(self, router: str, epoch: int, family: str, record: Mapping[str, object]) -> None: ...

    def close(self) -> None: ...


class LogFiles:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._open: dict[tuple[str, int, str], IO[str]] = {}

    def write(self, router: str, epoch: int, family: str, record: Mapping[str, object]) -> None:
        file = self._open.get((router, epoch, family))
        if file is None:
            path = self._folder / router / f"{family}-{epoch}-{0:06}.jsonl"
            path.parent.mkdir(parents=True, exist_ok=True)
            file = self._open[router, epoch, family] = path.open("x", encoding="utf-8")
        file.write(json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n")

    def close(self) -> None:
        for file in self._open.values():
            file.close()
        self._open.clear()
