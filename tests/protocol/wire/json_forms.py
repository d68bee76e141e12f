"""A frame as JSON, for the frozen vectors: what a stranger's decoder should find in the bytes.

Bytes are hex, enumerations their numbers; a float is written with its point, so that 1 and 1.0 differ.
"""

from __future__ import annotations

import dataclasses

from tamis.protocol.wire.data_frames import DataFrame
from tamis.protocol.wire.frames import Frame, kind_of


def json_form(frame: Frame) -> dict[str, object]:
    fields = _data_fields(frame) if isinstance(frame, DataFrame) else _plain(frame)
    assert isinstance(fields, dict)
    return {"kind": kind_of(frame).name, **fields}


def _data_fields(frame: DataFrame) -> dict[str, object]:
    return {
        "flags": int(frame.flags),
        "hop_limit": frame.hop_limit,
        "transit": list(frame.transit),
        "id": list(frame.message.id),
        "publish_time_ns": frame.publish_time_ns,
        "extensions": {str(int(type_)): _plain(value) for type_, value in frame.extensions.items()},
        "attributes": dict(frame.message.attributes),
        "payload": frame.message.payload.hex(),
    }


def _plain(value: object) -> object:
    if dataclasses.is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, bytes):
        return value.hex()
    return int(value) if isinstance(value, int) and not isinstance(value, bool) else value
