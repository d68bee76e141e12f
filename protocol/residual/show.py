"""A program for people: as a listing of its instructions, and as an expression."""

from __future__ import annotations

import ipaddress
import json
from typing import Final

from tamis.protocol.residual.instructions import EFFECTS, Arithmetic, Cast, Instruction, KindBit, Mixed, Opcode, Takes
from tamis.protocol.residual.patterns import Cidr, Glob, spelled
from tamis.protocol.residual.program import Constant, Program

_INFIX: Final = {
    Opcode.EQ: ("=", 4),
    Opcode.NE: ("!=", 4),
    Opcode.LT: ("<", 4),
    Opcode.LE: ("<=", 4),
    Opcode.GT: (">", 4),
    Opcode.GE: (">=", 4),
    Opcode.AND: ("and", 2),
    Opcode.OR: ("or", 1),
    Opcode.ADD: ("+", 5),
    Opcode.SUB: ("-", 5),
    Opcode.MUL: ("*", 6),
    Opcode.DIV: ("/", 6),
    Opcode.MOD: ("%", 6),
    Opcode.PREFIX: ("prefix", 4),
    Opcode.SUFFIX: ("suffix", 4),
    Opcode.CONTAINS: ("contains", 4),
}
"""The words of an operation, and how strongly it binds."""
_TIGHT: Final = 9
_NOT: Final = 3
_OR: Final = 1
_ALIKE: Final = 4
_NEGATIVE: Final = 8
_TESTS: Final = {Opcode.KIND: "is", Opcode.IN: "in", Opcode.GLOB: "like", Opcode.CIDR: "in"}


def listing(program: Program) -> str:
    """Return the instructions, each on a line behind its number."""
    return "\n".join(f"{at:3}  {_line(program, instruction)}" for at, instruction in enumerate(program.code))


def in_words(program: Program) -> str:
    """Return the program as an expression; where its jumps do more than to spare work, as a listing."""
    stack: list[tuple[str, int]] = []
    for at, instruction in enumerate(program.code):
        op = instruction.op
        if op in (Opcode.JUMP, Opcode.BRANCH, Opcode.DROP, Opcode.JUMP_UNKNOWN):
            return listing(program)
        if op is Opcode.JUMP_TRUE and _is_otherwise(program, at):
            continue
        if op in (Opcode.JUMP_FALSE, Opcode.JUMP_TRUE):
            if program.code[min(instruction.b, len(program.code)) - 1].op is not _JOINS[op]:
                return listing(program)
            continue
        rest = len(stack) - EFFECTS[op].pops
        taken, stack = stack[rest:], stack[:rest]
        if at and _is_otherwise(program, at - 1):
            stack.append((f"{_inside(taken[0], _OR)} or unknown", _OR))
        else:
            stack.append(_phrase(program, instruction, taken))
    return stack[-1][0]


def _is_otherwise(program: Program, at: int) -> bool:
    """Return whether this is a jump over an instruction that only turns unknown into true."""
    jump, over = program.code[at], program.code[at + 1 : at + 2]
    return jump == (Opcode.JUMP_TRUE, 0, at + 2) and over == ((Opcode.KIND, KindBit.UNKNOWN, 0),)


_JOINS: Final = {Opcode.JUMP_FALSE: Opcode.AND, Opcode.JUMP_TRUE: Opcode.OR}
"""A jump to behind this instruction changes no result."""


def _line(program: Program, instruction: Instruction) -> str:
    op, a, b = instruction
    name = op.name.lower()
    match EFFECTS[op].takes:
        case Takes.NOTHING:
            return name
        case Takes.VALUE | Takes.NAME | Takes.GLOB | Takes.CIDR:
            return f"{name} {_constant(program.constants[a])}"
        case Takes.SET:
            return f"{name} {_set(program, a, b)}"
        case Takes.TARGET:
            return f"{name} {b}"
        case Takes.MIXED:
            return " ".join([name, *(flag.name.lower() for flag in Mixed(a) if flag.name)])
        case Takes.ARITHMETIC | Takes.DIVISION:
            return f"{name} {Arithmetic(a).name.lower()}"
        case Takes.CAST:
            return f"{name} {Cast(a).name.lower()}"
        case Takes.KINDS:
            return f"{name} {_kinds(a)}"
        case Takes.FOLDED:
            return f"{name} folded" if a else name


def _phrase(program: Program, instruction: Instruction, taken: list[tuple[str, int]]) -> tuple[str, int]:
    """Return the words of an instruction and how strongly they bind."""
    op, a, _ = instruction
    if op in _INFIX:
        word, strength = _INFIX[op]
        left, right = _inside(taken[0], strength), _inside(taken[1], strength + 1)
        folded = " ignoring case" if op in (Opcode.PREFIX, Opcode.SUFFIX) and a else ""
        return f"{left} {word} {right}{folded}", strength
    if op in (Opcode.CONSTANT, Opcode.ATTRIBUTE):
        constant = program.constants[a]
        return _constant(constant) if op is Opcode.CONSTANT else _name(constant), _TIGHT
    if op in (Opcode.NOT, Opcode.NEG):
        word, strength = ("not ", _NOT) if op is Opcode.NOT else ("-", _NEGATIVE)
        return word + _inside(taken[0], strength), strength
    if op is Opcode.EXISTS:
        return f"exists {_name(program.constants[a])}", _ALIKE
    if op in _TESTS or op is Opcode.SAME_FOLDED:
        return f"{_inside(taken[0], _ALIKE + 1)} {_test(program, instruction, taken)}", _ALIKE
    name = Cast(a).name if op is Opcode.CAST else op.name
    return f"{name.lower()}({', '.join(words for words, _ in taken)})", _TIGHT


def _test(program: Program, instruction: Instruction, taken: list[tuple[str, int]]) -> str:
    """Return the words behind the value that is tested."""
    op, a, b = instruction
    if op is Opcode.SAME_FOLDED:
        return f"= {_inside(taken[1], _ALIKE + 1)} ignoring case"
    return f"{_TESTS[op]} " + (
        _kinds(a) if op is Opcode.KIND else _set(program, a, b) if op is Opcode.IN else _constant(program.constants[a])
    )


def _inside(phrase: tuple[str, int], strength: int) -> str:
    words, own = phrase
    return words if own >= strength else f"({words})"


def _kinds(mask: int) -> str:
    return " or ".join(flag.name.lower() for flag in KindBit(mask) if flag.name)


def _set(program: Program, first: int, count: int) -> str:
    return "{" + ", ".join(_constant(constant) for constant in program.constants[first : first + count]) + "}"


def _constant(constant: Constant) -> str:
    if isinstance(constant, Glob):
        return _constant(spelled(constant))
    if isinstance(constant, Cidr):
        return _network(constant)
    return json.dumps(constant, ensure_ascii=False)


def _network(constant: Cidr) -> str:
    return f"{ipaddress.ip_address(constant.address)}/{constant.bits}"


def _name(constant: Constant) -> str:
    name = str(constant)
    return name if name.replace("-", "_").isidentifier() else json.dumps(name, ensure_ascii=False)
