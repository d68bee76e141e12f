"""The instructions of a computed condition.

Law: they leave true where the condition holds, and elsewhere false or unknown: an absent attribute is unknown, and so
is what arithmetic or a function has no result for. Values of two kinds compare as false.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tamis.protocol.dialects.decide import Emit, joined
from tamis.protocol.dialects.patterns import glob_of
from tamis.protocol.dialects.tree import Attribute, Call, Expression, Literal
from tamis.protocol.language.computed import ARITHMETIC
from tamis.protocol.language.likeness import Piece, like_parts, pieces_of
from tamis.protocol.residual import Arithmetic, Assembler, Mixed, Opcode, cidr

_OF_VALUES: Final = {
    "=": (Opcode.EQ, Mixed.FALSE),
    "!=": (Opcode.NE, Mixed.FALSE),
    "<": (Opcode.LT, Mixed.FALSE),
    "<=": (Opcode.LE, Mixed.FALSE),
    ">": (Opcode.GT, Mixed.FALSE),
    ">=": (Opcode.GE, Mixed.FALSE),
    "prefix": (Opcode.PREFIX, 0),
    "suffix": (Opcode.SUFFIX, 0),
    "contains": (Opcode.CONTAINS, 0),
    "~=": (Opcode.SAME_FOLDED, 0),
    "~^=": (Opcode.PREFIX, 1),
    "~$=": (Opcode.SUFFIX, 1),
    **ARITHMETIC,
    "negative": (Opcode.NEG, Arithmetic.WIDE),
    "length": (Opcode.LENGTH, 0),
    "lower": (Opcode.LOWER, 0),
    "upper": (Opcode.UPPER, 0),
    "trim": (Opcode.TRIM, 0),
    "left": (Opcode.LEFT, 0),
    "right": (Opcode.RIGHT, 0),
    "concat": (Opcode.CONCAT, 0),
}
"""What takes the values of its parts, in their order."""


def emitting(expression: Expression) -> Emit:
    """Return what appends the instructions of an expression, which leave its value."""
    return lambda made: _append(made, expression)


def like_pieces(texts: Sequence[Expression]) -> tuple[Piece, ...]:
    """Return the pattern of a `like`, whose parts are a text and perhaps its escape."""
    pattern, *escapes = [str(each.value) for each in texts if isinstance(each, Literal)]
    return pieces_of(like_parts(pattern, "".join(escapes), texts[0].at))


def _append(made: Assembler, expression: Expression) -> None:
    match expression:
        case Literal(value):
            made.constant(value)
        case Attribute(name):
            made.attribute(name)
        case Call("like", (value, *pattern)):
            _append(made, value)
            made.glob(glob_of(like_pieces(pattern)))
        case Call("in network", (value, Literal(network))):
            _append(made, value)
            made.cidr(cidr(str(network)))
        case Call("in", (value, *constants)):
            _append(made, value)
            made.among([each.value for each in constants if isinstance(each, Literal)])
        case Call("between", (value, low, high)):
            bounds = Call(">=", (value, low), expression.at), Call("<=", (value, high), expression.at)
            joined(made, map(emitting, bounds), True)
        case Call(op, parts):
            for part in parts:
                _append(made, part)
            made.emit(*_OF_VALUES[op])
