"""CEL, the Common Expression Language, in its Rust implementation: filters are terms of compiled lists.

    [has(m.i_price) && m.i_price < 500, has(m.s_dest) && m.s_dest.startsWith("M"), ...]

A list of TERMS filters a program: one program a filter took seven times as long or more, most of it the crossing.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Sequence
from importlib.metadata import version
from itertools import chain
from typing import Any, ClassVar

from tamis.bench.peers.rules import Condition, Rule, Subject

TERMS = 1_000
_CALLS = {"prefix": "startsWith", "suffix": "endsWith", "contains": "contains"}


class Adapter:
    rewritten: ClassVar[str] = f"{TERMS:,} filters a compiled list; every filter is evaluated, there is no index"
    cannot: ClassVar[str] = ""

    def __init__(self) -> None:
        self._cel = importlib.import_module("cel")
        self._programs: list[Any] = []
        self._interfaces: Sequence[int] = []

    @property
    def version(self) -> str:
        return version("common-expression-language")

    def expresses(self, _rule: Rule) -> bool:
        return True

    def build(self, rules: Sequence[Rule], interfaces: Sequence[int]) -> None:
        terms = [" && ".join(map(_term, rule)) for rule in rules]
        lists = (terms[start : start + TERMS] for start in range(0, len(terms), TERMS))
        self._programs = [self._cel.compile(f"[{', '.join(part)}]") for part in lists]
        self._interfaces = interfaces

    def prepare(self, subjects: Sequence[Subject]) -> list[dict[str, Subject]]:
        return [{"m": subject} for subject in subjects]

    def match(self, prepared: Sequence[dict[str, Subject]]) -> list[set[int]]:
        return [self._match(context) for context in prepared]

    def _match(self, context: dict[str, Subject]) -> set[int]:
        held = chain.from_iterable(program.execute(context) for program in self._programs)
        return {interface for interface, holds in zip(self._interfaces, held, strict=True) if holds}


def _term(condition: Condition) -> str:
    key, op, operand = condition
    literal = json.dumps(operand)
    if op in _CALLS:
        return f"has(m.{key}) && m.{key}.{_CALLS[op]}({literal})"
    return f"has(m.{key}) && m.{key} {'==' if op == '=' else op} {literal}"
