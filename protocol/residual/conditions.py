"""The conditions that a program joins by `and`, each as a program of its own.

Law: a program is true exactly if all of its conditions are. Jumps that only spare work are followed; with others the
program itself is its one condition.
"""

from __future__ import annotations

from tamis.protocol.residual.instructions import EFFECTS, Instruction, Opcode
from tamis.protocol.residual.program import Program

_JOINS = {Opcode.JUMP_FALSE: Opcode.AND, Opcode.JUMP_TRUE: Opcode.OR}
"""A jump to behind this instruction changes no result."""
_OTHERS = (Opcode.JUMP, Opcode.BRANCH, Opcode.DROP, Opcode.JUMP_UNKNOWN, Opcode.REQUIRE)


def conditions(program: Program) -> tuple[Program, ...]:
    """Return the conditions in the order of the program."""
    if not all(_spares_work(each, program.code) for each in program.code):
        return (program,)
    found, code = [], program.code
    while (at := _right_side(code)) is not None:
        found.append(Program(program.constants, tuple(_moved(each, at) for each in code[at:-1])))
        end, has_jump = len(code), code[at - 1].op is Opcode.JUMP_FALSE
        code = code[: at - 1 if has_jump else at]
        code = tuple(each._replace(b=len(code)) if _jumps_to(each, end) else each for each in code)
    found.append(Program(program.constants, code))
    return tuple(reversed(found))


def _spares_work(each: Instruction, code: tuple[Instruction, ...]) -> bool:
    return each.op not in _OTHERS and (each.op not in _JOINS or code[each.b - 1].op is _JOINS[each.op])


def _moved(each: Instruction, by: int) -> Instruction:
    return each._replace(b=each.b - by) if each.op in _JOINS else each


def _jumps_to(each: Instruction, place: int) -> bool:
    return each.op in _JOINS and each.b == place


def _right_side(code: tuple[Instruction, ...]) -> int | None:
    """Return where the second condition of the last instruction begins, if that is an `and`."""
    if code[-1].op is not Opcode.AND:
        return None
    needed, at = 1, len(code) - 1  # values that the instructions from `at` on still lack
    while needed:
        at -= 1
        if code[at].op not in _JOINS:
            needed += EFFECTS[code[at].op].pops - EFFECTS[code[at].op].pushes
    return at
