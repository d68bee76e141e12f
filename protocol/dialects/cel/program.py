"""The residual program of an expression of CEL: the whole of it, three-valued, where an error is unknown.

Law: each value on the stack is of the kind that its operator takes, or unknown. Parts of `&&` and `||` come in the
order of their cost, since both are commutative over errors.
"""

from __future__ import annotations

from typing import Final

from tamis.protocol.dialects.cel.meaning import COMPARED, ORDER, TEXTUAL, is_null, listed
from tamis.protocol.dialects.cel.values import Kind, kind, settled
from tamis.protocol.dialects.decide import Emit, assembled, joined
from tamis.protocol.dialects.events import LENGTH, MEMBERS, NULL
from tamis.protocol.dialects.tree import Attribute, Call, Expression, Literal, cost
from tamis.protocol.limits import STRING_BYTES_MAX
from tamis.protocol.residual import Arithmetic, Assembler, Cast, Mixed, Opcode, Program

_ORDERED: Final = {"<": Opcode.LT, "<=": Opcode.LE, ">": Opcode.GT, ">=": Opcode.GE}
_TEXTUAL: Final = {"prefix": Opcode.PREFIX, "suffix": Opcode.SUFFIX, "contains": Opcode.CONTAINS}
_ARITHMETIC: Final = {"+": Opcode.ADD, "-": Opcode.SUB, "*": Opcode.MUL, "/": Opcode.DIV, "%": Opcode.MOD}


def program_of(condition: Expression) -> Program | None:
    """Return the program that decides the condition; None if it would be too large."""
    return assembled(_test(condition))


def _test(node: Expression) -> Emit:
    return lambda made: _append(made, node)


def _append(made: Assembler, node: Expression) -> None:
    match node:
        case Call("group", (inner,)):
            _append(made, inner)
        case Call("not", (inner,)):
            _append(made, inner)
            made.emit(Opcode.NOT)
        case Call("and" | "or" as word, parts):
            joined(made, map(_test, sorted(parts, key=cost)), word == "and")
        case Call("choice", (condition, one, other)):
            _choose(made, condition, _test(one), _test(other))
        case Call("has", (Attribute(name),)):
            _any_exists(made, name, f"{name}{NULL}", f"{name}{LENGTH}", f"{name}{MEMBERS}")
        case Call("in", (subject, *values)):
            _value(made, settled(subject))
            made.among(listed(values, node.at))
        case Call(op, (owner, part)) if op in TEXTUAL:
            _value(made, settled(owner), Kind.TEXT)
            _value(made, settled(part), Kind.TEXT)
            made.emit(_TEXTUAL[op])
        case Call(op, (left, right)) if op in COMPARED:
            _compare(made, op, left, right)
        case _:
            _value(made, node)


def _compare(made: Assembler, op: str, left: Expression, right: Expression) -> None:
    if is_null(left) or is_null(right):
        _is_null(made, left if is_null(right) else right)
    else:
        _value(made, settled(left))
        _value(made, settled(right))
        made.emit(_ORDERED[op] if op in ORDER else Opcode.EQ, Mixed.UNKNOWN if op in ORDER else Mixed.FALSE)
    if op == "!=":
        made.emit(Opcode.NOT)


def _is_null(made: Assembler, node: Expression) -> None:
    """Append whether a name is null: false if it has another value, unknown if it has none."""
    if not isinstance(node, Attribute):
        made.constant(True)  # null beside null
        return
    made.exists(f"{node.name}{NULL}")
    _any_exists(made, node.name, f"{node.name}{LENGTH}", f"{node.name}{MEMBERS}")
    made.emit(Opcode.NOT)
    _unknown(made)
    made.emit(Opcode.AND)
    made.emit(Opcode.OR)


def _any_exists(made: Assembler, first: str, *others: str) -> None:
    made.exists(first)
    for name in others:
        made.exists(name)
        made.emit(Opcode.OR)


def _unknown(made: Assembler) -> None:
    made.constant("")
    made.emit(Opcode.CAST, Cast.INTEGER)


def _choose(made: Assembler, condition: Expression, one: Emit, other: Emit) -> None:
    _append(made, condition)
    made.emit(Opcode.NOT)
    made.emit(Opcode.NOT)  # what is no boolean is unknown
    error = made.jump(Opcode.JUMP_UNKNOWN)
    otherwise = made.jump(Opcode.BRANCH)
    one(made)
    end = made.jump(Opcode.JUMP)
    made.place(otherwise)
    other(made)
    made.place(end)
    made.place(error)


def _value(made: Assembler, node: Expression, wanted: Kind | None = None) -> None:
    """Append a value that `settled` returned; where a kind is wanted, it is unknown of any other."""
    match node:
        case Literal(value):
            made.constant(value)
        case Attribute(name):
            made.attribute(name)
            _of_kind(made, wanted)
        case Call("negative", (inner,)):
            _value(made, inner, wanted or kind(inner))
            made.emit(Opcode.NEG, Arithmetic.INT64)
        case Call("size", (inner,)):
            _size(made, inner)
        case Call("choice", (condition, one, other)):
            _choose(made, condition, lambda to: _value(to, one, wanted), lambda to: _value(to, other, wanted))
        case Call(op, (left, right)):
            _calculate(made, op, left, right, wanted or kind(node))


def _of_kind(made: Assembler, wanted: Kind | None) -> None:
    if wanted is Kind.TEXT:
        made.constant(STRING_BYTES_MAX)
        made.emit(Opcode.LEFT)
    elif wanted is Kind.DOUBLE:
        made.constant(0.0)
        made.emit(Opcode.ADD, Arithmetic.WIDE)
    elif wanted is Kind.INTEGER:
        made.constant(0)
        made.emit(Opcode.ADD, Arithmetic.WIDE)  # unknown of what is no number
        made.emit(Opcode.CAST, Cast.TEXT)  # unknown of a fraction
        made.emit(Opcode.CAST, Cast.INTEGER)


def _calculate(made: Assembler, op: str, left: Expression, right: Expression, wanted: Kind | None) -> None:
    taken = Kind.INTEGER if op == "%" else wanted
    _value(made, left, taken)
    _value(made, right, taken)
    if taken is Kind.TEXT:
        made.emit(Opcode.CONCAT)
    else:
        made.emit(_ARITHMETIC[op], Arithmetic.INT64)


def _size(made: Assembler, inner: Expression) -> None:
    """Append the number of characters of a text, of elements of a list, or of members of a map."""
    ends = []
    if isinstance(inner, Attribute):
        for name in (f"{inner.name}{LENGTH}", f"{inner.name}{MEMBERS}"):
            made.exists(name)
            otherwise = made.jump(Opcode.BRANCH)
            made.attribute(name)
            ends.append(made.jump(Opcode.JUMP))
            made.place(otherwise)
    _value(made, inner, Kind.TEXT)
    made.emit(Opcode.LENGTH)
    for end in ends:
        made.place(end)
