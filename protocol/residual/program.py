"""A residual program: constants and instructions, its bytes, and the check that they are one.

    bytes         version (1), number of constants (1), number of instructions (2), constants, instructions, data
    constant      kind (1), zero (1), length (2), offset of its bytes in the data (2); the offsets tile the data
    instruction   op (1), a (1), b (2); what is not used is zero

All numbers are little-endian. The data of a boolean is a byte 0 or 1, of an integer and a double eight bytes, of a text
UTF-8, of a glob see patterns.py, of a network the bits (1) and an address of 4 or 16 bytes.

Law: a program has one form in bytes. Every jump leads forward to an instruction or the end; each instruction is reached
with one depth of the stack, whatever the way; the end is reached with one value. So a program that read_program accepts
runs at most once through its instructions and cannot fault.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import Final, NamedTuple

from tamis.protocol.errors import Refused
from tamis.protocol.limits import NAME_BYTES_MAX
from tamis.protocol.residual import instructions
from tamis.protocol.residual.instructions import EFFECTS, Arithmetic, Cast, Instruction, KindBit, Mixed, Opcode, Takes
from tamis.protocol.residual.patterns import ANY_CHARACTER, ANY_TEXT, Cidr, Glob
from tamis.protocol.values import Value, check_value

Constant = Value | Glob | Cidr

_HEAD: Final = struct.Struct("<BBH")
_ENTRY: Final = struct.Struct("<BBHH")
_INSTRUCTION: Final = struct.Struct("<BBH")
_BOOLEAN, _INTEGER, _DOUBLE, _TEXT, _GLOB, _CIDR = range(1, 7)
_CIDR_SIZES: Final = {5: 32, 17: 128}  # bytes of a network: bits of an address


class _ConstantBytes(NamedTuple):
    kind: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Program:
    """Checked when it is made: Refused with the place of the first mistake."""

    constants: tuple[Constant, ...]
    code: tuple[Instruction, ...]

    def __post_init__(self) -> None:
        stored = [_stored(constant) for constant in self.constants]
        _check_sizes(len(stored), len(self.code), sum(len(data) for _, data in stored))
        for at, (kind, data) in enumerate(stored):
            _check_constant(at, kind, data)
        _check_code(stored, self.code)

    def names(self) -> tuple[str, ...]:
        """Return the attributes that the program asks for, each once, in the order of its instructions."""
        asked = (each for each in self.code if EFFECTS[each.op].takes is Takes.NAME)
        return tuple(dict.fromkeys(str(self.constants[each.a]) for each in asked))

    def pack(self) -> bytes:
        """Return the bytes of the program."""
        stored = [_stored(constant) for constant in self.constants]
        packed, at = bytearray(_HEAD.pack(instructions.VERSION, len(stored), len(self.code))), 0
        for kind, data in stored:
            packed += _ENTRY.pack(kind, 0, len(data), at)
            at += len(data)
        for instruction in self.code:
            packed += _INSTRUCTION.pack(*instruction)
        return bytes(packed) + b"".join(data for _, data in stored)


def read_program(packed: bytes) -> Program:
    """Return the program that the bytes are; Refused with the reason if they are none."""
    if not _HEAD.size <= len(packed) <= instructions.PROGRAM_BYTES_MAX:
        raise Refused(f"a program has {_HEAD.size} to {instructions.PROGRAM_BYTES_MAX} bytes, not {len(packed)}")
    version, constants, code = _HEAD.unpack_from(packed)
    if version != instructions.VERSION:
        raise Refused(f"a program of version {version}; known is {instructions.VERSION}")
    code_at = _HEAD.size + constants * _ENTRY.size
    data_at = code_at + code * _INSTRUCTION.size
    _check_sizes(constants, code, len(packed) - data_at)
    if data_at > len(packed):
        raise Refused(f"the program has {len(packed)} bytes; its constants and instructions take {data_at}")
    stored, at = [], data_at
    for number, (kind, zero, length, offset) in enumerate(_ENTRY.iter_unpack(packed[_HEAD.size : code_at])):
        if zero or offset != at - data_at or at + length > len(packed):
            raise Refused(f"constant {number} has no place in the data")
        _check_constant(number, kind, packed[at : at + length])
        stored.append(_ConstantBytes(kind, packed[at : at + length]))
        at += length
    if at != len(packed):
        raise Refused(f"{len(packed) - at} bytes after the last constant")
    read = tuple(_read_instruction(i, *row) for i, row in enumerate(_INSTRUCTION.iter_unpack(packed[code_at:data_at])))
    return Program(tuple(_constant(*each) for each in stored), read)


def _check_sizes(constants: int, code: int, data: int) -> None:
    if constants > instructions.CONSTANTS_MAX:
        raise Refused(f"a program has at most {instructions.CONSTANTS_MAX} constants, this one {constants}")
    if not 1 <= code <= instructions.INSTRUCTIONS_MAX:
        raise Refused(f"a program has 1 to {instructions.INSTRUCTIONS_MAX} instructions, this one {code}")
    size = _HEAD.size + constants * _ENTRY.size + code * _INSTRUCTION.size + data
    if size > instructions.PROGRAM_BYTES_MAX:
        raise Refused(f"a program has at most {instructions.PROGRAM_BYTES_MAX} bytes, this one {size}")


# ---- constants


def _stored(constant: Constant) -> _ConstantBytes:
    if isinstance(constant, Glob):
        return _ConstantBytes(_GLOB, constant.pattern)
    if isinstance(constant, Cidr):
        return _ConstantBytes(_CIDR, bytes([constant.bits]) + constant.address)
    check_value(constant, instructions.TEXT_BYTES_MAX)
    if isinstance(constant, bool):
        return _ConstantBytes(_BOOLEAN, bytes([constant]))
    if isinstance(constant, int):
        return _ConstantBytes(_INTEGER, struct.pack("<q", constant))
    if isinstance(constant, float):
        return _ConstantBytes(_DOUBLE, struct.pack("<d", constant))
    return _ConstantBytes(_TEXT, constant.encode())


def _check_constant(at: int, kind: int, data: bytes) -> None:
    """Refuse bytes that are no constant of this kind."""
    match kind:
        case 1:
            is_one = data in (b"\0", b"\1")
        case 2:
            is_one = len(data) == 8
        case 3:
            is_one = len(data) == 8 and math.isfinite(struct.unpack("<d", data)[0])
        case 4 | 5:
            is_one = len(data) <= instructions.TEXT_BYTES_MAX and _is_text(data, kind == _GLOB)
        case 6:
            is_one = len(data) in _CIDR_SIZES and data[0] <= _CIDR_SIZES[len(data)]
        case _:
            is_one = False
    if not is_one:
        raise Refused(f"constant {at} is none of kind {kind}")


def _is_text(data: bytes, is_glob: bool) -> bool:
    pieces = data.replace(ANY_CHARACTER, ANY_TEXT).split(ANY_TEXT) if is_glob else [data]
    try:
        for piece in pieces:
            piece.decode()
    except UnicodeDecodeError:
        return False
    return True


def _constant(kind: int, data: bytes) -> Constant:
    match kind:
        case 1:
            return data == b"\1"
        case 2:
            return int.from_bytes(data, "little", signed=True)
        case 3:
            return float(struct.unpack("<d", data)[0])
        case 4:
            return data.decode()
        case 5:
            return Glob(data)
        case _:
            return Cidr(data[1:], data[0])


# ---- instructions


def _read_instruction(at: int, op: int, a: int, b: int) -> Instruction:
    if op not in EFFECTS:
        raise Refused(f"instruction {at} has the number {op}, which none has")
    return Instruction(Opcode(op), a, b)


def _check_code(constants: list[_ConstantBytes], code: tuple[Instruction, ...]) -> None:
    """Refuse operands that an instruction does not take, and stacks that do not fit together."""
    depths: dict[int, int] = {0: 0}
    for at, instruction in enumerate(code):
        op, a, b = instruction
        shape = EFFECTS[op]
        if not _is_operand(shape.takes, a, b, constants):
            raise Refused(f"instruction {at} ({op.name.lower()}) takes {shape.takes.value}, not {a}, {b}")
        if at not in depths:
            raise Refused(f"instruction {at} is reached from nowhere")
        if depths[at] < shape.pops:
            raise Refused(f"instruction {at} ({op.name.lower()}) takes {shape.pops} values, there are {depths[at]}")
        after = depths[at] - shape.pops + shape.pushes
        if after > instructions.STACK_MAX:
            raise Refused(f"the stack of instruction {at} is deeper than {instructions.STACK_MAX}")
        if shape.takes is Takes.TARGET:
            if not at < b <= len(code):
                raise Refused(f"instruction {at} jumps to {b}; it may jump to {at + 1} to {len(code)}")
            _meet(depths, b, after)
        if op is not Opcode.JUMP:
            _meet(depths, at + 1, after)
    if depths.get(len(code)) != 1:
        raise Refused(f"the program ends with {depths.get(len(code), 0)} values, not with 1")


def _meet(depths: dict[int, int], place: int, depth: int) -> None:
    if depths.setdefault(place, depth) != depth:
        raise Refused(f"instruction {place} is reached with {depths[place]} and with {depth} values")


def _is_operand(takes: Takes, a: int, b: int, constants: list[_ConstantBytes]) -> bool:
    kind = constants[a].kind if a < len(constants) else 0
    match takes:
        case Takes.TARGET:
            return a == 0
        case Takes.SET:
            return 1 <= b <= len(constants) - a and all(_is_value(c.kind) for c in constants[a : a + b])
        case _ if b != 0:
            return False
        case Takes.VALUE:
            return _is_value(kind)
        case Takes.NAME:
            return kind == _TEXT and 1 <= len(constants[a].data) <= NAME_BYTES_MAX
        case Takes.GLOB:
            return kind == _GLOB
        case Takes.CIDR:
            return kind == _CIDR
        case Takes.KINDS:
            return 1 <= a <= KindBit.UNKNOWN | KindBit.BOOLEAN | KindBit.NUMBER | KindBit.TEXT
        case Takes.CAST:
            return Cast.BOOLEAN <= a <= Cast.INT32
        case _:
            return a <= _GREATEST[takes]


_GREATEST: Final = {
    Takes.NOTHING: 0,
    Takes.FOLDED: 1,
    Takes.MIXED: Mixed.UNKNOWN | Mixed.NUMBERS_ONLY,
    Takes.ARITHMETIC: Arithmetic.INT32,
    Takes.DIVISION: Arithmetic.REAL,
}


def _is_value(kind: int) -> bool:
    return _BOOLEAN <= kind <= _TEXT
