"""The outcomes of a folded expression: predicates of the events of which it is true, and false.

Law: an attribute may be a text, a boolean or an integer; each condition is made for the three kinds. That a text is an
integer, inner wildcards, arithmetic, functions, and attributes beside each other are left undecided.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Final

from tamis.protocol.dialects.cesql.casts import INT32, CesqlType, cast_value
from tamis.protocol.dialects.cesql.fold import is_error, type_of
from tamis.protocol.dialects.cesql.functions import ARITHMETIC, FUNCTIONS, ORDER, result
from tamis.protocol.dialects.cesql.likeness import is_like, pieces_of_like
from tamis.protocol.dialects.cesql.outcomes import (
    FAILS,
    Outcomes,
    contrary,
    exclusive,
    of_both,
    one_after_another,
    settled,
    where_defined,
)
from tamis.protocol.dialects.context import begins, ends, is_text
from tamis.protocol.dialects.patterns import Wild, matches
from tamis.protocol.dialects.rails import NEVER, Rail, complement, every, holds, present, some, undecided
from tamis.protocol.dialects.tree import Attribute, Call, Expression, Literal, located
from tamis.protocol.filters import Op
from tamis.protocol.values import Value

_OPS: Final = {"=": Op.EQ, "!=": Op.NE, "<": Op.LT, "<=": Op.LE, ">": Op.GT, ">=": Op.GE}
_COMPARES: Final = {"=": operator.eq, "!=": operator.ne, **ORDER}
_CONTRARY: Final = {"=": "!=", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_MIRRORED: Final = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_SHOWN: Final = 80
_XOR_MAX: Final = 8
"""More parts of an XOR have more alternatives than a predicate."""
_SIGNED_DIGITS: Final = frozenset("-0123456789")


def wanted(node: Expression, text: str) -> Rail:
    """Return where the whole expression is the boolean true."""
    if is_error(node) or type_of(node) not in (None, CesqlType.BOOLEAN):
        return NEVER
    if isinstance(node, Attribute):
        return holds(node.name, Op.EQ, True)
    return _Meaning(text).outcomes(node).true


class _Meaning:
    """The meaning of one text."""

    def __init__(self, text: str) -> None:
        self.text = text

    def outcomes(self, node: Expression) -> Outcomes:
        """Return the outcomes of an expression that is a boolean."""
        match node:
            case Literal(bool(value)):
                return settled(value)
            case Call("error"):
                return FAILS
            case Call("not" | "or" | "and", parts):
                return self._joined(node.op, parts)
            case Call("xor", parts) if len(parts) <= _XOR_MAX:
                return functools.reduce(exclusive, map(self.outcomes, parts))
            case Call("exists", (Attribute(name),)):
                return Outcomes(present(name), lambda: complement(present(name)))
            case Call("bool", (Attribute(name),)):
                return _as_boolean(name)
            case Call("among", (Attribute(name), *others)) if all(isinstance(each, Literal) for each in others):
                return _among(name, [each.value for each in others if isinstance(each, Literal)])
            case Call(op, (left, right)) if op in ("=", "like") or op in ORDER:
                return self._test(left, right, node)
        return self._undecided(node)

    def _joined(self, op: str, parts: Sequence[Expression]) -> Outcomes:
        found = map(self.outcomes, parts)
        if op == "or":
            return one_after_another(found)
        if op == "and":
            return contrary(one_after_another(map(contrary, found)))
        return contrary(next(found))

    def _test(self, left: Expression, right: Expression, node: Call) -> Outcomes:
        op = node.op
        if op == "=" and type_of(left) is CesqlType.BOOLEAN:
            return contrary(exclusive(self.outcomes(left), self.outcomes(right)))
        if isinstance(left, Literal):
            op, left, right = _MIRRORED[op], right, left
        match left, right:
            case Call("string", (Attribute(name),)), Literal(str(value)):
                true = is_text(name, value) if op == "=" else self._like(name, value)
                return where_defined(true, present(name))
            case Call("int", (Attribute(name),)), Literal(int(value)):
                need = f"texts that are numbers {located(self.text, node.at)}"
                true = _numbers(name, op, value, need)
                false = functools.partial(_numbers, name, _CONTRARY[op], value, need)
                return of_both(true, false, lambda: undecided(present(name), need))
            case Call("string" | "int", (inner,)), Literal(value) if type_of(inner) is CesqlType.BOOLEAN:
                return _of_condition(self.outcomes(inner), op, value)
        return self._undecided(node)

    def _like(self, name: str, pattern: str) -> Rail:
        match pieces_of_like(pattern):
            case ():
                return is_text(name, "")
            case (Wild.ANY,):
                return present(name)
            case (str(text),):
                return is_text(name, text)
            case (str(text), Wild.ANY):
                return begins(name, text)
            case (Wild.ANY, str(text)):
                return ends(name, text)
            case pieces:
                shown = f"'{pattern if len(pattern) <= _SHOWN else pattern[:_SHOWN] + '...'}'"
                rails = [matches(name, pieces, shown)]
                rails += [holds(name, Op.EQ, value) for value in (True, False) if is_like(str(value).lower(), pattern)]
                if all(_SIGNED_DIGITS.issuperset(each) for each in pieces if isinstance(each, str)):
                    rails.append(undecided(_integers(name), f"the digits of an integer in the pattern {shown}"))
                return some(*rails)

    def _undecided(self, node: Expression) -> Outcomes:
        names = dict.fromkeys(_evaluated(node))
        rail = undecided(every(*map(present, names)), self._need(node))
        return of_both(rail, rail, lambda: rail)

    def _need(self, node: Expression) -> str:
        for part in _calls(node):
            if part.op in ARITHMETIC:
                return f"arithmetic {located(self.text, part.at)}"
            if part.op in FUNCTIONS and part.op not in ("bool", "int", "string"):
                return f"the function {part.op.upper()} {located(self.text, part.at)}"
        return f"the comparison {located(self.text, node.at)}"


# --- one attribute ---------------------------------------------------------------------------------------------------


def _integers(name: str) -> Rail:
    return holds(name, Op.BETWEEN, INT32.start, INT32.stop - 1)


def _as_boolean(name: str) -> Outcomes:
    """Return the outcomes of an attribute that is cast to a boolean."""
    true = some(
        holds(name, Op.IN, *_TRUE),
        holds(name, Op.BETWEEN, INT32.start, -1),
        holds(name, Op.BETWEEN, 1, INT32.stop - 1),
    )
    false = holds(name, Op.IN, *_FALSE)
    return of_both(true, false, lambda: some(true, false))


def _in_any_case(word: str) -> tuple[str, ...]:
    return tuple("".join(chars) for chars in product(*zip(word, word.upper(), strict=True)))


_TRUE: Final[tuple[Value, ...]] = (True, *_in_any_case("true"))
_FALSE: Final[tuple[Value, ...]] = (False, 0, *_in_any_case("false"))


def _numbers(name: str, op: str, value: int, need: str) -> Rail:
    """Return where the attribute, cast to an integer, compares so."""
    truths = [truth for truth in (True, False) if _COMPARES[op](int(truth), value)]
    texts = holds(name, Op.SUFFIX, str(abs(value))) if op == "=" else holds(name, Op.PREFIX, "")
    return some(holds(name, _OPS[op], value), holds(name, Op.IN, *truths), undecided(texts, need))


def _among(name: str, values: list[Value]) -> Outcomes:
    """Return the outcomes of `x IN (values)`, where the values are cast to the type of the attribute: an error if one
    cannot be."""
    kinds = {
        CesqlType.STRING: holds(name, Op.PREFIX, ""),
        CesqlType.INTEGER: _integers(name),
        CesqlType.BOOLEAN: holds(name, Op.IN, True, False),
    }
    found: list[Value] = []
    defined = []
    for kind, rail in kinds.items():
        casts = [cast_value(value, kind) for value in values]
        known = [value for value in casts if value is not None]
        if len(known) == len(casts):
            found += known
            defined.append(rail)
    true, all_defined = holds(name, Op.IN, *found), present(name) if len(defined) == len(kinds) else some(*defined)
    return where_defined(true, all_defined)


# --- other conditions ------------------------------------------------------------------------------------------------


def _of_condition(inner: Outcomes, op: str, value: Value) -> Outcomes:
    """Return the outcomes of a comparison of a condition, cast to another type, with a value."""
    to = CesqlType.STRING if isinstance(value, str) else CesqlType.INTEGER
    holding = [bool(result(op, [cast_value(truth, to), value])) for truth in (True, False)]
    rails = (inner.true, inner.false)
    true = some(*(rail for rail, is_true in zip(rails, holding, strict=True) if is_true))
    false = some(*(rail for rail, is_true in zip(rails, holding, strict=True) if not is_true))
    return of_both(true, false, lambda: some(*rails))


def _evaluated(node: Expression) -> Iterator[str]:
    """Yield the names of the attributes that are evaluated whatever the event is."""
    match node:
        case Attribute(name):
            yield name
        case Call("exists"):
            return
        case Call("and" | "or", (first, *_)):
            yield from _evaluated(first)
        case Call(_, parts):
            for part in parts:
                yield from _evaluated(part)


def _calls(node: Expression) -> Iterator[Call]:
    if isinstance(node, Call):
        yield node
        for part in node.parts:
            yield from _calls(part)
