"""CEL, the Common Expression Language, in its Rust implementation.

[has(m.i_price) && m.i_price < 500, has(m.s_dest) && m.s_dest.startsWith("M"), ...]
"""

from __future__ import annotations

import importlib
import json
from typing import ClassVar

from tamis.bench.matching.libraries.lists import Evaluate, Lists
from tamis.bench.matching.libraries.rules import Condition, Rule

_TERMS = 1_000
_CALLS = {"prefix": "startsWith", "suffix": "endsWith", "contains": "contains"}


class Adapter(Lists):
    rewritten: ClassVar[str] = f"{_TERMS:,} filters a compiled list; every filter is evaluated, there is no index"
    package: ClassVar[str] = "common-expression-language"

    def __init__(self) -> None:
        self._cel = importlib.import_module("cel")
        super().__init__(self._compiled, _term, _TERMS)

    def _compiled(self, expression: str) -> Evaluate:
        program = self._cel.compile(expression)
        return lambda subject: program.execute({"m": subject})


def _term(rule: Rule) -> str:
    return " && ".join(map(_holds, rule))


def _holds(condition: Condition) -> str:
    key, op, operand = condition
    literal = json.dumps(operand)
    if op in _CALLS:
        return f"has(m.{key}) && m.{key}.{_CALLS[op]}({literal})"
    return f"has(m.{key}) && m.{key} {'==' if op == '=' else op} {literal}"
