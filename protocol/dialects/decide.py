"""The program that decides a rail whose predicate is wider than it.

Law: a program is TRUE of an event if the rail, read as it is meant, holds of it, and only then. A rail has two values,
so negations are brought to its conditions, and a negated condition asks first whether its attribute exists. Conditions
come before what is composed of them, and one that settles the result leaves the rest undone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from tamis.protocol.errors import Refused
from tamis.protocol.filters import Op
from tamis.protocol.language.tree import Constant, Junction, Leaf, Nested, Node
from tamis.protocol.residual import Assembler, Glob, KindBit, Mixed, Opcode, Program
from tamis.protocol.values import Value

Emit = Callable[[Assembler], None]
"""Appends instructions that leave a value more on the stack."""


@dataclass(frozen=True, slots=True)
class AttributeTest:
    """A condition that instructions say. They leave a boolean wherever the attribute exists."""

    name: str
    append: Emit


@dataclass(frozen=True, slots=True)
class ValueTest:
    """A condition on several values. The instructions leave true where it holds, and elsewhere false or unknown."""

    append: Emit


Meant = Node | AttributeTest | ValueTest | None


@dataclass(frozen=True, slots=True)
class Widened(Nested):
    """A part of a rail whose predicate, `child`, is wider than what is `meant`; None if no program can say that.
    `indexed`: a predicate between the two, on attributes that only the index of a router has."""

    meant: Meant
    indexed: Node | None = None


def widened(wider: Node, meant: Meant, indexed: Node | None = None) -> Widened:
    return Widened(wider, False, 0, meant, indexed)


def for_index(rail: Node) -> Node:
    """Return a rail with its predicates for the index in place of wider ones; `rail` itself if it has none."""
    return _for_index(rail, {})


def _for_index(rail: Node, made: dict[int, Node]) -> Node:
    """`made`: what is returned, by the identity of the part: a rail may have one part in many places."""
    found = made.get(id(rail))
    if found is not None:
        return found
    found = rail
    match rail:
        case Widened(indexed=indexed) if indexed is not None:
            found = indexed
        case Nested(child, negates):
            kept = _for_index(child, made)
            found = rail if kept is child else Nested(kept, negates, rail.at)
        case Junction(children, conjunctive):
            parts = tuple(_for_index(child, made) for child in children)
            is_same = all(part is child for part, child in zip(parts, children, strict=True))
            found = rail if is_same else Junction(parts, conjunctive, rail.at)
    made[id(rail)] = found
    return found


def condition(name: str, op: Op, *operands: Value) -> AttributeTest:
    """Return the test of a constraint, which may be beyond the limits of one."""
    return AttributeTest(name, lambda made: _append_constraint(made, name, op, operands))


def globbed(name: str, pattern: Glob) -> AttributeTest:
    """Return the test whether an attribute is a text that matches the pattern."""

    def append(made: Assembler) -> None:
        made.attribute(name)
        made.glob(pattern)

    return AttributeTest(name, append)


def program_of(rail: Node) -> Program | None:
    """Return the program that decides the rail; None if there is none, or it would be too large."""
    return assembled(lambda made: _append(made, rail, negated=False))


def assembled(emit: Emit) -> Program | None:
    made = Assembler()
    try:
        emit(made)
        return made.program()
    except Refused:
        return None


def joined(made: Assembler, parts: Iterable[Emit], conjunctive: bool) -> None:
    """Append parts joined by `and` or `or`; each of them may settle the result."""
    jump, join = (Opcode.JUMP_FALSE, Opcode.AND) if conjunctive else (Opcode.JUMP_TRUE, Opcode.OR)
    settled = []
    for number, part in enumerate(parts):
        if number:
            settled.append(made.jump(jump))
        part(made)
        if number:
            made.emit(join)
    for label in settled:
        made.place(label)


def _append(made: Assembler, node: Node, *, negated: bool) -> None:
    match node:
        case Widened(meant=meant):
            _append_meant(made, meant, negated)
        case Nested(child, negates):
            _append(made, child, negated=negated is not negates)
        case Constant(value):
            made.constant(value is not negated)
        case Junction(children, conjunctive):
            parts = sorted(children, key=lambda child: _COSTS[type(child)])
            joined(made, [_later(part, negated) for part in parts], conjunctive is not negated)
        case Leaf(constraint):
            test = condition(constraint.name, constraint.op, *constraint.operands)
            _append_test(made, test, constraint.negated is not negated)


def _later(node: Node, negated: bool) -> Emit:
    return lambda made: _append(made, node, negated=negated)


def _append_meant(made: Assembler, meant: Meant, negated: bool) -> None:
    if meant is None:
        raise Refused("no program says this part")
    if isinstance(meant, ValueTest):
        meant.append(made)
        if negated:
            _append_otherwise(made)
    elif isinstance(meant, AttributeTest):
        _append_test(made, meant, negated)
    else:
        _append(made, meant, negated=negated)


def _append_test(made: Assembler, test: AttributeTest, negated: bool) -> None:
    """Append a test. Without negation, unknown of an absent attribute is as good as false."""
    if not negated:
        test.append(made)
        return
    joined(made, [lambda to: to.exists(test.name), test.append], True)
    made.emit(Opcode.NOT)


def _append_otherwise(made: Assembler) -> None:
    """Turn true into false, and false and unknown into true."""
    made.emit(Opcode.NOT)
    true = made.jump(Opcode.JUMP_TRUE)
    made.emit(Opcode.KIND, KindBit.UNKNOWN)
    made.place(true)


def _append_constraint(made: Assembler, name: str, op: Op, operands: tuple[Value, ...]) -> None:
    match op, operands:
        case Op.EXISTS, _:
            made.exists(name)
        case Op.IN, values:
            made.attribute(name)
            made.among(values)
        case Op.BETWEEN, (low, high):
            bounds = condition(name, Op.GE, low), condition(name, Op.LE, high)
            joined(made, [bound.append for bound in bounds], True)
        case _, (operand,):
            made.attribute(name)
            made.constant(operand)
            made.emit(_OPCODES[op], Mixed.FALSE)


_COSTS: Final = {Constant: 0, Leaf: 1, Widened: 2, Nested: 3, Junction: 3}
_OPCODES: Final = {
    Op.EQ: Opcode.EQ,
    Op.NE: Opcode.NE,
    Op.LT: Opcode.LT,
    Op.LE: Opcode.LE,
    Op.GT: Opcode.GT,
    Op.GE: Opcode.GE,
    Op.PREFIX: Opcode.PREFIX,
    Op.SUFFIX: Opcode.SUFFIX,
    Op.CONTAINS: Opcode.CONTAINS,
}
