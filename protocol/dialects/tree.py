"""An expression of a dialect with a grammar: three kinds of node, each with its offset in the text.

Law: a node says what is written, not what it means; that is in the rails that a dialect makes of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from tamis.protocol.language.mistake import place
from tamis.protocol.values import Value

_PATTERN_COST: Final = 8


@dataclass(frozen=True, slots=True)
class Literal:
    value: Value
    at: int


@dataclass(frozen=True, slots=True)
class Attribute:
    name: str
    at: int


@dataclass(frozen=True, slots=True)
class Call:
    """An operator or a function, under its name in lower case: `and`, `<=`, `like`, `+`."""

    op: str
    parts: tuple[Expression, ...]
    at: int


Expression = Literal | Attribute | Call


def names_in(expression: Expression) -> Iterator[str]:
    """Yield the names of the attributes in an expression."""
    match expression:
        case Attribute(name):
            yield name
        case Call(_, parts):
            for part in parts:
                yield from names_in(part)


def cost(expression: Expression) -> int:
    """Return about how much work an expression is."""
    if not isinstance(expression, Call):
        return 1
    return sum(map(cost, expression.parts), 1 if expression.op != "like" else _PATTERN_COST)


def located(text: str, at: int) -> str:
    """Return where a part of a filter stands, for what its predicate leaves undecided."""
    line, column = place(text, at)
    return f"at column {column}" if line == 1 else f"at line {line}, column {column}"
