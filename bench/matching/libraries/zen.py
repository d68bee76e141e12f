"""ZEN, the expression engine (Rust) of GoRules. It orders numbers, and not strings.

[(i_price != null and i_price < 500), (startsWith(s_dest ?? "", "M")), ...]
"""

from __future__ import annotations

import importlib
import json
from typing import ClassVar

from tamis.bench.matching.libraries.lists import Evaluate, Lists
from tamis.bench.matching.libraries.rules import Condition, Rule

_TERMS = 100  # with 1,000 a message took twice as long
_CALLS = {"prefix": "startsWith", "suffix": "endsWith", "contains": "contains"}


class Adapter(Lists):
    rewritten: ClassVar[str] = f"{_TERMS} filters a compiled list; every filter is evaluated, there is no index"
    package: ClassVar[str] = "zen-engine"
    cannot: ClassVar[str] = "filters with < or > on a string"

    def __init__(self) -> None:
        self._zen = importlib.import_module("zen")
        super().__init__(self._compiled, _term, _TERMS)

    def expresses(self, rule: Rule) -> bool:
        return not any(op in "<>" and isinstance(operand, str) for _, op, operand in rule)

    def _compiled(self, expression: str) -> Evaluate:
        evaluate: Evaluate = self._zen.compile_expression(expression).evaluate
        return evaluate


def _term(rule: Rule) -> str:
    return f"({' and '.join(map(_holds, rule))})"


def _holds(condition: Condition) -> str:
    key, op, operand = condition
    literal = json.dumps(operand)
    if op in _CALLS:
        return f"({key} != null and {_CALLS[op]}({key}, {literal}))"
    if op == "=":
        return f"{key} == {literal}"
    return f"({key} != null and {key} {op} {literal})"
