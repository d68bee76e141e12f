"""The frozen vectors, read: name, bytes, and the frame as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

from tamis.protocol.wire.header import HEADER_BYTES
from tamis.protocol.wire.kinds import FrameKind


class Vector(NamedTuple):
    name: str
    data: bytes
    frame: dict[str, object]

    @property
    def kind(self) -> FrameKind:
        return FrameKind(self.data[4])

    @property
    def attributes(self) -> bytes:
        """The map of attributes in a data frame."""
        extensions = int.from_bytes(self.data[56:58], "little")
        start = HEADER_BYTES + extensions
        return self.data[start : start + int.from_bytes(self.data[60:64], "little")]

    def __str__(self) -> str:
        return self.name


_TEXT = (Path(__file__).parent / "vectors.json").read_text()
VECTORS = [Vector(one["name"], bytes.fromhex(one["hex"]), one["frame"]) for one in json.loads(_TEXT)]
BY_NAME = {vector.name: vector for vector in VECTORS}
DATA_VECTORS = [vector for vector in VECTORS if vector.kind.is_data]
BODY_VECTORS = [vector for vector in VECTORS if not vector.kind.is_data]
STREAM = b"".join(vector.data for vector in VECTORS)


def with_length(frame: bytes) -> bytes:
    """`frame` with the length in its prefix made true."""
    return len(frame).to_bytes(4, "little") + frame[4:]
