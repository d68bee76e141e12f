"""Parse the common texts without the grammar: conditions joined by `and`, such conjunctions joined by `or`.

    severity > 2 and alert-type = "intrusion" or device ^= "web" and region in {"a", "b"}

Law: the result equals that of the grammar; any other or invalid text is left to the grammar, which has the error
messages. A test compares the two on random texts.
"""

from __future__ import annotations

import re
from typing import Final

from tamis.protocol import limits
from tamis.protocol.errors import NeverMatches, Refused
from tamis.protocol.filters import Constraint, Filter, Op, Predicate
from tamis.protocol.language import literals
from tamis.protocol.language.mistake import SyntaxMistake
from tamis.protocol.language.tree import OPERATORS
from tamis.protocol.normal import normalize
from tamis.protocol.values import Value

_BYTES_A_CHARACTER: Final = 4
_SPACE: Final = r"[ \t\r\n\f]*"
_END: Final = r"(?![\w.:\/@-])"
_NAME: Final = literals.BARE_NAME.pattern
_STRING: Final = r""""[^"\\\x00-\x1f\x7f]*"|'[^'\\\x00-\x1f\x7f]*'"""  # without escapes
_VALUE: Final = rf"(?:{_STRING}|{literals.NUMBER.pattern}|(?:true|false){_END})"
_OPERATOR: Final = rf"(?:prefix|suffix|contains|substring){_END}|!=[=<>!~^$*]*|[=<>~^$*][=<>!~^$*]*"

_CONDITION: Final = re.compile(
    rf"""{_SPACE}(?:
        exists{_END}{_SPACE}(?P<present>{_NAME})
      | (?P<name>{_NAME}){_SPACE}(?:
            (?P<operator>{_OPERATOR}){_SPACE}(?P<value>{_VALUE})
          | between{_END}{_SPACE}(?P<low>{_VALUE}){_SPACE}(?:and{_END}|&&?){_SPACE}(?P<high>{_VALUE})
          | in{_END}{_SPACE}\{{{_SPACE}(?P<values>{_VALUE}(?:{_SPACE},{_SPACE}{_VALUE})*){_SPACE}\}}
        )
    ){_SPACE}(?:(?P<all>and{_END}|&&?)|(?P<any>or{_END}|\|\|?)|(?P<last>\Z))""",
    re.IGNORECASE | re.VERBOSE,
)
_ONE_VALUE: Final = re.compile(_VALUE, re.IGNORECASE)


def plain_predicate(text: str, disjuncts_max: int) -> Predicate | None:
    """Return the predicate in normal form of `text`; None if `text` is not in the plain form, or is invalid."""
    if len(text) * _BYTES_A_CHARACTER > limits.PREDICATE_BYTES_MAX:
        return None
    try:
        conjunctions = _conjunctions(text)
        if conjunctions is None or len(conjunctions) > disjuncts_max:
            return None
        return Predicate(tuple(dict.fromkeys(map(normalize, conjunctions))))
    except (Refused, NeverMatches, SyntaxMistake):
        return None


def _conjunctions(text: str) -> list[Filter] | None:
    """Return the conjunctions that `text` joins by `or`, as they are written."""
    found: list[Filter] = []
    conditions: dict[Constraint, None] = {}
    at = 0
    while (match := _CONDITION.match(text, at)) is not None:
        constraint = _constraint(match)
        if constraint is None:
            return None
        conditions[constraint] = None
        at = match.end()
        if match["all"] is None:
            found.append(Filter(tuple(conditions)))
            conditions = {}
        if match["last"] is not None:
            return found
    return None


def _constraint(match: re.Match[str]) -> Constraint | None:
    name, operator, value, low, high, values = match.group("name", "operator", "value", "low", "high", "values")
    name = name or match["present"]
    if name.lower() in literals.RESERVED:
        return None
    if match["present"] is not None:
        return Constraint(name, Op.EXISTS)
    if operator is not None:
        op = OPERATORS.get(operator.lower())
        return None if op is None else Constraint(name, op, (_read(value),))
    if low is not None:
        return Constraint(name, Op.BETWEEN, (_read(low), _read(high)))
    return Constraint(name, Op.IN, tuple(map(_read, _ONE_VALUE.findall(values))))


def _read(token: str) -> Value:
    if token[0] in "\"'":
        return token[1:-1]
    truth = literals.TRUTH.get(token.lower())
    return literals.read_number(token, 0) if truth is None else truth
