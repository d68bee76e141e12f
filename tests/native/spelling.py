"""msgpack in every spelling it allows: a short integer may come in long form, a number as any width that holds it."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence

Pick = Callable[[Sequence[bytes]], bytes]
"""Chooses one of the spellings."""

_WIDTHS = (1, 2, 4, 8)


def spell(value: object, pick: Pick) -> bytes:
    if isinstance(value, bool):
        return b"\xc3" if value else b"\xc2"
    if isinstance(value, int):
        return pick(_integers(value))
    if isinstance(value, float):
        return pick(_floats(value))
    if isinstance(value, str):
        text = value.encode()
        return pick(_heads(len(text), 0xA0, 31, (0xD9, 0xDA, 0xDB), 1)) + text
    if isinstance(value, dict):
        inside = b"".join(spell(key, pick) + spell(item, pick) for key, item in value.items())
        return pick(_heads(len(value), 0x80, 15, (0xDE, 0xDF), 2)) + inside
    assert isinstance(value, list | tuple)
    return pick(_heads(len(value), 0x90, 15, (0xDC, 0xDD), 2)) + b"".join(spell(item, pick) for item in value)


def _heads(count: int, short: int, short_max: int, tags: tuple[int, ...], width: int) -> list[bytes]:
    found = [bytes([short | count])] if count <= short_max else []
    for tag in tags:
        if count < 1 << 8 * width:
            found.append(bytes([tag]) + count.to_bytes(width, "big"))
        width *= 2
    return found


def _integers(value: int) -> list[bytes]:
    found = [value.to_bytes(1, "big", signed=value < 0)] if -32 <= value < 128 else []
    for power, width in enumerate(_WIDTHS):
        bits = 8 * width
        if 0 <= value < 1 << bits:
            found.append(bytes([0xCC + power]) + value.to_bytes(width, "big"))
        if -(1 << bits - 1) <= value < 1 << bits - 1:
            found.append(bytes([0xD0 + power]) + value.to_bytes(width, "big", signed=True))
    return found


def _floats(value: float) -> list[bytes]:
    found = [b"\xcb" + struct.pack(">d", value)]
    try:
        short = struct.pack(">f", value)
    except OverflowError:
        return found
    return [*found, b"\xca" + short] if struct.unpack(">f", short)[0] == value else found
