"""The residual program of a folded expression.

Law: a value that the code of a part leaves on the stack is known; what cannot be ends the program with ERROR. So a
program is TRUE of exactly the events that the filter wants. None is made of what the machine cannot do: TRIM of a text
that is not constant, since the machine knows the white space of ASCII alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tamis.protocol.dialects.cesql.casts import INT32, CesqlType, cast_value
from tamis.protocol.dialects.cesql.fold import type_of
from tamis.protocol.dialects.cesql.functions import ORDER
from tamis.protocol.dialects.cesql.likeness import glob_of_like
from tamis.protocol.dialects.tree import Attribute, Call, Expression, Literal
from tamis.protocol.errors import Refused
from tamis.protocol.residual import Arithmetic, Assembler, Cast, KindBit, Opcode, Program
from tamis.protocol.residual.assembler import Label
from tamis.protocol.residual.instructions import INSTRUCTIONS_MAX
from tamis.protocol.values import Value

_CASTS: Final = {"bool": Cast.BOOLEAN, "int": Cast.INT32, "string": Cast.TEXT}
_CAST_TO: Final = {CesqlType.BOOLEAN: Cast.BOOLEAN, CesqlType.INTEGER: Cast.INT32, CesqlType.STRING: Cast.TEXT}
_KINDS: Final = {
    CesqlType.STRING: KindBit.TEXT,
    CesqlType.INTEGER: KindBit.INTEGER,
    CesqlType.BOOLEAN: KindBit.BOOLEAN,
}
_IS_KIND: Final = {"is_int": (Cast.INT32, KindBit.INTEGER), "is_bool": (Cast.BOOLEAN, KindBit.BOOLEAN)}
_ARITHMETIC: Final = {"+": Opcode.ADD, "-": Opcode.SUB, "*": Opcode.MUL, "/": Opcode.DIV, "%": Opcode.MOD}
_PLAIN: Final = {
    "not": Opcode.NOT,
    "=": Opcode.EQ,
    **dict(zip(ORDER, (Opcode.LT, Opcode.LE, Opcode.GT, Opcode.GE), strict=True)),
}
"""Of known values these have a result."""
_OF_TEXTS: Final = {
    "length": Opcode.LENGTH,
    "lower": Opcode.LOWER,
    "upper": Opcode.UPPER,
    "left": Opcode.LEFT,
    "right": Opcode.RIGHT,
    "substring": Opcode.SUBSTRING,
}


def program_of(node: Expression) -> Program | None:
    """Return the program, None if it is too large or needs what the machine cannot do."""
    try:
        compiler = _Compiler()
        compiler.value(node)
        return compiler.made.program()
    except Refused:
        return None


class _Compiler:
    def __init__(self) -> None:
        self.made = Assembler()
        self.parts = 0

    def value(self, node: Expression) -> None:
        """Append what puts the value of an expression on the stack."""
        self.parts += 1
        if self.parts > INSTRUCTIONS_MAX:
            raise Refused("the expression is too large for a program")
        match node:
            case Literal(value):
                self.made.constant(value)
            case Attribute(name):
                self.made.attribute(name)
                self.made.emit(Opcode.REQUIRE)
            case Call("exists", (Attribute(name),)):
                self.made.exists(name)
            case Call(op, parts) if op in _PLAIN:
                self._all(parts)
                self.made.emit(_PLAIN[op])
            case Call(op, (inner,)) if op in _CASTS:
                self._cast(inner, _CASTS[op])
            case Call(op, (inner,)) if op in _IS_KIND:
                cast, kind = _IS_KIND[op]
                self.value(inner)
                self.made.emit(Opcode.CAST, cast)
                self.made.emit(Opcode.KIND, kind)
            case Call(op, parts):
                self._operation(op, parts)

    def _operation(self, op: str, parts: tuple[Expression, ...]) -> None:
        match op, parts:
            case "error", _:
                self._error()
            case (("and" | "or"), _):
                self._joined(Opcode.JUMP_FALSE if op == "and" else Opcode.JUMP_TRUE, parts)
            case "xor", _:
                self._between(parts, lambda: self.made.emit(Opcode.NE))
            case "among", (Attribute(name), *others):
                self._among(name, others)
            case "in", (subject, *others):
                self._in(subject, others)
            case "like", (subject, Literal(pattern)):
                self.value(subject)
                self.made.glob(glob_of_like(str(pattern)))
            case _:
                self._function(op, parts)

    def _function(self, op: str, parts: tuple[Expression, ...]) -> None:
        if op in _ARITHMETIC or op == "negative":
            self._all(parts)
            self._checked(_ARITHMETIC.get(op, Opcode.NEG), Arithmetic.INT32)
        elif op in _OF_TEXTS:
            self._all(parts)
            if op == "substring" and len(parts) == 2:
                self.made.constant(INT32.stop - 1)
            self._checked(_OF_TEXTS[op])
        elif op == "abs":
            self._absolute(parts[0])
        elif op == "concat":
            self._between(parts, lambda: self._checked(Opcode.CONCAT))
        elif op == "concat_ws":
            self._joined_texts(*parts)
        else:
            raise Refused(f"no instructions do what {op} does")

    # --- pieces of code

    def _all(self, parts: tuple[Expression, ...]) -> None:
        for part in parts:
            self.value(part)

    def _checked(self, op: Opcode, a: int = 0) -> None:
        self.made.emit(op, a)
        self.made.emit(Opcode.REQUIRE)

    def _between(self, parts: tuple[Expression, ...], operation: Callable[[], None]) -> None:
        """Append an operation of the first two values, of its result and the third one, and so on."""
        self.value(parts[0])
        for part in parts[1:]:
            self.value(part)
            operation()

    def _cast(self, node: Expression, to: Cast) -> None:
        if isinstance(node, Attribute):
            self.parts += 1
            self.made.attribute(node.name)
        else:
            self.value(node)
        self._checked(Opcode.CAST, to)

    def _joined(self, leaves: Opcode, parts: tuple[Expression, ...]) -> None:
        ends: list[Label] = []
        for part in parts:
            if part is not parts[0]:
                ends.append(self.made.jump(leaves))
                self.made.emit(Opcode.DROP)
            self.value(part)
        for end in ends:
            self.made.place(end)

    def _absolute(self, number: Expression) -> None:
        """There is no instruction that copies a value, so the number is worked out twice."""
        self.value(number)
        self.made.constant(0)
        self.made.emit(Opcode.LT)
        otherwise = self.made.jump(Opcode.BRANCH)
        self.value(number)
        self._checked(Opcode.NEG, Arithmetic.INT32)
        end = self.made.jump(Opcode.JUMP)
        self.made.place(otherwise)
        self.value(number)
        self.made.place(end)

    def _joined_texts(self, mark: Expression, *texts: Expression) -> None:
        if not texts:
            self.value(mark)  # it is evaluated, and may be an error
            self.made.emit(Opcode.DROP)
            self.made.constant("")
            return
        self.value(mark)
        self.made.emit(Opcode.DROP)
        self.value(texts[0])
        for text in texts[1:]:
            self.value(mark)
            self._checked(Opcode.CONCAT)
            self.value(text)
            self._checked(Opcode.CONCAT)

    def _in(self, subject: Expression, others: list[Expression]) -> None:
        constants = [each.value for each in others if isinstance(each, Literal)]
        if len(constants) == len(others):
            self.value(subject)
            self.made.among(constants)
            return
        for place, other in enumerate(others):
            self.value(subject)
            self.value(other)
            self.made.emit(Opcode.EQ)
            if place:
                self.made.emit(Opcode.OR)

    def _among(self, name: str, others: list[Expression]) -> None:
        """Append a piece of code for each type that the attribute may have."""
        ends = []
        for kind, bit in _KINDS.items():
            self.value(Attribute(name, 0))
            self.made.emit(Opcode.KIND, bit)
            otherwise = self.made.jump(Opcode.BRANCH)
            self._among_kind(name, others, kind)
            ends.append(self.made.jump(Opcode.JUMP))
            self.made.place(otherwise)
        self._error()
        for end in ends:
            self.made.place(end)

    def _among_kind(self, name: str, others: list[Expression], kind: CesqlType) -> None:
        constants: list[Value] = []
        for other in others:
            cast = cast_value(other.value, kind) if isinstance(other, Literal) else None
            if cast is not None:
                constants.append(cast)
            elif isinstance(other, Literal):
                self._error()
                return
        if len(constants) == len(others):
            self.value(Attribute(name, 0))
            self.made.among(constants)
            return
        for place, other in enumerate(others):
            self.value(Attribute(name, 0))
            if type_of(other) is kind:
                self.value(other)
            else:
                self._cast(other, _CAST_TO[kind])
            self.made.emit(Opcode.EQ)
            if place:
                self.made.emit(Opcode.OR)

    def _error(self) -> None:
        self.made.constant("")
        self._checked(Opcode.CAST, Cast.INT32)
