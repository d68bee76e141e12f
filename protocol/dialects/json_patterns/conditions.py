"""The conditions of a pattern on one value that is not null, each as a rail and as instructions.

Law: `rail(name)` holds wherever the value of the attribute `name` satisfies the condition; `emit(made, name)` appends
instructions that leave true of exactly those values, and false or unknown of all others and of an absent attribute.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from tamis.protocol.dialects.folding import append_in_any_case, in_any_case
from tamis.protocol.dialects.json_patterns.sharing import SharingAssembler
from tamis.protocol.dialects.networks import inside
from tamis.protocol.dialects.patterns import Piece, Wild, matches
from tamis.protocol.dialects.rails import Rail, complement, every, holds, present, some
from tamis.protocol.filters import Op
from tamis.protocol.residual import Glob, Opcode, cidr
from tamis.protocol.residual.patterns import ANY_TEXT
from tamis.protocol.values import Value

_ORDER: Final = {Op.EQ: Opcode.EQ, Op.LT: Opcode.LT, Op.LE: Opcode.LE, Op.GT: Opcode.GT, Op.GE: Opcode.GE}


class Condition(Protocol):
    def rail(self, name: str) -> Rail: ...

    def emit(self, made: SharingAssembler, name: str) -> None: ...


@dataclass(frozen=True, slots=True)
class Among:
    """The value is one of these: texts, numbers and booleans."""

    values: tuple[Value, ...]

    def rail(self, name: str) -> Rail:
        return holds(name, Op.IN, *self.values)

    def emit(self, made: SharingAssembler, name: str) -> None:
        made.attribute(name)
        made.among(self.values)


@dataclass(frozen=True, slots=True)
class Affix:
    """The value is a text that begins or ends with another, in any case if `folds`."""

    op: Op
    text: str
    folds: bool = False

    def rail(self, name: str) -> Rail:
        if not self.folds:
            return holds(name, self.op, self.text)
        return in_any_case(name, self.op, self.text, f"{self.op.value} {self.text!r} in any case")

    def emit(self, made: SharingAssembler, name: str) -> None:
        made.attribute(name)
        if self.folds:
            append_in_any_case(made, self.op, self.text)
        else:
            made.constant(self.text)
            made.emit(Opcode.PREFIX if self.op is Op.PREFIX else Opcode.SUFFIX, 0)


@dataclass(frozen=True, slots=True)
class SameInAnyCase:
    text: str

    def rail(self, name: str) -> Rail:
        return in_any_case(name, Op.EQ, self.text, f"{self.text!r} in any case")

    def emit(self, made: SharingAssembler, name: str) -> None:
        made.attribute(name)
        append_in_any_case(made, Op.EQ, self.text)


@dataclass(frozen=True, slots=True)
class Wildcards:
    """The value is a text that matches a pattern, `written` as it stands in the filter."""

    pieces: tuple[Piece, ...]
    written: str

    def rail(self, name: str) -> Rail:
        return matches(name, self.pieces, repr(self.written))

    def emit(self, made: SharingAssembler, name: str) -> None:
        made.attribute(name)
        made.glob(Glob(b"".join(ANY_TEXT if piece is Wild.ANY else str(piece).encode() for piece in self.pieces)))


@dataclass(frozen=True, slots=True)
class InNetwork:
    """The value is the text of an IP address inside a network."""

    network: str

    def rail(self, name: str) -> Rail:
        return inside(name, self.network)

    def emit(self, made: SharingAssembler, name: str) -> None:
        made.attribute(name)
        made.cidr(cidr(self.network))


@dataclass(frozen=True, slots=True)
class InRange:
    """The value is a number within one or two bounds."""

    bounds: tuple[tuple[Op, int | float], ...]

    def rail(self, name: str) -> Rail:
        return every(*(holds(name, op, number) for op, number in self.bounds))

    def emit(self, made: SharingAssembler, name: str) -> None:
        for count, (op, number) in enumerate(self.bounds):
            made.attribute(name)
            made.constant(number)
            made.emit(_ORDER[op])
            if count:
                made.emit(Opcode.AND)


@dataclass(frozen=True, slots=True)
class AnythingBut:
    """None of these conditions holds of the value."""

    conditions: tuple[Condition, ...]

    def rail(self, name: str) -> Rail:
        return every(present(name), complement(some(*(condition.rail(name) for condition in self.conditions))))

    def emit(self, made: SharingAssembler, name: str) -> None:
        emit_any(made, self.conditions, name)
        made.emit(Opcode.NOT)


@dataclass(frozen=True, slots=True)
class HasValue:
    def rail(self, name: str) -> Rail:
        return present(name)

    def emit(self, made: SharingAssembler, name: str) -> None:
        made.exists(name)


def emit_any(made: SharingAssembler, conditions: Sequence[Condition], name: str) -> None:
    """Append what leaves true if at least one condition holds."""
    for count, condition in enumerate(conditions):
        condition.emit(made, name)
        if count:
            made.emit(Opcode.OR)
