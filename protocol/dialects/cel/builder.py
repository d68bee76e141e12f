"""The callbacks of cel.lark, which build the tree of an expression.

Law: a path `a.b["c"][0]` is one attribute, `a.b.c[0]`. What is no filter is refused by its name, with what to write
instead.
"""

from __future__ import annotations

from typing import Any, Final

from tamis.protocol.dialects.cel.literals import number_of, text_of
from tamis.protocol.dialects.grammars import Grammar
from tamis.protocol.dialects.tree import Attribute, Call, Expression, Literal
from tamis.protocol.language.mistake import SyntaxMistake
from tamis.protocol.nearest import did_you_mean

METHODS: Final = {"startsWith": "prefix", "endsWith": "suffix", "contains": "contains"}
_KNOWN: Final = ("has", "size", *METHODS)
_LISTS: Final = ("all", "exists", "exists_one", "existsOne", "map", "filter")
_TIMES: Final = ("timestamp", "duration", "now")
_CASTS: Final = ("int", "uint", "double", "string", "bool", "bytes", "dyn", "type")
_RESERVED: Final = frozenset(
    "as break const continue else for function if import let loop package namespace return var void while".split()  # noqa: SIM905
)


class CelBuilder:
    """One method for each rule; each gets what the rule's parts became, a token where there is no rule."""

    def choice(self, parts: list[Any]) -> Call:
        condition, question, one, _, other = parts
        return Call("choice", (condition, one, other), question.start_pos)

    def disjunction(self, parts: list[Expression]) -> Call:
        return Call("or", tuple(parts), parts[0].at)

    def conjunction(self, parts: list[Expression]) -> Call:
        return Call("and", tuple(parts), parts[0].at)

    def comparison(self, parts: list[Any]) -> Call:
        left, operator, right = parts
        return Call(str(operator), (left, right), operator.start_pos)

    def membership(self, parts: list[Any]) -> Call:
        value, word, *values = parts
        return Call("in", (value, *values), word.start_pos)

    def in_attribute(self, parts: list[Any]) -> Call:
        hint = "`in` takes a list that is written out: x in [1, 2]; of a key write has(a.b)"
        raise SyntaxMistake(parts[2].at, "a value is no list and no map", hint)

    def arithmetic(self, parts: list[Any]) -> Call:
        left, operator, right = parts
        return Call(str(operator), (left, right), operator.start_pos)

    def negative(self, parts: list[Any]) -> Call:
        return Call("negative", (parts[1],), parts[0].start_pos)

    def opposite(self, parts: list[Any]) -> Call:
        return Call("not", (parts[1],), parts[0].start_pos)

    def group(self, parts: list[Any]) -> Call:
        return Call("group", (parts[1],), parts[0].start_pos)

    def number(self, parts: list[Any]) -> Literal:
        return Literal(number_of(parts[0]), parts[0].start_pos)

    def text(self, parts: list[Any]) -> Literal:
        return Literal(text_of(parts[0]), parts[0].start_pos)

    def truth(self, parts: list[Any]) -> Literal:
        return Literal(parts[0].type == "TRUE", parts[0].start_pos)

    def null(self, parts: list[Any]) -> Call:
        return Call("null", (), parts[0].start_pos)

    def attribute(self, parts: list[Any]) -> Attribute:
        (token,) = parts
        if token in _RESERVED:
            raise SyntaxMistake(token.start_pos, f"`{token}` is a reserved word of CEL")
        return Attribute(str(token), token.start_pos)

    def field(self, parts: list[Any]) -> Attribute:
        owner, token = parts
        return Attribute(f"{_path(owner)}.{token}", owner.at)

    def index(self, parts: list[Any]) -> Attribute:
        owner, key = parts
        path = _path(owner)
        match key:
            case Literal(str(name)):
                return Attribute(f"{path}.{name}", owner.at)
            case Literal(int(number)) if not isinstance(number, bool):
                return Attribute(f"{path}[{number}]", owner.at)
        raise SyntaxMistake(key.at, 'an index is a text or an integer: a["b"], a[0]')

    def function(self, parts: list[Any]) -> Call:
        name, _, *arguments = parts
        return _called(name, arguments)

    def method(self, parts: list[Any]) -> Call:
        owner, name, _, *arguments = parts
        return _called(name, [owner, *arguments], is_method=True)


def _path(owner: Expression) -> str:
    if not isinstance(owner, Attribute):
        raise SyntaxMistake(owner.at, "a path begins with a name: a.b.c")
    return owner.name


def _called(name: Any, arguments: list[Expression], *, is_method: bool = False) -> Call:  # noqa: ANN401 - a token
    at = name.start_pos
    if name == "has" and not is_method:
        if len(arguments) == 1 and isinstance(arguments[0], Attribute):
            return Call("has", tuple(arguments), at)
        raise SyntaxMistake(at, "`has` takes one path: has(a.b)")
    if name == "size":
        if len(arguments) == 1:
            return Call("size", tuple(arguments), at)
        raise SyntaxMistake(at, "`size` takes one value: size(a), or a.size()")
    if name in METHODS and is_method:
        if len(arguments) == 2:
            return Call(METHODS[str(name)], tuple(arguments), at)
        raise SyntaxMistake(at, f"`{name}` takes one text: a.{name}('b')")
    raise _refused(str(name), at)


def _refused(name: str, at: int) -> SyntaxMistake:
    if name == "matches":
        hint = "write a.startsWith('b'), a.endsWith('b') or a.contains('b')"
        return SyntaxMistake(at, "`matches` is not here, since a regular expression may take any time", hint)
    if name in _LISTS:
        hint = "name an element: a[0] == 1"
        return SyntaxMistake(at, f"`{name}` goes through a list, and a value is none", hint)
    if name in _TIMES or (name.startswith("get") and name[3:4].isupper()):
        hint = "publish a time as a number, or as a text that sorts: created > '2026-01-01'"
        return SyntaxMistake(at, f"`{name}` is of times and durations, and a value is none", hint)
    if name in _CASTS:
        return SyntaxMistake(at, f"the conversion `{name}` is not here", "publish the value that it makes")
    if name in METHODS:
        return SyntaxMistake(at, f"`{name}` stands behind a value", f"write a.{name}('b')")
    guess = did_you_mean(name, _KNOWN)
    return SyntaxMistake(at, f"there is no function `{name}`{guess}", "" if guess else "publish what it makes")


_VALUE: Final = "a name, a number, a text, true, false or null"
GRAMMAR: Final = Grammar(
    package="tamis.protocol.dialects.cel",
    file="cel.lark",
    builder=CelBuilder(),
    expected={
        "STRING": _VALUE,
        "RELATION": "an operator (== != < <= > >= in + - * / % && || ?) or the end",
        "COLON": "`:` and a value for where the condition is false",
        "NAME": "a name",
        "_RPAR": "`)`",
        "_RSQB": "`]`",
    },
    words=(),
    quote='"',
    inside='\\"',
    hints={
        "AND": "write `&&`",
        "OR": "write `||`",
        "NOT": "write `!`",
        "LIKE": "write a.startsWith('b'), a.endsWith('b') or a.contains('b')",
        "BETWEEN": "write `x >= 1 && x <= 2`",
        "IS": "write `x == null`, or `!has(a.x)`",
        "MATCHES": "write a.startsWith('b'), a.endsWith('b') or a.contains('b')",
        "=": "equality is written `==`",
        "<>": "write `!=`",
        "&": "write `&&`",
        "|": "write `||`",
        "'": "a text ends with the mark that it begins with",
        "{": "there are no maps: compare each value",
        "[": "a list stands behind `in`",
        "`": 'write a["b"]',
    },
)
