"""Deliveries written as JSON by Python's own means: the twin of `native/relay/codecs/events.c`, with which it shares no
code."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Final

from tamis.protocol.values import Value
from tamis.protocol.wire.data_frames import DataFrame, decode_data
from tamis.protocol.wire.extensions import ExtensionType
from tamis.protocol.wire.kinds import FrameKind

ID, TIME, MATCHED, STORED, INTEGERS, BY_POSITION = 1, 2, 4, 8, 16, 32
_ESCAPED: Final = re.compile("[\u2028\u2029]|<(?=[/!])")
_DELIVER: Final = int(FrameKind.DELIVER)


def text_of(form: object) -> str:
    """Return JSON as C writes it."""
    text = json.dumps(form, ensure_ascii=False, separators=(",", ":"))
    return _ESCAPED.sub(lambda one: f"\\u{ord(one[0]):04x}", text)


def _value(value: Value, fields: int) -> object:
    is_large = isinstance(value, int) and not isinstance(value, bool) and abs(value) > 2**53
    return {"integer": str(value)} if fields & INTEGERS and is_large else value


def _time(ns: int) -> str:
    return f"{datetime.fromtimestamp(ns // 10**9, UTC):%Y-%m-%dT%H:%M:%S}.{ns % 10**9:09}Z"


def message_of(frame: DataFrame, fields: int) -> dict[str, object]:
    form: dict[str, object] = {"id": "{}-{}".format(*frame.message.id)} if fields & ID else {}
    form["attributes"] = {name: _value(value, fields) for name, value in frame.message.attributes.items()}
    try:
        form["payload"] = frame.message.payload.decode()
    except UnicodeDecodeError:
        form["payload_base64"] = b64encode(frame.message.payload).decode()
    if fields & TIME and frame.publish_time_ns:
        form["time"] = _time(frame.publish_time_ns)
    extensions = frame.extensions
    if fields & MATCHED:
        form["matched"] = list(extensions.get(ExtensionType.SATISFIED, ()))  # type: ignore[call-overload]
    if fields & STORED and extensions.get(ExtensionType.LOG_POSITION):
        form["position"] = extensions[ExtensionType.LOG_POSITION]
    if fields & STORED and ExtensionType.DELIVERIES in extensions:
        found = extensions[ExtensionType.DELIVERIES]
        form["deliveries"] = found.times  # type: ignore[union-attr]
        for name in ("replayed", "maybe_duplicate", "dead_letter"):
            form |= {name: True} if getattr(found, name) else {}
    return form


def frames_of(data: bytes) -> Iterator[bytes]:
    """Yield the DELIVER frames at the begin of `data`."""
    while len(data) >= 8 and data[4] == _DELIVER and len(data) >= int.from_bytes(data[:4], "little"):
        size = int.from_bytes(data[:4], "little")
        yield data[:size]
        data = data[size:]


def write_sse(data: bytes, fields: int) -> bytes:
    events = []
    for raw in frames_of(data):
        frame = decode_data(raw)
        position = frame.extensions.get(ExtensionType.LOG_POSITION, 0)
        id_ = str(position) if fields & BY_POSITION and position else "{}-{}".format(*frame.message.id)
        events.append(f"id: {id_}\ndata: {text_of(message_of(frame, fields))}\n\n")
    return "".join(events).encode()


def write_ndjson(data: bytes, fields: int) -> bytes:
    return "".join(text_of(message_of(decode_data(raw), fields)) + "\n" for raw in frames_of(data)).encode()


def write_socket(data: bytes, fields: int, names: Mapping[int, str], joined_bytes_max: int) -> bytes:
    frames: list[bytes] = []
    for raw in frames_of(data):
        frame = decode_data(raw)
        ids = frame.extensions.get(ExtensionType.SATISFIED, ())
        form = {"message": message_of(frame, fields), "for": [names.get(id_, id_) for id_ in ids]}  # type: ignore[union-attr]
        line = text_of(form).encode()
        if frames and len(frames[-1]) + 1 + len(line) <= joined_bytes_max:
            frames[-1] += b"\n" + line
        else:
            frames.append(line)
    return b"".join(_head(len(frame)) + frame for frame in frames)


def _head(size: int) -> bytes:
    if size < 126:
        return bytes([0x81, size])
    return b"\x81\x7e" + size.to_bytes(2, "big") if size < 65_536 else b"\x81\x7f" + size.to_bytes(8, "big")
