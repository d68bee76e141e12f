"""Hints for a predicate that did not parse: the text that its writer may have intended.

Law: a hint is a guess; nothing here decides whether a text is accepted. The tables hold the names of the operators in
other languages, and constructions of those languages.
"""

from __future__ import annotations

import enum

from tamis.protocol.nearest import nearest


class Position(enum.Enum):
    """A position in a predicate, by what may follow; the value names that in plain words."""

    CONDITION = "a condition such as `price < 10`"
    OPERATOR = "an operator (= != < <= > >= prefix suffix contains like between in)"
    NEGATED = "`in`, `between` or `like` behind `not`"
    VALUE = 'a value: a number, a "string", `true`, `false` or an attribute'
    CONSTANT = 'a value: a number, a "string", `true` or `false`'
    OPERAND = 'a number, a "string" or an attribute'
    TEXT = "a string"
    NAME = "the name of an attribute"
    LIST = "a list of values such as `{1, 2}`"
    LIST_ITEM = "a value or `}`"
    LIST_END = "`,` or `}`"
    ARGUMENTS_END = "`,` or `)`"
    BETWEEN_AND = "`and` and the upper bound"
    END = "`and`, `or` or the end"
    END_OF_GROUP = "`and`, `or` or `)`"


_ELSEWHERE = {
    **dict.fromkeys(("startswith", "starts_with", "starts", "beginswith", "begins_with", "begins", "=^"), "prefix"),
    **dict.fromkeys(("endswith", "ends_with", "ends", "=$"), "suffix"),
    **dict.fromkeys(("includes", "has", "=*"), "contains"),
    **dict.fromkeys(("eq", "equals", "is", "==="), "="),
    **dict.fromkeys(("ne", "neq", "isnt", "!==", "><", "=!", "<=>"), "!="),
    **dict.fromkeys(("lt", "less", "below", "<<"), "<"),
    **dict.fromkeys(("gt", "greater", "above", ">>"), ">"),
    **dict.fromkeys(("le", "lte", "=<", "<=="), "<="),
    **dict.fromkeys(("ge", "gte", "=>", ">=="), ">="),
    **dict.fromkeys(("ilike", "glob"), "like"),
    **dict.fromkeys(("iequals", "equalsignorecase", "~", "~~"), "~="),
    **dict.fromkeys(("within", "range", "inrange"), "between"),
    **dict.fromkeys(("among", "one_of", "oneof", "any"), "in"),
}
_REGEXES = frozenset({"=~", "!~", "matches", "match", "regex", "regexp", "rlike", "~*"})
_WORD_OPERATORS = ("prefix", "suffix", "contains", "substring", "between", "in", "like")
_JOINED = "conditions are joined by `and` or `or`"
_BRACES = "a list of values stands in braces: `x in {1, 2}`"
_BACKTICKS = "an unusual name stands in backticks: `7 up` = 3"
_NOT_BEFORE = "`not` stands before a condition: `not (x = 1)`; behind a value, before `in`, `between` and `like` alone"
_CHARACTERS = {
    **dict.fromkeys("\u201c\u201d\u201e\u2018\u2019\u00ab\u00bb", "strings stand in plain quotes, \"...\" or '...'"),
    **dict.fromkeys("[]", _BRACES),
    **dict.fromkeys(";", _JOINED),
    **dict.fromkeys("^|&", "the operators are = != < <= > >= prefix suffix contains like between in"),
    **dict.fromkeys("@#?\\", _BACKTICKS),
    **dict.fromkeys("\u2264\u2265\u2260", "write `<=`, `>=` or `!=`"),
    **dict.fromkeys("+", "a number has no plus sign; in a sum a blank stands behind it"),
    **dict.fromkeys("-", "a fraction starts with a digit: -0.5"),
    **dict.fromkeys(".", "a fraction starts with a digit: 0.5"),
}


def for_operator(word: str) -> str:
    """Return a hint for `word` in the place of an operator."""
    word = word.lower()
    if word in _REGEXES:
        return "there are no regular expressions; prefix, suffix, contains and like look into strings"
    if word == "~*=":
        return 'write `lower(x) contains "a"`'
    if word[0] == "-":
        return "a difference has blanks around its sign: `x - 1`"
    if word == "like":
        return '`like` takes a pattern in quotes: x like "a%"'
    meant = _ELSEWHERE.get(word) or nearest(word, _WORD_OPERATORS)
    return f"did you mean `{meant}`?" if meant else ""


def for_character(char: str) -> str:
    """Return a hint for `char`, at which no token starts."""
    return _CHARACTERS.get(char, "")


def for_token(place: Position, kind: str, word: str) -> str:
    """Return a hint for a token of terminal `kind` that stands where something else is expected."""
    if place is Position.OPERATOR:
        return "write `exists` before the name" if kind == "EXISTS" else for_operator(word)
    if place in (Position.LIST_ITEM, Position.CONSTANT) and kind == "NAME":
        return _close(word, ("true", "false"), 0.75) or f'a string stands in quotes: "{word}"'
    if place is Position.NEGATED:
        return _NOT_BEFORE
    if place is Position.CONDITION:
        return _for_condition(kind, word)
    if place is Position.NAME and kind == "LPAR":
        return "write `exists x`, without parentheses"
    if place is Position.LIST:
        return {"LPAR": _BRACES, "STRING": "a network has no quotes: `x in 10.0.0.0/8`"}.get(kind, "")
    if place in (Position.END, Position.END_OF_GROUP):
        return _for_end(kind, word)
    return ""


def _for_condition(kind: str, word: str) -> str:
    if kind in ("NUMBER", "STRING"):
        return "a condition starts with the name of an attribute; for several values write `x in {...}`"
    if word.startswith("$"):
        return _BACKTICKS
    if word.isalpha():
        return f"`{word}` is a word of the language; an attribute of that name is written between backticks"
    return ""


def _for_end(kind: str, word: str) -> str:
    if kind in ("OPERATOR", "BETWEEN", "IN"):
        return "a condition has one operator; an attribute named true or false is written between backticks"
    if kind in ("_COMMA", "EXISTS", "NOT"):
        return _JOINED
    if kind == "NAME":
        return _close(word, ("and", "or")) or _JOINED
    return "there is no `(` for it" if kind == "_RPAR" else ""


def _close(word: str, words: tuple[str, ...], likeness_min: float = 0.6) -> str:
    near = nearest(word, words, likeness_min)
    return f"did you mean `{near}`?" if near else ""
