"""A 64-bit key for a filter, by which routers, logs and frames name it.

Law: filters with equal normal forms have equal keys, on every machine and in every version with this FORMAT; different
ones differ but for the chance of a 64-bit hash. The key is the little-endian BLAKE2b of 8 bytes over:

    filter      FORMAT (1 byte), number of constraints, then each constraint in the order of the normal form
    constraint  name, 0 or 1 for negated (1 byte), name of the operator in JSON, number of operands, then each operand
    operand     b and 0 or 1 (1 byte) | i and the integer (8 bytes, signed) | f and the IEEE double (8 bytes) | s, text
    text        number of bytes, UTF-8

All numbers are little-endian, all counts 4 bytes. Every part contains its length, so no two forms have equal encodings.
"""

from __future__ import annotations

import hashlib
import struct

from tamis.protocol.filters import Constraint, Filter
from tamis.protocol.normal import normalize
from tamis.protocol.values import Value

FORMAT = 1
"""The number of this encoding. It increases whenever the key of a filter changes, by the encoding or by the normal
form."""


def filter_key(filter_: Filter) -> int:
    """Return the unsigned key of the filter's normal form; NeverMatches if it has no normal form."""
    return normal_key(normalize(filter_))


def normal_key(normal: Filter) -> int:
    """Return the key of a filter that is a normal form already."""
    return int.from_bytes(hashlib.blake2b(encode_normal(normal), digest_size=8).digest(), "little")


def encode_normal(normal: Filter) -> bytes:
    """Return the bytes that are hashed to the key."""
    constraints = normal.constraints
    return b"".join([struct.pack("<BI", FORMAT, len(constraints)), *map(_constraint, constraints)])


def _constraint(constraint: Constraint) -> bytes:
    operands = constraint.operands
    head = (_text(constraint.name), struct.pack("<?", constraint.negated), _text(constraint.op.value))
    return b"".join([*head, struct.pack("<I", len(operands)), *map(_operand, operands)])


def _operand(value: Value) -> bytes:
    if isinstance(value, bool):
        return struct.pack("<c?", b"b", value)
    if isinstance(value, int):
        return struct.pack("<cq", b"i", value)
    if isinstance(value, float):
        return struct.pack("<cd", b"f", value)
    return b"s" + _text(value)


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<I", len(data)) + data
