"""The meaning of the expressions of residual programs, written for the judge.

Law: this is written from the rules of SQL (three truth values; what is absent is unknown), and shares no code with
dialects, programs or their evaluators; a test compares them. A set of contents is an integer with a bit for each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Value = str | int | float | bool
Plain = tuple[str, tuple[Any, ...]]
"""An operator with its parts: `attribute` has a name and `value` a value; `like` has a name and a pattern, `is null` a
name; `+ - *`, comparisons, `and`, `or` and `not` have expressions."""


def contents_that_hold(expression: Plain, contents: Sequence[Mapping[str, Value]]) -> int:
    """Return the contents of which an expression is true."""
    return sum(1 << number for number, attributes in enumerate(contents) if _found(expression, attributes) is True)


def _found(expression: Plain, attributes: Mapping[str, Value]) -> Value | None:
    """Return the value of an expression; None: it is unknown."""
    op, parts = expression
    if op in ("attribute", "is null", "like"):
        value = attributes.get(str(parts[0]))
        if op == "is null":
            return value is None
        return value if op == "attribute" or value is None else _is_like(str(value), str(parts[1]))
    if op == "value":
        found: Value = parts[0]
        return found
    values = [_found(part, attributes) for part in parts]
    if op in ("and", "or"):
        decides = op == "or"  # one true part decides an `or`, and one false part an `and`
        if any(value is decides for value in values):
            return decides
        return None if None in values else not decides
    if None in values:
        return None
    return not values[0] if op == "not" else _of_two(op, values[0], values[1])


def _of_two(op: str, left: Value | None, right: Value | None) -> Value | None:
    if op in ("=", "<>"):
        return (left == right) == (op == "=")
    if not isinstance(left, int) or not isinstance(right, int):
        return None
    match op:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "<":
            return left < right
        case "<=":
            return left <= right
        case ">":
            return left > right
        case _:
            return left >= right


def _is_like(text: str, pattern: str) -> bool:
    if not pattern:
        return not text
    first, rest = pattern[0], pattern[1:]
    if first == "%":
        return any(_is_like(text[start:], rest) for start in range(len(text) + 1))
    return bool(text) and first in ("_", text[0]) and _is_like(text[1:], rest)
