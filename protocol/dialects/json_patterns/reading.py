"""Read a pattern in JSON as a tree, and say of one that is none what was expected.

Law: nothing of a pattern is passed over: what has no meaning is a FormMistake at its place.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from tamis.protocol import limits
from tamis.protocol.dialects.events import NULL
from tamis.protocol.dialects.json_patterns.conditions import (
    Affix,
    Among,
    AnythingBut,
    Condition,
    HasValue,
    InNetwork,
    InRange,
    SameInAnyCase,
    Wildcards,
)
from tamis.protocol.dialects.json_patterns.pattern import Joined, Member, PathShape, PatternTree
from tamis.protocol.dialects.json_text import FormMistake, Path
from tamis.protocol.dialects.patterns import Piece, Wild, pieces_of
from tamis.protocol.errors import Refused
from tamis.protocol.filters import Op
from tamis.protocol.nearest import nearest
from tamis.protocol.residual import cidr
from tamis.protocol.values import Value

OR: Final = "$or"
_IN_ANY_CASE: Final = "equals-ignore-case"
_LOWER: Final = {">": Op.GT, ">=": Op.GE}
_UPPER: Final = {"<": Op.LT, "<=": Op.LE}
_NETWORK: Final = re.compile(r"[0-9A-Fa-f:.]+/[0-9]{1,3}")
_PART: Final = re.compile(r"\\[*\\]|\\|\*|[^*\\]+")


@dataclass(frozen=True, slots=True)
class PatternReader:
    system: str
    noun: str
    """What the system calls a pattern."""
    operators: Collection[str]
    """The operators of the system, by which a condition is named."""
    excluding: Collection[str]
    """Those that may stand inside `anything-but`."""
    shapes: Mapping[str, PathShape]
    """The paths that the system defines; others may be anything."""
    folds_affixes: bool
    """Whether `prefix` and `suffix` may ignore case."""

    def tree(self, form: object, at: Path = (), inside: str = "") -> Joined:
        """Return the tree of a pattern whose paths begin with `inside`."""
        return self._fields(form, at, inside, set())

    def _fields(self, form: object, at: Path, inside: str, taken: set[str]) -> Joined:
        """Return all fields of an object. `taken` are the paths that have a condition."""
        if not isinstance(form, dict) or not form:
            raise FormMistake(at, f'{self.noun} is an object such as {{"source": ["a"]}}')
        parts: list[PatternTree] = []
        for name, value in form.items():
            within = (*at, name)
            if name == OR:
                parts.append(self._alternatives(value, within, inside, taken))
                continue
            path = f"{inside}.{name}" if inside else name
            if isinstance(value, dict):
                parts += self._fields(value, within, path, taken).parts
            elif isinstance(value, list):
                parts.append(self._member(value, within, path, taken))
            else:
                hint = "write `exists` for a field with any value" if value is None else ""
                if name in self.operators:
                    hint = f'`{name}` is an operator: its condition stands in an array, [{{"{name}": ...}}]'
                problem = f"the field {name!r} has an array of values, or an object of fields"
                raise FormMistake(within, problem, hint or "one value stands in an array, too: `[...]`")
        return Joined(tuple(parts), True)

    def _alternatives(self, form: object, at: Path, inside: str, taken: set[str]) -> Joined:
        if not isinstance(form, list) or len(form) < 2:
            hint = "write each alternative as an object" if isinstance(form, dict) else ""
            raise FormMistake(at, f"`{OR}` has an array of at least two objects", hint)
        parts, found = [], set(taken)
        for number, alternative in enumerate(form):
            mine, within = set(taken), (*at, number)
            for name in alternative if isinstance(alternative, dict) else ():
                if name in self.operators:
                    raise FormMistake((*within, name), f"`{name}` is an operator, not a field", at_name=True)
            parts.append(self._fields(alternative, within, inside, mine))
            found |= mine
        taken |= found
        return Joined(tuple(parts), False)

    def _member(self, form: list[Any], at: Path, path: str, taken: set[str]) -> Member:
        if not path:
            raise FormMistake(at, "the name of a field is not empty", at_name=True)
        if path.endswith(("]", NULL)):
            hint = f"write `{path.partition('[')[0]}`: an array matches if one of its elements does"
            raise FormMistake(at, f"the name of a field does not end with `]` or `{NULL}`", hint, at_name=True)
        if path in taken:
            raise FormMistake(at, f"the field {path!r} has two arrays of values", "write them in one", at_name=True)
        taken.add(path)
        if not form:
            raise FormMistake(at, "an empty array matches nothing")
        shape = self.shapes.get(path, PathShape.ANY)
        values: list[Value] = []
        conditions: list[Condition] = []
        or_null = or_absent = False
        for number, each in enumerate(form):
            within = (*at, number)
            if isinstance(each, dict):
                name, operand, behind = self._operator(each, within)
                if name == "exists" and operand is False:
                    or_absent = True
                else:
                    conditions.append(self._condition(name, operand, behind))
                    or_null |= name in ("anything-but", "exists")
            elif each is None:
                or_null = True
            elif isinstance(each, list):
                raise FormMistake(within, "an array of values has no array in it")
            else:
                values.append(_number(each, within) if isinstance(each, int | float) else each)
        first: list[Condition] = [Among(tuple(values))] if values else []
        return Member(path, (*first, *conditions), or_null and shape is PathShape.ANY, or_absent, shape)

    def _operator(self, form: dict[str, Any], at: Path) -> tuple[str, Any, Path]:
        """Return the operator of a condition, its operand, and the path to that."""
        if not form:
            raise FormMistake(at, f"a condition is an object with one operator: {', '.join(self.operators)}")
        name, *more = form
        if name not in self.operators:
            raise self._unknown(name, (*at, name), self.operators, "")
        if more:
            problem = f"a condition has one operator, this one {len(form)}: {', '.join(form)}"
            raise FormMistake((*at, more[0]), problem, "write each in an object of its own", at_name=True)
        return name, form[name], (*at, name)

    def _condition(self, name: str, operand: object, at: Path) -> Condition:
        if name == "exists":
            if operand is not True:
                hint = "write it without quotes" if isinstance(operand, str) else ""
                raise FormMistake(at, "`exists` is true or false", hint)
            return HasValue()
        if name == "anything-but":
            return AnythingBut(self._excluded(operand, at))
        if name in ("prefix", "suffix") and not self.folds_affixes:
            _text(name, operand, at)
        return _OF_VALUES[name](operand, at)

    def _excluded(self, form: object, at: Path) -> tuple[Condition, ...]:
        if isinstance(form, dict) and len(form) == 1:
            [(name, operand)] = form.items()
            within = (*at, name)
            if name not in self.excluding:
                raise self._unknown(name, within, self.excluding, " inside `anything-but`")
            paths = [(*within, number) for number in range(len(operand))] if isinstance(operand, list) else [within]
            operands = operand if isinstance(operand, list) else [operand]
            if not operands:
                raise FormMistake(within, f"`{name}` has at least one text")
            for each, path in zip(operands, paths, strict=True):
                if each == "" and name in ("prefix", "suffix"):
                    raise FormMistake(path, f"`{name}` inside `anything-but` has a text of at least one character")
                _text(name, each, path)
            return tuple(_OF_VALUES[name](each, path) for each, path in zip(operands, paths, strict=True))
        values = form if isinstance(form, list) else [form]
        is_of_texts = all(isinstance(each, str) for each in values)
        is_of_numbers = all(isinstance(each, int | float) and not isinstance(each, bool) for each in values)
        if not values or not (is_of_texts or is_of_numbers):
            problem = "`anything-but` has a text, a number, an array of texts, an array of numbers, or an object with "
            raise FormMistake(at, f"{problem}one operator: {', '.join(self.excluding)}")
        return (Among(tuple(each if isinstance(each, str) else _number(each, at) for each in values)),)

    def _unknown(self, name: str, at: Path, names: Collection[str], where: str) -> FormMistake:
        near = OR if "or" in at[-3:-2] else nearest(name, names)
        problem = f"{self.system} has no operator `{name}`{where}; it is one of {', '.join(names)}"
        return FormMistake(at, problem, f"did you mean `{near}`?" if near else "", at_name=True)


# --- the operands of one operator ------------------------------------------------------------------------------------


def _text(name: str, operand: object, at: Path) -> str:
    if not isinstance(operand, str):
        hint = "write a condition for each text" if isinstance(operand, list) else ""
        raise FormMistake(at, f"`{name}` has a text", hint)
    return operand


def _number(operand: Any, at: Path) -> Any:  # noqa: ANN401 - a number or a boolean
    if isinstance(operand, float) and not math.isfinite(operand):
        raise FormMistake(at, "this number is too large")
    if isinstance(operand, int) and not limits.INT_MIN <= operand <= limits.INT_MAX:
        raise FormMistake(at, "this integer is outside 64 bits")
    return operand


def _affix(op: Op) -> Callable[[object, Path], Condition]:
    def read(operand: object, at: Path) -> Condition:
        if isinstance(operand, dict) and list(operand) == [_IN_ANY_CASE]:
            return Affix(op, _text(_IN_ANY_CASE, operand[_IN_ANY_CASE], (*at, _IN_ANY_CASE)), folds=True)
        if not isinstance(operand, str):
            raise FormMistake(at, f'`{op.value}` has a text, or {{"{_IN_ANY_CASE}": ...}}')
        return Affix(op, operand)

    return read


def _wildcards(operand: object, at: Path) -> Condition:
    written = _text("wildcard", operand, at)
    parts: list[Piece] = []
    for part in _PART.findall(written):
        if part == "\\":
            raise FormMistake(at, r"a backslash stands before `*` or a backslash", r"write `\\` for one in the text")
        if part == "*" and parts and parts[-1] is Wild.ANY:
            raise FormMistake(at, "two `*` stand side by side", "write one")
        parts.append(Wild.ANY if part == "*" else part[-1] if part[0] == "\\" else part)
    return Wildcards(pieces_of(parts), written)


def _network(operand: object, at: Path) -> Condition:
    written = _text("cidr", operand, at)
    try:
        if not _NETWORK.fullmatch(written):
            raise Refused("no address, `/` and number of bits")
        cidr(written)
    except Refused:
        raise FormMistake(at, "`cidr` has a network such as 10.0.0.0/8 or 2001:db8::/32") from None
    return InNetwork(written)


def _numeric(operand: object, at: Path) -> Condition:
    form = operand if isinstance(operand, list) else []
    numbers = form[1::2]
    if len(form) not in (2, 4) or not all(type(number) in (int, float) for number in numbers):
        hint = "numbers stand without quotes" if any(isinstance(number, str) for number in numbers) else ""
        raise FormMistake(at, '`numeric` has an array such as ["=", 5] or [">", 0, "<=", 5]', hint)
    for place, number in enumerate(numbers):
        _number(number, (*at, 2 * place + 1))
    signs = form[0::2]
    if len(form) == 2:
        op = {"=": Op.EQ, **_LOWER, **_UPPER}.get(signs[0]) if isinstance(signs[0], str) else None
        if op is None:
            hint = {"==": "write `=`", "=>": "write `>=`", "=<": "write `<=`"}.get(str(signs[0]), "")
            raise FormMistake((*at, 0), "`numeric` compares by `=`, `<`, `<=`, `>` or `>=`", hint)
        return InRange(((op, numbers[0]),))
    if signs[0] not in list(_LOWER) or signs[1] not in list(_UPPER):
        raise FormMistake(at, "of two bounds the lower one is first: `>` or `>=`, then `<` or `<=`")
    if numbers[0] >= numbers[1]:
        raise FormMistake((*at, 3), "the upper bound is above the lower one")
    return InRange(((_LOWER[signs[0]], numbers[0]), (_UPPER[signs[1]], numbers[1])))


_OF_VALUES: Final[dict[str, Callable[[object, Path], Condition]]] = {
    "prefix": _affix(Op.PREFIX),
    "suffix": _affix(Op.SUFFIX),
    _IN_ANY_CASE: lambda operand, at: SameInAnyCase(_text(_IN_ANY_CASE, operand, at)),
    "wildcard": _wildcards,
    "cidr": _network,
    "numeric": _numeric,
}
