"""The C behind Tamis, checked: result codes become exceptions here and nowhere else.

Only this package touches `ffi`; what it hands out are Python values.
"""

from __future__ import annotations

from typing import Any, Final

from tamis.native._tm import ffi, lib
from tamis.protocol.errors import Refused, TamisError
from tamis.protocol.values import Value

_KIND_BOOLEAN: Final = lib.TM_KIND_BOOLEAN
_KIND_FLOAT: Final = lib.TM_KIND_FLOAT
_KIND_STRING: Final = lib.TM_KIND_STRING


class OutOfMemory(TamisError, MemoryError):
    """An allocation in C failed or passed its configured bound; nothing has changed."""


def check(result: int) -> None:
    """Raise what `result` means; return for TM_OK."""
    if result == lib.TM_OK:
        return
    if result == lib.TM_NO_MEMORY:
        raise OutOfMemory("out of memory in the native table")
    raise {
        lib.TM_MALFORMED: Refused("malformed message or filter"),
        lib.TM_TOO_MANY: Refused("past a limit of the language"),
        lib.TM_ABSENT: KeyError("not in the table"),
    }.get(result, RuntimeError(f"native call misused (result {result})"))


def decode_attributes(data: bytes) -> dict[str, Value]:
    """The attributes of a message from its msgpack map, as C reads them (numbers in canonical form)."""
    out = ffi.new("tm_attribute[]", lib.TM_ATTRIBUTES_MAX)
    count, used = ffi.new("size_t *"), ffi.new("size_t *")
    source = ffi.from_buffer(data)
    check(lib.tm_attributes_decode(source, len(data), out, count, used))
    if used[0] != len(data):
        raise Refused(f"{len(data) - used[0]} bytes after the attributes")
    return {ffi.buffer(a.name, a.name_length)[:].decode(): _value(a) for a in out[0 : count[0]]}


def _value(attribute: Any) -> Value:
    if attribute.kind == _KIND_STRING:
        text: bytes = ffi.buffer(attribute.string, attribute.length)[:]
        return text.decode()
    if attribute.kind == _KIND_FLOAT:
        return float(attribute.real)
    return bool(attribute.integer) if attribute.kind == _KIND_BOOLEAN else int(attribute.integer)
