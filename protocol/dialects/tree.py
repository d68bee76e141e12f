"""An expression of a dialect with a grammar: the nodes of the language's own expressions."""

from __future__ import annotations

from typing import Final

from tamis.protocol.language.expression import Attribute, Call, Expression, Literal, names_in
from tamis.protocol.language.mistake import place

__all__ = ["Attribute", "Call", "Expression", "Literal", "cost", "located", "names_in"]

_PATTERN_COST: Final = 8


def cost(expression: Expression) -> int:
    """Return about how much work an expression is."""
    if not isinstance(expression, Call):
        return 1
    return sum(map(cost, expression.parts), 1 if expression.op != "like" else _PATTERN_COST)


def located(text: str, at: int) -> str:
    """Return where a part of a filter stands, for what its predicate leaves undecided."""
    line, column = place(text, at)
    return f"at column {column}" if line == 1 else f"at line {line}, column {column}"
