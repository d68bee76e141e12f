"""A frame as JSON, for the frozen vectors: what a stranger's decoder should find in the bytes.

Bytes are hex, enumerations their numbers; a float is written with its point, so that 1 and 1.0 differ.
"""

from __future__ import annotations

import dataclasses
import inspect

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
        return {name: _plain(getattr(value, name)) for name in _written(value)}
    if isinstance(value, tuple):
        names = _written(value) if hasattr(value, "_fields") else None
        return [_plain(item) for item in (value if names is None else [getattr(value, name) for name in names])]
    if isinstance(value, bytes):
        return value.hex()
    return int(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _written(value: object) -> list[str]:
    """The names of the fields that stand in the bytes: an appended one that says nothing is left out."""
    if dataclasses.is_dataclass(value):
        hints = {field.name: field.type for field in dataclasses.fields(value) if field.compare}
    else:
        stated = {each.name: each.annotation for each in inspect.signature(type(value)).parameters.values()}
        hints = {name: hint for name, hint in stated.items() if "REST" not in str(hint)}
    named = [(name, "APPENDED" in str(hint)) for name, hint in hints.items()]
    while named[-1][1] and not getattr(value, named[-1][0]):
        named.pop()
    return [name for name, _ in named]
