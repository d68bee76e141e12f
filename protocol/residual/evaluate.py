"""The meaning of a residual program, written plainly: native/residual/ is compared with it.

Law: instructions.py says what an instruction does and costs, this file does it. It is slow on purpose.
"""

from __future__ import annotations

import enum
import ipaddress
import math
import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from tamis.protocol import limits
from tamis.protocol.residual.cases import folded, lower, upper
from tamis.protocol.residual.instructions import (
    ARENA_BYTES,
    ATTRIBUTE_STEP,
    EFFECTS,
    NUMBER_BYTES_MAX,
    TEXT_STEP_BYTES,
    Arithmetic,
    Cast,
    Instruction,
    KindBit,
    Mixed,
    Opcode,
)
from tamis.protocol.residual.patterns import ANY_CHARACTER, ANY_TEXT, Cidr, Glob, items
from tamis.protocol.residual.program import Constant, Program
from tamis.protocol.values import Value, canonical

Held = Value | None
"""A value of the stack; None is unknown."""

_WHITE: Final = " \t\n\v\f\r"
_INTEGER: Final = re.compile(r"[+-]?[0-9]+", re.ASCII)
_DOUBLE: Final = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?", re.ASCII)
_INT32: Final = range(-(2**31), 2**31)
_INT64: Final = range(limits.INT_MIN, limits.INT_MAX + 1)


class ResidualVerdict(enum.IntEnum):
    """What a program says; an event is delivered only for TRUE."""

    FALSE = 0
    TRUE = 1
    UNKNOWN = 2
    ERROR = 3
    """A `require` met what is unknown."""
    OVER = 4
    """The budget does not suffice."""


class ResidualResult(NamedTuple):
    verdict: ResidualVerdict
    steps: int
    """Spent; with OVER one more than the budget."""


def run(program: Program, attributes: Mapping[str, Value], budget: int) -> ResidualResult:
    """Return what the program says about a message, within `budget` steps."""
    return _Machine(program, attributes).run(budget)


class _Machine:
    def __init__(self, program: Program, attributes: Mapping[str, Value]) -> None:
        self.program = program
        self.attributes = attributes
        self.stack: list[Held] = []
        self.arena = 0

    def run(self, budget: int) -> ResidualResult:
        at, steps, code = 0, 0, self.program.code
        while at < len(code):
            instruction = code[at]
            taken = self._take(EFFECTS[instruction.op].pops)
            steps += self._cost(instruction, taken)
            if steps > budget:
                return ResidualResult(ResidualVerdict.OVER, budget + 1)
            if instruction.op is Opcode.REQUIRE and taken[0] is None:
                return ResidualResult(ResidualVerdict.ERROR, steps)
            if EFFECTS[instruction.op].pushes:
                self.stack.append(self._result(instruction, taken))
            at = instruction.b if _jumps(instruction.op, taken) else at + 1
        last = self.stack[-1]
        return ResidualResult(ResidualVerdict(last) if isinstance(last, bool) else ResidualVerdict.UNKNOWN, steps)

    def _take(self, count: int) -> list[Held]:
        at = len(self.stack) - count
        taken, self.stack = self.stack[at:], self.stack[:at]
        return taken

    def _cost(self, instruction: Instruction, taken: list[Held]) -> int:
        """Return the steps of an instruction, by the rules of instructions.py."""
        sizes = [len(text.encode()) for text in taken if isinstance(text, str)]
        match instruction.op:
            case Opcode.ATTRIBUTE | Opcode.EXISTS:
                return 1 + len(self.attributes) // ATTRIBUTE_STEP
            case (
                Opcode.EQ
                | Opcode.NE
                | Opcode.LT
                | Opcode.LE
                | Opcode.GT
                | Opcode.GE
                | Opcode.SAME_FOLDED
                | Opcode.PREFIX
                | Opcode.SUFFIX
            ):
                return 1 + (min(sizes) // TEXT_STEP_BYTES if len(sizes) == 2 else 0)
            case Opcode.IN:
                return 1 + instruction.b + sum(sizes) // TEXT_STEP_BYTES
            case Opcode.GLOB if sizes:
                pattern = self._glob(instruction)
                times = len(pattern) if ANY_CHARACTER in pattern else len(pattern) // TEXT_STEP_BYTES
                return 1 + sizes[0] * (1 + times) // TEXT_STEP_BYTES
            case Opcode.CONTAINS if len(sizes) == 2:
                return 1 + sizes[0] * (1 + sizes[1] // TEXT_STEP_BYTES) // TEXT_STEP_BYTES
            case (
                Opcode.LENGTH
                | Opcode.UPPER
                | Opcode.LOWER
                | Opcode.TRIM
                | Opcode.SUBSTRING
                | Opcode.LEFT
                | Opcode.RIGHT
                | Opcode.CONCAT
            ):
                return 1 + sum(sizes) // TEXT_STEP_BYTES
            case _:
                return 1

    def _glob(self, instruction: Instruction) -> bytes:
        constant = self.program.constants[instruction.a]
        return constant.pattern if isinstance(constant, Glob) else b""

    def _result(self, instruction: Instruction, taken: list[Held]) -> Held:
        op, a, _ = instruction
        if op in (Opcode.CONSTANT, Opcode.ATTRIBUTE, Opcode.EXISTS):
            return self._loaded(op, self.program.constants[a])
        if op is Opcode.KIND:
            return _kind_bit(taken[0]) in KindBit(a)
        if op in (Opcode.NOT, Opcode.AND, Opcode.OR):
            return _logic(op, taken)
        if op in (Opcode.REQUIRE, Opcode.JUMP_FALSE, Opcode.JUMP_TRUE, Opcode.JUMP_UNKNOWN):
            return taken[0]
        return None if None in taken else self._of_known(instruction, taken)

    def _of_known(self, instruction: Instruction, taken: list[Held]) -> Held:
        op, a, _ = instruction
        if op in (Opcode.IN, Opcode.GLOB, Opcode.CIDR):
            return self._is_among(instruction, taken[0])
        if op is Opcode.CAST:
            made = _cast(taken[0], Cast(a))
            return self._in_arena(made) if type(taken[0]) in (int, float) and isinstance(made, str) else made
        if op is Opcode.NEG:
            return calculated(Opcode.SUB, [0 if type(taken[0]) is int else -0.0, taken[0]], Arithmetic(a))
        if op in (Opcode.ADD, Opcode.SUB, Opcode.MUL, Opcode.DIV, Opcode.MOD):
            return calculated(op, taken, Arithmetic(a))
        if op in (Opcode.EQ, Opcode.NE, Opcode.LT, Opcode.LE, Opcode.GT, Opcode.GE):
            return _compared(op, taken[0], taken[1], Mixed(a))
        if op in (Opcode.SAME_FOLDED, Opcode.PREFIX, Opcode.SUFFIX, Opcode.CONTAINS):
            return _has(op, taken, is_folded=a == 1)
        return self._function(op, taken[0], taken[1:]) if isinstance(taken[0], str) else None

    def _loaded(self, op: Opcode, constant: Constant) -> Held:
        if isinstance(constant, Glob | Cidr) or op is Opcode.CONSTANT:
            return None if isinstance(constant, Glob | Cidr) else constant
        name = str(constant)
        if op is Opcode.EXISTS:
            return name in self.attributes
        return canonical(self.attributes[name]) if name in self.attributes else None

    def _is_among(self, instruction: Instruction, value: Held) -> bool:
        """Return whether the value is in the set, the texts or the network of the instruction."""
        op, a, b = instruction
        constants = self.program.constants[a : a + (b or 1)]
        if op is Opcode.IN:
            return any(_compared(Opcode.EQ, value, constant, Mixed.FALSE) for constant in constants)
        return isinstance(value, str) and any(
            _globbed(value, each) if isinstance(each, Glob) else isinstance(each, Cidr) and _is_inside(value, each)
            for each in constants
        )

    def _function(self, op: Opcode, text: str, rest: list[Held]) -> Held:
        match op, rest:
            case Opcode.LENGTH, _:
                return len(text)
            case Opcode.UPPER, _:
                return self._in_arena(upper(text))
            case Opcode.LOWER, _:
                return self._in_arena(lower(text))
            case Opcode.TRIM, _:
                return text.strip(_WHITE)
            case Opcode.CONCAT, [str() as other]:
                return self._in_arena(text + other)
            case Opcode.SUBSTRING, [int() as start, int() as length] if bool not in (type(start), type(length)):
                if abs(start) > len(text) or length < 0:
                    return None
                first = start - 1 if start > 0 else len(text) + start
                return text[first : first + length] if start else ""
            case ((Opcode.LEFT | Opcode.RIGHT), [int() as length]) if type(length) is not bool and length >= 0:
                return text[:length] if op is Opcode.LEFT else text[max(0, len(text) - length) :]
            case _:
                return None

    def _in_arena(self, text: str) -> str | None:
        size = len(text.encode())
        if self.arena + size > ARENA_BYTES:
            return None
        self.arena += size
        return text


def _jumps(op: Opcode, taken: list[Held]) -> bool:
    return (
        op is Opcode.JUMP
        or (op is Opcode.JUMP_FALSE and taken[0] is False)
        or (op is Opcode.JUMP_TRUE and taken[0] is True)
        or (op is Opcode.JUMP_UNKNOWN and taken[0] is None)
        or (op is Opcode.BRANCH and taken[0] is not True)
    )


def _kind_bit(value: Held) -> KindBit:
    bits = {bool: KindBit.BOOLEAN, int: KindBit.INTEGER, float: KindBit.DOUBLE, str: KindBit.TEXT}
    return bits.get(type(value), KindBit.UNKNOWN)


def _logic(op: Opcode, taken: list[Held]) -> Held:
    """Kleene's tables: `or` is the greatest and `and` the least of false < unknown < true, `not` turns them around."""
    ranks = [2 if value is True else 0 if value is False else 1 for value in taken]
    rank = 2 - ranks[0] if op is Opcode.NOT else max(ranks) if op is Opcode.OR else min(ranks)
    return (False, None, True)[rank]


def _is_number(value: Held) -> bool:
    return type(value) in (int, float)


def _compared(op: Opcode, left: Held, right: object, mixed: Mixed) -> Held:
    if isinstance(left, bool) and isinstance(right, bool) and op in (Opcode.EQ, Opcode.NE):
        return (left == right) is (op is Opcode.EQ)
    is_texts = isinstance(left, str) and isinstance(right, str)
    is_ordered = op not in (Opcode.EQ, Opcode.NE)
    if not (type(left) in (int, float) and type(right) in (int, float)) and not is_texts:
        return None if mixed & Mixed.UNKNOWN else False
    if is_texts and is_ordered and mixed & Mixed.NUMBERS_ONLY:
        return None if mixed & Mixed.UNKNOWN else False
    less, equal = left < right, left == right  # type: ignore[operator]
    return {
        Opcode.EQ: equal,
        Opcode.NE: not equal,
        Opcode.LT: less,
        Opcode.LE: less or equal,
        Opcode.GT: not (less or equal),
        Opcode.GE: not less,
    }[op]


def calculated(op: Opcode, taken: Sequence[Held], kind: Arithmetic) -> Held:
    left, right = taken
    if isinstance(left, bool | str | None) or isinstance(right, bool | str | None):
        return None
    if op in (Opcode.DIV, Opcode.MOD) and right == 0:
        return None
    if isinstance(left, int) and isinstance(right, int):
        if kind is Arithmetic.INT32 and not (left in _INT32 and right in _INT32):
            return None
        if op is not Opcode.DIV or kind is not Arithmetic.REAL or left % right == 0:
            return _bounded(_of_integers(op, left, right), kind)
    if kind is Arithmetic.INT32:
        return None
    made = _of_doubles(op, float(left), float(right))
    return made if math.isfinite(made) else None


def _of_integers(op: Opcode, left: int, right: int) -> int:
    if op in (Opcode.DIV, Opcode.MOD):
        quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
        return quotient if op is Opcode.DIV else left - quotient * right
    return left + right if op is Opcode.ADD else left - right if op is Opcode.SUB else left * right


def _bounded(integer: int, kind: Arithmetic) -> Held:
    if kind is Arithmetic.INT32:
        return integer if integer in _INT32 else None
    if integer in _INT64:
        return integer
    return None if kind is Arithmetic.INT64 else float(integer)


def _of_doubles(op: Opcode, left: float, right: float) -> float:
    match op:
        case Opcode.ADD:
            return left + right
        case Opcode.SUB:
            return left - right
        case Opcode.MUL:
            return left * right
        case Opcode.DIV:
            return left / right
        case _:
            return math.fmod(left, right)


def _cast(value: Held, to: Cast) -> Held:
    match to:
        case Cast.BOOLEAN:
            if isinstance(value, str):
                return {"true": True, "false": False}.get(value.lower() if value.isascii() else "")
            return value != 0
        case Cast.INTEGER | Cast.INT32:
            number = _to_integer(value)
            return number if number is not None and number in (_INT32 if to is Cast.INT32 else _INT64) else None
        case Cast.DOUBLE:
            if isinstance(value, str) and (len(value) > NUMBER_BYTES_MAX or not _DOUBLE.fullmatch(value)):
                return None
            made = float(value or 0)
            return made if math.isfinite(made) else None
        case Cast.TEXT:
            if isinstance(value, bool):
                return str(value).lower()
            if isinstance(value, float):
                return str(int(value)) if value.is_integer() and int(value) in _INT64 else None
            return str(value)


def _to_integer(value: Held) -> int | None:
    if isinstance(value, str):
        return int(value) if len(value) <= NUMBER_BYTES_MAX and _INTEGER.fullmatch(value) else None
    return int(value or 0)


def _globbed(text: str, pattern: Glob) -> bool:
    """Follow all places of the text that the pattern may have reached."""
    places = {0}
    for item in items(pattern):
        if item == ANY_TEXT:
            places = set(range(min(places), len(text) + 1))
        else:
            places = {at + 1 for at in places if at < len(text) and item in (text[at], ANY_CHARACTER)}
        if not places:
            return False
    return len(text) in places


def _is_inside(text: str, network: Cidr) -> bool:
    try:
        address = ipaddress.ip_address(text if "%" not in text else "")
    except ValueError:
        return False
    if len(address.packed) != len(network.address):
        return False
    drop = len(network.address) * 8 - network.bits
    return int(address) >> drop == int.from_bytes(network.address, "big") >> drop


def _has(op: Opcode, taken: list[Held], *, is_folded: bool) -> bool:
    text, part = taken
    if not isinstance(text, str) or not isinstance(part, str):
        return False
    if op is Opcode.SAME_FOLDED or is_folded:
        text, part = folded(text), folded(part)
    match op:
        case Opcode.SAME_FOLDED:
            return text == part
        case Opcode.PREFIX:
            return text.startswith(part)
        case Opcode.SUFFIX:
            return text.endswith(part)
        case _:
            return part in text
