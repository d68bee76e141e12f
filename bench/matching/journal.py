"""What a run has measured so far, a line for each row: an interruption loses no more than the row that was running.

    {"measured": {"extension": ..., "bench": ..., "processor": ...}}     the first line
    {"key": "...", "row": ...}                                           one for each row

Law: rows of another build, other benchmarks or another processor are never taken over; a run that came to its end
leaves no journal, so the next one measures anew.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tamis.bench.cells import digest
from tamis.native import _tm

_HERE = Path(__file__).parent


class Journal:
    """The rows of this run by their key. `about` is what must be equal for a row to be taken over."""

    def __init__(self, path: Path, about: dict[str, str]) -> None:
        self._path = path
        self._rows: dict[str, Any] = {}
        head = json.dumps({"measured": about})
        whole = path.read_text().rpartition("\n")[0] if path.exists() else ""  # a line without its end was cut short
        lines = whole.split("\n")
        if lines[0] == head:
            self._rows.update(_row(line) for line in lines[1:])
        begun = path.with_suffix(".begun")
        begun.write_text("".join(f"{line}\n" for line in [head, *(_line(*each) for each in self._rows.items())]))
        begun.replace(path)

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, key: str) -> bool:
        return key in self._rows

    def __getitem__(self, key: str) -> Any:  # noqa: ANN401 - JSON
        return self._rows[key]

    def put(self, key: str, row: Any) -> None:  # noqa: ANN401 - JSON
        with self._path.open("a") as file:
            file.write(_line(key, row) + "\n")
        self._rows[key] = json.loads(json.dumps(row))

    def end(self) -> None:
        self._path.unlink()


def build_digests() -> dict[str, str]:
    """Of the compiled extension, of the benchmarks' own sources, and of those that draw filters and messages."""
    sources = sorted(_HERE.rglob("*.py"))
    return {
        "extension": digest([Path(_tm.__file__)]),
        "bench": digest(sources),
        "workloads": digest([path for path in sources if path.parent.name == "workloads" or path.name == "words.py"]),
    }


def _row(line: str) -> tuple[str, Any]:
    told = json.loads(line)
    return told["key"], told["row"]


def _line(key: str, row: Any) -> str:  # noqa: ANN401 - JSON
    return json.dumps({"key": key, "row": row})
