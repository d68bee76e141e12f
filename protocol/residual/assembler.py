"""Makes a program instruction by instruction.

made = Assembler()
made.attribute("price")
made.attribute("qty")
made.emit(Opcode.MUL)
made.constant(1000)
made.emit(Opcode.GT)
rest = made.jump(Opcode.JUMP_FALSE)
made.attribute("sym")
made.glob(like("A%C"))
made.emit(Opcode.AND)
made.place(rest)
program = made.program()
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NewType

from tamis.protocol.errors import Refused
from tamis.protocol.residual.instructions import CONSTANTS_MAX, INSTRUCTIONS_MAX, Instruction, Opcode
from tamis.protocol.residual.patterns import Cidr, Glob
from tamis.protocol.residual.program import Constant, Program
from tamis.protocol.values import Value

Label = NewType("Label", int)
"""A jump whose place is not known yet."""


class Assembler:
    """A program being made. Equal constants are stored once."""

    def __init__(self) -> None:
        self._constants: list[Constant] = []
        self._known: dict[tuple[type, str], int] = {}
        self._code: list[Instruction] = []
        self._open: set[Label] = set()

    def emit(self, op: Opcode, a: int = 0) -> None:
        """Append an instruction without a constant and without a place."""
        self._append(Instruction(op, a))

    def constant(self, value: Value) -> None:
        self._append(Instruction(Opcode.CONSTANT, self._stored(value)))

    def attribute(self, name: str) -> None:
        self._append(Instruction(Opcode.ATTRIBUTE, self._stored(name)))

    def exists(self, name: str) -> None:
        self.emit(Opcode.EXISTS, self._stored(name))

    def glob(self, pattern: Glob) -> None:
        self.emit(Opcode.GLOB, self._stored(pattern))

    def cidr(self, network: Cidr) -> None:
        self.emit(Opcode.CIDR, self._stored(network))

    def among(self, values: Iterable[Value]) -> None:
        """Append `in`; its constants stand side by side, so none is shared."""
        first = len(self._constants)
        self._constants += values
        _check_count(len(self._constants))
        self._append(Instruction(Opcode.IN, first, len(self._constants) - first))

    def jump(self, op: Opcode) -> Label:
        """Append a jump to a place that `place` names later."""
        label = Label(len(self._code))
        self._append(Instruction(op))
        self._open.add(label)
        return label

    def place(self, label: Label) -> None:
        """Let the jump lead to the next instruction, or to the end."""
        self._open.remove(label)
        self._code[label] = self._code[label]._replace(b=len(self._code))

    def program(self) -> Program:
        """Return the program, checked; Refused if it is too large or its stack does not fit together."""
        if self._open:
            raise Refused(f"the jump at {min(self._open)} leads nowhere")
        return Program(tuple(self._constants), tuple(self._code))

    def _append(self, instruction: Instruction) -> None:
        if len(self._code) == INSTRUCTIONS_MAX:
            raise Refused(f"a program has at most {INSTRUCTIONS_MAX} instructions")
        self._code.append(instruction)

    def _stored(self, constant: Constant) -> int:
        """Return the number of a constant. `repr` tells 0.0 from -0.0."""
        written = (type(constant), constant if isinstance(constant, str) else repr(constant))
        number = self._known.get(written)
        if number is None:
            number = self._known[written] = len(self._constants)
            _check_count(number + 1)
            self._constants.append(constant)
        return number


def _check_count(count: int) -> None:
    if count > CONSTANTS_MAX:
        raise Refused(f"a program has at most {CONSTANTS_MAX} constants")
