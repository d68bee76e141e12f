"""What a computed condition needs a program for, in words, and the mistake of one that stands where none may.

Law: the mistake is at the operator; at the right side if that may be a string without quotes.
"""

from __future__ import annotations

from typing import Final

from tamis.protocol.language import kinds
from tamis.protocol.language.expression import Attribute, Call, Expression, Literal
from tamis.protocol.language.literals import write_string
from tamis.protocol.language.mistake import SyntaxMistake, place
from tamis.protocol.language.tree import FOLDED, Computed
from tamis.protocol.nearest import nearest

_SHOWN: Final = 40
_LIKENESS_MIN: Final = 0.75
_WHERE: Final = "`subscribe`, `durable` and `replay` take it, without group and homes"


def need_of(test: Call) -> str:
    """Return what only a program decides of a condition."""
    match test:
        case Call("like", (_, Literal(str(pattern)), *_)):
            return f"the pattern {_quoted(pattern)}"
        case Call("in network", (_, Literal(network))):
            return f"the network {network}"
        case Call(op, (_, Literal(str(text)))) if op in FOLDED:
            return f"{_quoted(text)} in any case"
    function = _function_in(test)
    if function is not None:
        return f"the function {function}"
    return "arithmetic" if any(isinstance(part, Call) for part in test.parts) else "the comparison of two attributes"


def need_at(test: Call, text: str) -> str:
    """Return the same with the place in the text."""
    line, column = place(text, test.at)
    return f"{need_of(test)} at {'' if line == 1 else f'line {line}, '}column {column}"


def unquoted(test: Call) -> Attribute | None:
    """Return the right side if it may be a string whose quotes were forgotten: `class = alert`."""
    match test:
        case Call("=" | "!=" | "prefix" | "suffix" | "contains", (Attribute(), Attribute() as right)):
            return right
    return None


def not_exact(condition: Computed) -> SyntaxMistake:
    """Return the mistake of a computed condition in a place that takes exact predicates alone."""
    test, right = condition.test, unquoted(condition.test)
    problem = f"a predicate must be exact here, and {need_of(test)} needs a program"
    if right is None:
        return SyntaxMistake(test.at, problem, _WHERE)
    near = nearest(right.name, ("true", "false"), _LIKENESS_MIN)
    hint = f"did you mean `{near}`?" if near else f"a string stands in quotes: {_quoted(right.name)}"
    return SyntaxMistake(right.at, problem, hint)


def _function_in(expression: Expression) -> str | None:
    if not isinstance(expression, Call):
        return None
    if expression.op in kinds.FUNCTIONS:
        return expression.op
    return next(filter(None, map(_function_in, expression.parts)), None)


def _quoted(text: str) -> str:
    return write_string(text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}...")
