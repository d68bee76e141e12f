"""The callbacks for conditions with expressions: each becomes a leaf if a constraint can say it, else a Computed.

    price * 2 > 10 * 60     computed      3 < x             x > 3
    path like "/var/%"      a prefix      path like "a%b%c" computed
    a < b                   computed      x not in {1, 2}   the negation of a leaf

Law: a leaf is as in tree.py, with the same mistakes. Arithmetic of numbers alone is worked out here as a program would
do it. An expression nests at most PREDICATE_DEPTH_MAX deep, so its readers may recurse.
"""

from __future__ import annotations

import ipaddress
from dataclasses import replace
from typing import Any, Final

from tamis.protocol import limits
from tamis.protocol.errors import Refused
from tamis.protocol.filters import Constraint, Op
from tamis.protocol.language import kinds, literals, suggest
from tamis.protocol.language.expression import Attribute, Call, Expression, Literal, names_in
from tamis.protocol.language.likeness import Likeness, like_parts, likeness, pieces_of
from tamis.protocol.language.mistake import SyntaxMistake
from tamis.protocol.language.tree import (
    FOLDED,
    OPERATORS,
    Computed,
    Junction,
    Leaf,
    Nested,
    Node,
    Placed,
    TreeBuilder,
)
from tamis.protocol.nearest import nearest
from tamis.protocol.residual.evaluate import calculated
from tamis.protocol.residual.instructions import Arithmetic, Opcode
from tamis.protocol.residual.patterns import Cidr, cidr

_MIRRORED: Final = {Op.EQ: "=", Op.NE: "!=", Op.LT: ">", Op.LE: ">=", Op.GT: "<", Op.GE: "<="}
ARITHMETIC: Final = {
    "+": (Opcode.ADD, Arithmetic.WIDE),
    "-": (Opcode.SUB, Arithmetic.WIDE),
    "*": (Opcode.MUL, Arithmetic.WIDE),
    "/": (Opcode.DIV, Arithmetic.REAL),
    "%": (Opcode.MOD, Arithmetic.WIDE),
}
_V4_BITS: Final = 32
_SHOWN: Final = 60
_NO_ATTRIBUTE: Final = "a condition asks for an attribute of the message; for several values write `x in {...}`"


class ConditionBuilder(TreeBuilder):
    """One method for each rule that has expressions. An attribute beside values is left to the TreeBuilder."""

    # --- conditions

    def comparison(self, parts: list[Any]) -> Leaf | Computed:
        left, token, right = parts
        written = str(token).lower()
        op = OPERATORS.get(written)
        if isinstance(left, Attribute) and isinstance(right, Literal) and written not in FOLDED:
            return super().comparison([_placed(left), token, _placed(right)])
        if op is None and written not in FOLDED:
            raise SyntaxMistake(token.start_pos, f"there is no operator `{token}`", suggest.for_operator(token))
        if isinstance(left, Literal) and isinstance(right, Attribute) and op in _MIRRORED:
            mirrored = super().comparison([_placed(right), token.update(value=_MIRRORED[op]), _placed(left)])
            return replace(mirrored, at=left.at)
        return _computed(written if op is None else op.value, (left, right), token.start_pos)

    def between(self, parts: list[Any]) -> Leaf | Computed:
        left, token, low, high = parts
        if isinstance(left, Attribute) and isinstance(low, Literal) and isinstance(high, Literal):
            return super().between([_placed(left), token, _placed(low), _placed(high)])
        return _computed("between", (left, low, high), token.start_pos)

    def membership(self, parts: list[Any]) -> Leaf | Computed:
        left, token, brace, *values = parts
        if isinstance(left, Attribute):
            return super().membership([_placed(left), token, brace, *values])
        if not 1 <= len(values) <= limits.IN_VALUES_MAX:
            super().membership([Placed("x", left.at), token, brace, *values])  # for its mistake
        constants = tuple(Literal(value.content, value.at) for value in values)
        return _computed("in", (left, *constants), token.start_pos)

    def network(self, parts: list[Any]) -> Leaf | Computed:
        left, token = parts
        written = str(token)[2:].lstrip()
        at = token.start_pos + len(token) - len(written)
        try:
            network = cidr(written)
        except Refused:
            problem = f"{written[:_SHOWN]} is no network of IPv4 or IPv6"
            raise SyntaxMistake(at, problem, "write it as 10.0.0.0/8 or 2001:db8::/32") from None
        if isinstance(left, Attribute) and network.bits == _V4_BITS == len(network.address) * 8:
            address = str(ipaddress.ip_address(network.address))
            return Leaf(Constraint(left.name, Op.EQ, (address,)), left.at, (Placed(address, at),))
        return _computed("in network", (left, Literal(_spelled(network), at)), token.start_pos)

    def like(self, parts: list[Any]) -> Node:
        left, token, *texts = parts
        pattern, *escapes = [literals.read_quoted(each, each.start_pos) for each in texts]
        if escapes and (len(escapes[0]) != 1 or escapes[0] in "%_"):
            raise SyntaxMistake(texts[1].start_pos, "an escape is a string of one character other than % and _")
        at = texts[0].start_pos
        found = likeness(pieces_of(like_parts(pattern, escapes[0] if escapes else "", at)))
        if isinstance(left, Attribute) and found.is_exact:
            try:
                return _exact_like(left, found, Placed(pattern, at))
            except Refused:
                pass  # its texts are too long for a constraint
        constants = (Literal(pattern, at), *(Literal(each, texts[1].start_pos) for each in escapes))
        return _computed("like", (left, *constants), token.start_pos)

    def not_between(self, parts: list[Any]) -> Nested:
        return _negated(parts[1], self.between([parts[0], *parts[2:]]))

    def not_membership(self, parts: list[Any]) -> Nested:
        return _negated(parts[1], self.membership([parts[0], *parts[2:]]))

    def not_network(self, parts: list[Any]) -> Nested:
        return _negated(parts[1], self.network([parts[0], *parts[2:]]))

    def not_like(self, parts: list[Any]) -> Nested:
        return _negated(parts[1], self.like([parts[0], *parts[2:]]))

    # --- values

    def arithmetic(self, parts: list[Any]) -> Expression:
        left, token, right = parts
        return _worked_out(Call(str(token), (left, right), token.start_pos))

    def negative(self, parts: list[Any]) -> Expression:
        token, value = parts
        if isinstance(value, Literal):
            return _worked_out(Call("-", (Literal(0, token.start_pos), value), token.start_pos))
        return _worked_out(Call("negative", (value,), token.start_pos))

    def attribute(self, parts: list[Placed]) -> Attribute:
        return Attribute(parts[0].content, parts[0].at)

    def constant(self, parts: list[Any]) -> Literal:
        value = self.value(parts)
        return Literal(value.content, value.at)

    truth = constant

    def function(self, parts: list[Any]) -> Call:
        token, _, *arguments = parts
        name = token.lower()
        if name not in kinds.FUNCTIONS:
            near = nearest(name, kinds.FUNCTIONS)
            hint = f"did you mean `{near}`?" if near else f"the functions are {', '.join(kinds.FUNCTIONS)}"
            raise SyntaxMistake(token.start_pos, f"there is no function `{token}`", hint)
        return _shallow(Call(name, tuple(arguments), token.start_pos))

    def parentheses(self, parts: list[Any]) -> Expression:
        inner: Expression = parts[1]
        return inner


def _placed(value: Attribute | Literal) -> Placed:
    return Placed(value.name if isinstance(value, Attribute) else value.value, value.at)


def _negated(token: Any, node: Node) -> Nested:  # noqa: ANN401 - a token
    return Nested(node, True, token.start_pos)


def _computed(op: str, parts: tuple[Expression, ...], at: int) -> Computed:
    test = _shallow(Call(op, parts, at))
    start = _start(test.parts[0])
    if not any(names_in(test)):
        raise SyntaxMistake(start, "this condition names no attribute", _NO_ATTRIBUTE)
    kinds.check(test)
    return Computed(test, start)


def _start(expression: Expression) -> int:
    """Return where the text of an expression begins; parentheses are not counted."""
    is_infix = isinstance(expression, Call) and expression.op in ARITHMETIC
    return min(_start(expression.parts[0]), expression.at) if is_infix else expression.at  # type: ignore[union-attr]


def _worked_out(call: Call) -> Expression:
    kinds.check(call)
    values = [part.value for part in call.parts if isinstance(part, Literal)]
    if len(values) != len(call.parts):
        return _shallow(call)
    op, kind = ARITHMETIC[call.op]
    found = calculated(op, values, kind)
    if found is None:
        raise SyntaxMistake(call.at, "this arithmetic has no result: it divides by 0, or is beyond the largest float")
    return Literal(found, call.parts[0].at)


def _shallow(call: Call) -> Call:
    if _levels(call) > limits.PREDICATE_DEPTH_MAX:
        raise SyntaxMistake(call.at, f"an expression nests at most {limits.PREDICATE_DEPTH_MAX} deep")
    return call


def _levels(expression: Expression) -> int:
    return 1 + max(map(_levels, expression.parts)) if isinstance(expression, Call) else 0


def _exact_like(name: Attribute, found: Likeness, pattern: Placed) -> Node:
    """Return the tree of a pattern that constraints can say; Refused if its texts are too long for them."""
    leaves: list[Node] = [
        Leaf(Constraint(name.name, op, (text,)), name.at, (Placed(text, pattern.at),)) for op, text in found.conditions
    ]
    if found.left_out:
        leaves.append(Leaf(Constraint(name.name, Op.IN, found.left_out).negate(), name.at))
    return leaves[0] if len(leaves) == 1 else Junction(tuple(leaves), True, name.at)


def _spelled(network: Cidr) -> str:
    return f"{ipaddress.ip_address(network.address)}/{network.bits}"
