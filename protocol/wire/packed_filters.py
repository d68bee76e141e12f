"""A filter in packed form, as in subscriptions and advertisements; C parses this form.

    filter      array of constraints, 0 to CONSTRAINTS_MAX
    constraint  array [name, opcode, operand, ...]; bit 7 of the opcode means "negated"

Law: opcodes never change (`native/tm_api.h` holds equal numbers). The operands of `in` are elements of the array
itself. Frames carry packed filters as opaque bytes: an invalid one makes its own entry invalid, not the frame around
it.
"""

from __future__ import annotations

from typing import Final, cast

from tamis.protocol import limits
from tamis.protocol.errors import FrameError, Refused
from tamis.protocol.filters import Constraint, Filter, Op
from tamis.protocol.values import Value
from tamis.protocol.wire._msgpack import pack
from tamis.protocol.wire.body_reader import BodyReader
from tamis.protocol.wire.codes import ErrorCode

NEGATED: Final = 0x80

OPCODES: Final = {
    Op.EXISTS: 0,
    Op.EQ: 1,
    Op.IN: 2,
    Op.BETWEEN: 3,
    Op.GT: 4,
    Op.GE: 5,
    Op.LT: 6,
    Op.LE: 7,
    Op.NE: 8,
    Op.PREFIX: 9,
    Op.SUFFIX: 10,
    Op.CONTAINS: 11,
}
_OPS: Final = {opcode: op for op, opcode in OPCODES.items()}
_HEAD: Final = 2  # name and opcode


def encode_filter(filter_: Filter) -> bytes:
    """Return the packed form of `filter_`; Refused if it is longer than FILTER_BYTES_MAX."""
    packed = pack([_plain(constraint) for constraint in filter_.constraints])
    if len(packed) > limits.FILTER_BYTES_MAX:
        raise Refused(f"a packed filter has at most {limits.FILTER_BYTES_MAX} bytes, this one {len(packed)}")
    return packed


def decode_filter(packed: bytes | memoryview) -> Filter:
    """Return the filter that `packed` consists of; FrameError with the reason if it is invalid."""
    if len(packed) > limits.FILTER_BYTES_MAX:
        raise FrameError(ErrorCode.BAD_FILTER, f"a packed filter has at most {limits.FILTER_BYTES_MAX} bytes")
    reader = BodyReader(packed, "filter")
    try:
        filter_ = Filter(tuple([_read(reader) for _ in range(reader.array(0, limits.CONSTRAINTS_MAX))]))
        reader.finish()
    except (FrameError, Refused) as error:
        raise FrameError(ErrorCode.BAD_FILTER, str(error)) from None
    return filter_


def _plain(constraint: Constraint) -> list[object]:
    opcode = OPCODES[constraint.op] | (NEGATED if constraint.negated else 0)
    return [constraint.name, opcode, *constraint.operands]


def _read(reader: BodyReader) -> Constraint:
    count = reader.array(_HEAD, _HEAD + limits.IN_VALUES_MAX)
    name, opcode = reader.scalar(), reader.scalar()
    if type(opcode) is not int or opcode & ~NEGATED not in _OPS:
        raise FrameError(ErrorCode.BAD_FILTER, f"no operator {opcode!r}")
    # Constraint checks name and operands, and its error names the valid ones.
    operands = tuple([cast("Value", reader.scalar()) for _ in range(count - _HEAD)])
    return Constraint(cast("str", name), _OPS[opcode & ~NEGATED], operands, bool(opcode & NEGATED))
