"""An expression of a language with a grammar: three kinds of node, each with its offset in the text.

Law: a node says what is written, not what it means; that is in what a reader makes of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tamis.protocol.values import Value, ValueKind


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
KindOf = Callable[[Attribute], ValueKind | None]
"""Tells the kind of an attribute in an expression; None if it may have any."""


def anything(_: Attribute) -> ValueKind | None:
    return None


def names_in(expression: Expression) -> Iterator[str]:
    """Yield the names of the attributes in an expression."""
    match expression:
        case Attribute(name):
            yield name
        case Call(_, parts):
            for part in parts:
                yield from names_in(part)
