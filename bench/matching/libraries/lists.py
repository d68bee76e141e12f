"""What evaluators of single expressions have in common: filters become the terms of compiled lists of `terms` each.

Law: one crossing a list and message, because one crossing a filter takes several times as long. There is no index:
every filter is evaluated for every message.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import version
from itertools import chain
from typing import ClassVar

from tamis.bench.matching.libraries.rules import Rule, Subject

Evaluate = Callable[[Subject], Iterable[bool]]


class Lists:
    package: ClassVar[str]
    cannot: ClassVar[str] = ""

    def __init__(self, compile_list: Callable[[str], Evaluate], term: Callable[[Rule], str], terms: int) -> None:
        self._compile, self._term, self._terms = compile_list, term, terms
        self._programs: list[Evaluate] = []
        self._interfaces: Sequence[int] = []

    @property
    def version(self) -> str:
        return version(self.package)

    def expresses(self, _rule: Rule) -> bool:
        return True

    def build(self, rules: Sequence[Rule], interfaces: Sequence[int]) -> None:
        terms = [self._term(rule) for rule in rules]
        lists = (terms[start : start + self._terms] for start in range(0, len(terms), self._terms))
        self._programs = [self._compile(f"[{', '.join(part)}]") for part in lists]
        self._interfaces = interfaces

    def prepare(self, subjects: Sequence[Subject]) -> Sequence[Subject]:
        return subjects

    def match(self, prepared: Sequence[Subject]) -> list[set[int]]:
        return [self._match(subject) for subject in prepared]

    def _match(self, subject: Subject) -> set[int]:
        held = chain.from_iterable(evaluate(subject) for evaluate in self._programs)
        return {interface for interface, holds in zip(self._interfaces, held, strict=True) if holds}
