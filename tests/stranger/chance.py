"""Filters and messages drawn by chance, from few names and few values, so that many of them meet.

Law: what is drawn is within the limits of the pages. The odd values are those that implementations get wrong: numbers
that a float cannot hold, both zeros, texts that look alike, bytes of every length of UTF-8, the character 0.
"""

from __future__ import annotations

from random import Random
from typing import Any

from tests.stranger import frames

NAMES = ("a", "b", "c", "price", "größe", "a.b/c", "x" * 40, "\x00")
NUMBERS: tuple[int | float, ...] = (
    *(0, -0.0, 1, 1.0, -1, 2, 3, 5e-324, 0.5, 0.1, 2**53, 2**53 + 1, float(2**53), 2**63 - 1, -(2**63)),
    *(float(2**63), -float(2**63), 2**63 - 1024, 1.7976931348623157e308, -2.5e-3, 1e-300, 10, 100),
)
STRINGS = (
    *("", "a", "ab", "abc", "b", "ba", "\x00", "a\x00b", "é", "e\u0301", "ﬁ", "fi", "\U0001f600", "\ud7ff", "\ue000"),
    *("A", "aa" * 20, "10", "9", "true", "x" * 128, "x" * 127 + "y"),
)
BOOLEANS = (True, False)
LENGTHS_LONG = (1_000, 4_096, 65_536)


class Chance(Random):
    """One seeded source; print the seed where something fails."""

    def name(self) -> str:
        return self.choice(NAMES)

    def number(self) -> int | float:
        return self.choice(NUMBERS) if self.random() < 0.8 else self.randint(-50, 50)

    def string(self) -> str:
        return self.choice(STRINGS) if self.random() < 0.8 else "".join(self.choices("ab", k=self.randrange(6)))

    def value(self) -> Any:
        return self.choice((self.number, self.string, lambda: self.choice(BOOLEANS)))()

    def bounds(self) -> list[Any]:
        kind = self.choice((self.number, self.string))
        return sorted((kind(), kind()))

    def constraint(self) -> list[Any]:
        opcode = self.randrange(12)
        operands: list[Any] = []
        if opcode in (frames.EQ, frames.NE):
            operands = [self.value()]
        elif opcode == frames.IN:
            operands = [self.value() for _ in range(self.choice((1, 2, 5, 40, 256)))]
        elif opcode == frames.BETWEEN:
            operands = self.bounds()
        elif opcode in (frames.GT, frames.GE, frames.LT, frames.LE):
            operands = [self.choice((self.number, self.string))()]
        elif opcode in (frames.PREFIX, frames.SUFFIX, frames.CONTAINS):
            operands = [self.string()]
        return [self.name(), opcode + frames.NEGATED * (self.random() < 0.25), *operands]

    def filter(self) -> list[list[Any]]:
        """Mostly short: long ones match nothing."""
        return [self.constraint() for _ in range(self.choice((0, 1, 1, 1, 1, 2, 2, 3, 4, 16)))]

    def disjunction(self) -> list[list[list[Any]]]:
        return [self.filter() for _ in range(self.choice((1, 1, 1, 2, 3)))]

    def attributes(self) -> dict[str, Any]:
        count = self.choice((0, 1, 2, 3, 4, 6, len(NAMES)))
        found = {name: self.value() for name in self.sample(NAMES, count)}
        if self.random() < 0.01:
            found[self.name()] = self.choice("ab") * self.choice(LENGTHS_LONG)
        return found
