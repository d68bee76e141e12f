"""A mistake in a file, and the one form in which all of them are printed.

Law: one mistake is one printable line, `file:line:column: path: what, did you mean ...`, whatever the file contains;
lines are sorted by position. Suggestions are searched only for lines that are printed, because a search costs.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from tamis.protocol.nearest import did_you_mean

Path = tuple[str | int, ...]
"""Keys and list indexes from the root of the file to a value."""

MISTAKES_MAX = 100
"""Lines printed of one file; a last line counts the rest. Nobody repairs more in one go."""
WORD_CHARACTERS_MAX = 64
"""Longer words are shortened where shown."""


@dataclass(frozen=True, slots=True)
class FilePlace:
    """Where something stands in a file, counted from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong at a path. `word` may be a slip for one of `known`; `at_key` points at the key, not the value."""

    path: Path
    what: str
    word: str = ""
    known: Collection[str] = ()
    at_key: bool = False
    lists_known: bool = False
    """Whether `known` is listed where nothing in it is close to `word`."""


@dataclass(frozen=True, slots=True)
class Mistake:
    """A problem whose place is known."""

    place: FilePlace
    problem: Problem

    def line(self, file: str) -> str:
        path = dotted(self.problem.path)
        what = f"{path}: {self.problem.what}" if path else self.problem.what
        return f"{file}:{self.place.line}:{self.place.column}: {what}{_suggestion(self.problem)}"


def lines(mistakes: Iterable[Mistake], file: str) -> list[str]:
    """Return a line for each mistake, sorted by position, up to MISTAKES_MAX."""
    ordered = sorted(mistakes, key=lambda mistake: (mistake.place.line, mistake.place.column))
    printed = [mistake.line(file) for mistake in ordered[:MISTAKES_MAX]]
    rest = len(ordered) - len(printed)
    return [*printed, f"{file}: and {rest} more"] if rest else printed


def dotted(path: Path) -> str:
    """Return a path as it is shown: `routers.a.clients`."""
    return ".".join(_step(step) for step in path)


def quoted(text: str) -> str:
    """Return text from a file as it may be shown: in quotes, on one line, not too long."""
    short = text if len(text) <= WORD_CHARACTERS_MAX else text[:WORD_CHARACTERS_MAX] + "..."
    return json.dumps(short, ensure_ascii=not short.isprintable())


def one_of(words: Iterable[str]) -> str:
    """Return the words as `a, b or c`."""
    *most, last = words
    return f"{', '.join(most)} or {last}" if most else last


def _step(step: str | int) -> str:
    text = str(step)
    return text if text.isprintable() and len(text) <= WORD_CHARACTERS_MAX else quoted(text)


def _suggestion(problem: Problem) -> str:
    close = did_you_mean(problem.word, problem.known)
    return close or (f"; the keys are {', '.join(problem.known)}" if problem.lists_known else "")
