"""Conversion of a message's attributes between Python and C.

Law: the bytes passed to C are a msgpack map; numbers that C returns are in canonical form.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tamis.native._tm import ffi, lib
from tamis.native.results import check
from tamis.protocol.errors import Refused
from tamis.protocol.values import Value
from tamis.protocol.wire.attributes import encode_attributes

_KIND_BOOLEAN: Final = lib.TM_KIND_BOOLEAN
_KIND_FLOAT: Final = lib.TM_KIND_FLOAT
_KIND_STRING: Final = lib.TM_KIND_STRING

_Cdata = Any  # cffi's types exist only at run time


class Decoder:
    """Memory for one decoded message. `attributes` are valid until the next `decode`, and while its `data` lives."""

    def __init__(self) -> None:
        self.attributes = ffi.new("tm_attribute[]", lib.TM_ATTRIBUTES_MAX)
        self._count, self._used = ffi.new("size_t *"), ffi.new("size_t *")

    def decode(self, data: bytes) -> int:
        """Fill `attributes` from `data` and return their number. Raise Refused if `data` is no map of attributes."""
        check(lib.tm_attributes_decode(ffi.from_buffer(data), len(data), self.attributes, self._count, self._used))
        used, count = int(self._used[0]), int(self._count[0])
        if used != len(data):
            raise Refused(f"{len(data) - used} bytes after the attributes")
        return count


def decode_attributes(data: bytes) -> dict[str, Value]:
    """Return the attributes in a msgpack map, decoded by C."""
    decoder = Decoder()
    count = decoder.decode(data)
    return {ffi.buffer(a.name, a.name_length)[:].decode(): _value(a) for a in decoder.attributes[0:count]}


def packed_attributes(attributes: Mapping[str, Value] | bytes) -> bytes:
    """Return the msgpack map of `attributes`; bytes are returned unchanged, since C checks them."""
    return attributes if isinstance(attributes, bytes) else encode_attributes(attributes)


def _value(attribute: _Cdata) -> Value:
    if attribute.kind == _KIND_STRING:
        text: bytes = ffi.buffer(attribute.string, attribute.length)[:]
        return text.decode()
    if attribute.kind == _KIND_FLOAT:
        return float(attribute.real)
    return bool(attribute.integer) if attribute.kind == _KIND_BOOLEAN else int(attribute.integer)
