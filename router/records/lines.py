"""An event as a line of JSON, with the fields that all lines of one run have.

Law: a line is one object with the fields of its kind (protocol/records.py); a field with None is left out. Lines are
numbered by file family whether they are written or not, so that a gap shows a loss.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Final, Literal

from tamis.protocol.records import KINDS, VERSION

Family = Literal["messages", "events"]
FAMILIES: Final[tuple[Family, ...]] = ("messages", "events")

_encode: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


@dataclass(slots=True)
class RecordLines:
    """Makes the lines of one run of one router."""

    router: str
    epoch: int
    _numbers: dict[Family, Iterator[int]] = field(default_factory=lambda: {family: count() for family in FAMILIES})

    def number(self, family: Family) -> int:
        """Return the number of the next line; any thread may call this."""
        return next(self._numbers[family])

    def line(self, kind: str, t_us: int, n: int, fields: Mapping[str, object]) -> bytes:
        head = self._head(kind) | {"t_us": t_us, "n": n}
        return (_encode(head | {name: value for name, value in fields.items() if value is not None}) + "\n").encode()

    def prefix(self, kind: str) -> bytes:
        """Return the begin of a line of this kind, up to the value of `t_us`; C writes the rest."""
        return (_encode(self._head(kind))[:-1] + ',"t_us":').encode()

    def _head(self, kind: str) -> dict[str, object]:
        return {"v": VERSION, "kind": kind, "router": self.router, "epoch": self.epoch}


def family_of(kind: str) -> Family:
    return KINDS[kind].family
