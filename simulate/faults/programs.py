"""The residual programs of a run: expressions over the contents, drawn at random, as a program beside a filter.

Law: half of them are filters of a dialect, whose translation gives filter and program; the others are a program that is
made from the expression, beside the filter that the wish had. The oracle reads the expression alone.
"""

from __future__ import annotations

from random import Random
from typing import Final

from tamis.protocol import dialects
from tamis.protocol.residual import Assembler, Mixed, Opcode, Program, like
from tamis.protocol.wire.packed_filters import encode_filter
from tamis.simulate.faults.workload import LEVELS, PLACES, Expression, Wish

SHARE: Final = 0.4
"""The share of subscriptions that get a program."""
TRIES: Final = 20
"""Filters of the dialect that are drawn for one wish: not every one needs a program, or has one filter."""
COMPARISONS: Final = {
    "=": Opcode.EQ,
    "<>": Opcode.NE,
    "<": Opcode.LT,
    "<=": Opcode.LE,
    ">": Opcode.GT,
    ">=": Opcode.GE,
}
ARITHMETIC: Final = {"+": Opcode.ADD, "-": Opcode.SUB, "*": Opcode.MUL}
PATTERNS: Final = ("a%", "%c", "_b%", "%_c", "a_", "a_c", "%b%", "__")


def with_programs(wishes: tuple[Wish, ...], random: Random) -> tuple[Wish, ...]:
    """Return the subscriptions, SHARE of them with a residual program."""
    return tuple(_decided(wish, random) if random.random() < SHARE else wish for wish in wishes)


def _decided(wish: Wish, random: Random) -> Wish:
    for _ in range(TRIES if random.random() < 0.5 else 0):
        expression = _condition(random, 3)
        found = dialects.get("jms").translate(selector(expression))
        if found.residual is not None and len(found.predicate.filters) == 1:
            (filter_,) = found.predicate.filters
            plain = tuple((each.name, each.op.value, each.operands, each.negated) for each in filter_.constraints)
            return Wish(plain, encode_filter(filter_), found.residual, expression)
    expression = _condition(random, 4)
    return wish._replace(program=program(expression), expression=expression)


# Drawing.


def _condition(random: Random, depth: int) -> Expression:
    """Draw a condition that is true, false or, where `urgent` is absent, unknown."""
    kind = random.randrange(8) if depth else random.randrange(5)
    if kind < 2:
        op = random.choice(tuple(COMPARISONS))
        return Expression(op, (_number(random, 2), _number(random, 1)))
    match kind:
        case 2:
            place = Expression("attribute", ("place",))
            return Expression(random.choice(("=", "<>")), (place, Expression("value", (random.choice(PLACES),))))
        case 3:
            return Expression("like", ("place", random.choice(PATTERNS)))
        case 4 if random.random() < 0.3:
            return Expression("is null", ("urgent",))
        case 4:
            urgent = Expression("attribute", ("urgent",))
            return Expression("=", (urgent, Expression("value", (random.random() < 0.5,))))
        case 5:
            return Expression("not", (_condition(random, depth - 1),))
        case _:
            both = _condition(random, depth - 1), _condition(random, depth - 1)
            return Expression(random.choice(("and", "or")), both)


def _number(random: Random, depth: int) -> Expression:
    if depth and random.random() < 0.5:
        return Expression(random.choice(tuple(ARITHMETIC)), (_number(random, depth - 1), _number(random, depth - 1)))
    if random.random() < 0.6:
        return Expression("attribute", ("level",))
    return Expression("value", (random.choice(LEVELS),))


# Forms.


def selector(expression: Expression) -> str:
    """Return an expression as a selector of JMS."""
    op, parts = expression
    sides = [f"({selector(part)})" for part in parts if isinstance(part, Expression)]
    match op:
        case "attribute":
            return str(parts[0])
        case "value":
            value = parts[0]
            return str(value).upper() if isinstance(value, bool) else repr(value)
        case "like":
            return f"{parts[0]} LIKE '{parts[1]}'"
        case "is null":
            return f"{parts[0]} IS NULL"
        case "not":
            return f"NOT {sides[0]}"
    if op in COMPARISONS:  # a comparison has no parentheses around a name
        sides = [selector(part) for part in parts if isinstance(part, Expression)]
    return f" {op.upper()} ".join(sides)


def program(expression: Expression) -> Program:
    """Return a program that decides what an expression says."""
    made = Assembler()
    _write(made, expression)
    return made.program()


def _write(made: Assembler, expression: Expression) -> None:
    op, parts = expression
    match op, parts:
        case "attribute", (str() as name,):
            made.attribute(name)
        case "value", (str() | int() | float() as value,):
            made.constant(value)
        case "like", (str() as name, str() as pattern):
            made.attribute(name)
            made.glob(like(pattern))
        case "is null", (str() as name,):
            made.exists(name)
            made.emit(Opcode.NOT)
        case (("and" | "or"), (Expression() as left, Expression() as right)):
            _write(made, left)
            end = made.jump(Opcode.JUMP_FALSE if op == "and" else Opcode.JUMP_TRUE)
            _write(made, right)
            made.emit(Opcode.AND if op == "and" else Opcode.OR)
            made.place(end)
        case _:
            for part in parts:
                if isinstance(part, Expression):
                    _write(made, part)
            if op in COMPARISONS:
                made.emit(COMPARISONS[op], Mixed.FALSE)
            else:
                made.emit(Opcode.NOT if op == "not" else ARITHMETIC[op])
