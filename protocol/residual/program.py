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
from collections.abc import Callable, Collection, Mapping
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
            if kind in (_GLOB, _CIDR):  # the others are values
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
    if type(constant) is str and constant.isascii() and len(constant) <= instructions.TEXT_BYTES_MAX:  # as most are
        return _ConstantBytes(_TEXT, constant.encode())
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
    depths: list[int | None] = [0, *[None] * len(code)]
    checked: set[Instruction] = set()
    for at, instruction in enumerate(code):
        op, a, b = instruction
        pops, pushes, takes = EFFECTS[op]
        if instruction not in checked:
            if not _TAKEN[takes](a, b, constants):
                raise Refused(f"instruction {at} ({op.name.lower()}) takes {takes.value}, not {a}, {b}")
            checked.add(instruction)
        depth = depths[at]
        if depth is None:
            raise Refused(f"instruction {at} is reached from nowhere")
        if depth < pops:
            raise Refused(f"instruction {at} ({op.name.lower()}) takes {pops} values, there are {depth}")
        after = depth - pops + pushes
        if after > instructions.STACK_MAX:
            raise Refused(f"the stack of instruction {at} is deeper than {instructions.STACK_MAX}")
        if takes is Takes.TARGET:
            _check_target(at, b, len(code))
            _meet(depths, b, after)
        if op is not Opcode.JUMP:
            _meet(depths, at + 1, after)
    if depths[-1] != 1:
        raise Refused(f"the program ends with {depths[-1] or 0} values, not with 1")


def _check_target(at: int, place: int, end: int) -> None:
    if not at < place <= end:
        raise Refused(f"instruction {at} jumps to {place}; it may jump to {at + 1} to {end}")


def _meet(depths: list[int | None], place: int, depth: int) -> None:
    if depths[place] not in (None, depth):
        raise Refused(f"instruction {place} is reached with {depths[place]} and with {depth} values")
    depths[place] = depth


_Constants = list[_ConstantBytes]
_Taken = Callable[[int, int, _Constants], bool]
"""Returns whether `a` and `b` are operands of an instruction."""


def _is_set(first: int, count: int, constants: _Constants) -> bool:
    return 1 <= count <= len(constants) - first and all(_is_value(c.kind) for c in constants[first : first + count])


def _constant_of(kinds: Collection[int]) -> _Taken:
    return lambda a, b, constants: b == 0 and a < len(constants) and constants[a].kind in kinds


_is_text_constant: Final = _constant_of((_TEXT,))


def _is_name(a: int, b: int, constants: _Constants) -> bool:
    return _is_text_constant(a, b, constants) and 1 <= len(constants[a].data) <= NAME_BYTES_MAX


def _between(least: int, greatest: int) -> _Taken:
    return lambda a, b, _: b == 0 and least <= a <= greatest


def _is_value(kind: int) -> bool:
    return _BOOLEAN <= kind <= _TEXT


_TAKEN: Final[Mapping[Takes, _Taken]] = {
    Takes.TARGET: lambda a, _, __: a == 0,
    Takes.SET: _is_set,
    Takes.VALUE: _constant_of(range(_BOOLEAN, _TEXT + 1)),
    Takes.NAME: _is_name,
    Takes.GLOB: _constant_of((_GLOB,)),
    Takes.CIDR: _constant_of((_CIDR,)),
    Takes.KINDS: _between(1, KindBit.UNKNOWN | KindBit.BOOLEAN | KindBit.NUMBER | KindBit.TEXT),
    Takes.CAST: _between(Cast.BOOLEAN, Cast.INT32),
    Takes.NOTHING: _between(0, 0),
    Takes.FOLDED: _between(0, 1),
    Takes.MIXED: _between(0, Mixed.UNKNOWN | Mixed.NUMBERS_ONLY),
    Takes.ARITHMETIC: _between(0, Arithmetic.INT32),
    Takes.DIVISION: _between(0, Arithmetic.REAL),
}
