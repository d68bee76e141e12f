r"""Hyperscan: every distinct constraint is a regular expression over the message as text; the filters are counted here.

    text     \n<key>=<value>\n\n<key>=<value>\n ...     numbers have four digits, so that they order as text
    price < 0500   ->   \ni_price=(?:0[0-4]...)          order: equal up to a character, and a lesser one there

It has conjunctions of its own (HS_FLAG_COMBINATION), but they took 4.5 times as long as counting (2,000 filters).
"""

from __future__ import annotations

import importlib
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from typing import ClassVar

from tamis.bench.matching.libraries.rules import Condition, Operand, Rule, Subject

_NUMBERS, _DIGITS = range(10_000), 4
_LOWEST, _HIGHEST = ord(" "), ord("~")
_ANY = "[^\n]*"


class Adapter:
    rewritten: ClassVar[str] = (
        "each distinct constraint a regular expression, order included; filters counted in Python"
    )
    cannot: ClassVar[str] = f"numbers outside 0 to {_NUMBERS[-1]:,}; strings that are empty or not printable ASCII"

    def __init__(self) -> None:
        self._hyperscan = importlib.import_module("hyperscan")
        self._db = self._hyperscan.Database(mode=self._hyperscan.HS_MODE_BLOCK)
        self._filters_of: list[list[int]] = []
        self._sizes: list[int] = []
        self._interfaces: Sequence[int] = []

    @property
    def version(self) -> str:
        return version("hyperscan")

    def expresses(self, rule: Rule) -> bool:
        return all(operand != "" and _is_plain(operand) for _, _, operand in rule)

    def build(self, rules: Sequence[Rule], interfaces: Sequence[int]) -> None:
        ids: dict[Condition, int] = {}
        for number, rule in enumerate(rules):
            for condition in rule:
                if ids.setdefault(condition, len(ids)) == len(self._filters_of):
                    self._filters_of.append([])
                self._filters_of[ids[condition]].append(number)
        self._sizes, self._interfaces = [len(rule) for rule in rules], interfaces
        expressions = [_expression(condition).encode() for condition in ids]
        flags = [self._hyperscan.HS_FLAG_SINGLEMATCH] * len(ids)
        self._db.compile(expressions=expressions, ids=list(ids.values()), elements=len(ids), flags=flags)

    def prepare(self, subjects: Sequence[Subject]) -> list[bytes]:
        return ["".join(f"\n{key}={_text(value)}\n" for key, value in subject.items()).encode() for subject in subjects]

    def match(self, prepared: Sequence[bytes]) -> list[set[int]]:
        return [self._match(text) for text in prepared]

    def _match(self, text: bytes) -> set[int]:
        held: list[int] = []
        self._db.scan(text, match_event_handler=lambda number, *_: held.append(number))
        counts = Counter(number for condition in set(held) for number in self._filters_of[condition])
        return {self._interfaces[number] for number, count in counts.items() if count == self._sizes[number]}


def _is_plain(operand: Operand) -> bool:
    if isinstance(operand, str):
        return operand.isascii() and operand.isprintable()
    return operand in _NUMBERS


def _text(value: Operand) -> str:
    if not _is_plain(value):
        raise ValueError(f"{value!r} has no text form")
    return value if isinstance(value, str) else f"{value:0{_DIGITS}d}"


def _expression(condition: Condition) -> str:
    key, op, operand = condition
    text = _text(operand)
    plain = re.escape(text)
    tails = {"=": plain + "\n", "prefix": plain, "suffix": f"{_ANY}{plain}\n", "contains": _ANY + plain}
    return f"\n{key}=" + (tails.get(op) or (_less(text) if op == "<" else _greater(text)))


def _less(text: str) -> str:
    """The value ends before `text` does, or has a lesser character at the first difference."""
    lesser = ("\n" + _range(_LOWEST, ord(char) - 1) for char in text)
    return _first_difference(text, lesser)


def _greater(text: str) -> str:
    """The value goes on after `text`, or has a greater character at the first difference."""
    greater = (_range(ord(char) + 1, _HIGHEST) for char in text)
    return _first_difference(text, [*greater, _range(_LOWEST, _HIGHEST)])


def _first_difference(text: str, characters: Iterable[str]) -> str:
    """Equal to `text` up to a point, and there one of `characters`."""
    ways = (f"{re.escape(text[:at])}[{allowed}]" for at, allowed in enumerate(characters) if allowed)
    return f"(?:{'|'.join(ways)})"


def _range(low: int, high: int) -> str:
    return rf"\x{low:02x}-\x{high:02x}" if low <= high else ""
