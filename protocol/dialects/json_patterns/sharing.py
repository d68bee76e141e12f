"""An assembler for programs that ask the same of many attributes, such as the elements of an array."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tamis.protocol.errors import Refused
from tamis.protocol.limits import NAME_BYTES_MAX
from tamis.protocol.residual import Assembler, Instruction, Opcode
from tamis.protocol.residual.instructions import INSTRUCTIONS_MAX
from tamis.protocol.values import Value, identity


class SharingAssembler(Assembler):
    """Equal sets of `in` are stored once. No message has an attribute whose name is too long."""

    def __init__(self) -> None:
        super().__init__()
        self._sets: dict[tuple[tuple[int, Value], ...], Instruction] = {}

    def attribute(self, name: str) -> None:
        if len(name.encode()) > NAME_BYTES_MAX:
            raise Refused(f"a name has at most {NAME_BYTES_MAX} bytes")
        super().attribute(name)

    def exists(self, name: str) -> None:
        if len(name.encode()) > NAME_BYTES_MAX:
            self.constant(False)
        else:
            super().exists(name)

    def among(self, values: Iterable[Value]) -> None:
        kept = tuple(values)
        key = tuple(map(identity, kept))
        if key in self._sets:
            self._append(self._sets[key])
        else:
            super().among(kept)
            self._sets[key] = self._code[-1]

    def place_of_next(self) -> int:
        return len(self._code)

    def repeat(self, first: int, names: Sequence[str]) -> None:
        """Append the instructions from `first` on, none of which jumps, with each of the other attributes in place of
        the first one."""
        block = self._code[first:]
        if len(self._code) + len(block) * (len(names) - 1) > INSTRUCTIONS_MAX:
            raise Refused(f"a program has at most {INSTRUCTIONS_MAX} instructions")
        if any(len(name.encode()) > NAME_BYTES_MAX for name in names):
            raise Refused(f"a name has at most {NAME_BYTES_MAX} bytes")
        old = Instruction(Opcode.ATTRIBUTE, self._stored(names[0]))
        for name in names[1:]:
            new = Instruction(Opcode.ATTRIBUTE, self._stored(name))
            self._code += [new if instruction == old else instruction for instruction in block]
