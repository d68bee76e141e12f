"""The residual program of a condition in SQL: the whole of it, three-valued.

Law: an absent attribute is unknown, and so is what arithmetic has no result for; `not`, `and` and `or` follow Kleene.
Parts of `and` and `or` come in the order of their cost, and one that settles the result leaves the rest undone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tamis.protocol.dialects.decide import Emit, assembled, joined
from tamis.protocol.dialects.sql.rules import Unlike
from tamis.protocol.dialects.tree import Attribute, Call, Expression, Literal, cost
from tamis.protocol.language.computed import ARITHMETIC
from tamis.protocol.limits import STRING_BYTES_MAX
from tamis.protocol.residual import Arithmetic, Assembler, Glob, KindBit, Mixed, Opcode, Program
from tamis.protocol.values import kind_of

_COMPARED: Final = {
    "=": Opcode.EQ,
    "<>": Opcode.NE,
    "<": Opcode.LT,
    "<=": Opcode.LE,
    ">": Opcode.GT,
    ">=": Opcode.GE,
}
_ARITHMETIC: Final = ARITHMETIC


@dataclass(frozen=True, slots=True)
class SqlPrograms:
    """What the programs of one dialect have in common."""

    value: Callable[[Expression], Expression]
    """Returns an operand with the arithmetic of its literals worked out."""
    pattern: Callable[[tuple[Expression, ...]], Glob]
    """Returns the pattern of a LIKE, whose parts are a text and perhaps its escape."""
    order: Mixed
    """How values are ordered that are no numbers."""
    unlike: Unlike
    is_like_unknown: bool
    """Whether LIKE is unknown of what is no text."""

    def program_of(self, condition: Expression) -> Program | None:
        """Return the program that decides the condition; None if it would be too large."""
        return assembled(self._test(condition))

    def _test(self, node: Expression) -> Emit:
        return lambda made: self._append(made, node)

    def _append(self, made: Assembler, node: Expression) -> None:
        match node:
            case Call("group", (inner,)):
                self._append(made, inner)
            case Call("not", (inner,)):
                self._append(made, inner)
                made.emit(Opcode.NOT)
            case Call("and" | "or" as word, parts):
                joined(made, map(self._test, sorted(parts, key=cost)), word == "and")
            case Call("is null", (inner,)):
                self._operand(made, inner)
                made.emit(Opcode.KIND, KindBit.UNKNOWN)
            case Call("in", (value, *constants)):
                self._among(made, value, [each for each in map(self.value, constants) if isinstance(each, Literal)])
            case Call("like", (value, *pattern)):
                self._operand(made, value)
                if self.is_like_unknown:
                    made.constant(STRING_BYTES_MAX)
                    made.emit(Opcode.LEFT)  # unknown of what is no text, and all of a text
                made.glob(self.pattern(tuple(pattern)))
            case Call(op, (left, right)) if op in _COMPARED:
                self._operand(made, left)
                self._operand(made, right)
                self._compare(made, op)
            case _:
                self._operand(made, node)

    def _among(self, made: Assembler, value: Expression, constants: list[Literal]) -> None:
        """Append `in`; where kinds are told apart, behind a comparison with a constant of each kind."""
        self._operand(made, value)
        made.among([each.value for each in constants])
        if self.unlike is Unlike.UNKNOWN:
            for each in {kind_of(each.value): each for each in constants}.values():
                self._operand(made, value)
                made.constant(each.value)
                self._compare(made, "=")
                made.emit(Opcode.OR)

    def _compare(self, made: Assembler, op: str) -> None:
        if op == "<>" and self.unlike is Unlike.UNEQUAL:
            made.emit(Opcode.EQ, Mixed.FALSE)
            made.emit(Opcode.NOT)
            return
        mixed = Mixed.FALSE if op in ("=", "<>") else self.order
        made.emit(_COMPARED[op], mixed | Mixed.UNKNOWN if self.unlike is Unlike.UNKNOWN else mixed)

    def _operand(self, made: Assembler, node: Expression) -> None:
        self._calculate(made, self.value(node))

    def _calculate(self, made: Assembler, node: Expression) -> None:
        match node:
            case Literal(value):
                made.constant(value)
            case Attribute(name):
                made.attribute(name)
            case Call("negative", (inner,)):
                self._calculate(made, inner)
                made.emit(Opcode.NEG, Arithmetic.WIDE)
            case Call("positive", (inner,)):
                self._calculate(made, inner)
                made.constant(0)
                made.emit(Opcode.ADD, Arithmetic.WIDE)  # unknown of what is no number
            case Call(op, (left, right)):
                self._calculate(made, left)
                self._calculate(made, right)
                made.emit(*_ARITHMETIC[op])
