"""Mistakes in a file, and their form in print.

Law: a mistake is one printable line, `file:line:column: path: what, did you mean X?`, for any content of the file;
lines are sorted by position. Suggestions are searched only for printed lines, because a search is slow.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from tamis.protocol.nearest import did_you_mean
from tamis.protocol.shown import shown

Path = tuple[str | int, ...]
"""Keys and list indexes from the root of the file to a value."""

MISTAKES_MAX = 100
"""Most lines printed of one file; a last line counts the rest."""
WORD_CHARACTERS_MAX = 64
"""Most characters shown of a word."""


@dataclass(frozen=True, slots=True)
class FilePlace:
    """A place in a file; line and column count from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem at a path. `word`: a word that may be a typo of one of `known`; `at_key`: whether the place is that
    of the key, not of the value."""

    path: Path
    what: str
    word: str = ""
    known: Collection[str] = ()
    at_key: bool = False
    lists_known: bool = False
    """Whether `known` is listed if nothing in it is close to `word`."""


@dataclass(frozen=True, slots=True)
class Mistake:
    """A problem with its place."""

    place: FilePlace
    problem: Problem

    def line(self, file: str) -> str:
        path = dotted(self.problem.path)
        what = f"{path}: {self.problem.what}" if path else self.problem.what
        return shown(f"{file}:{self.place.line}:{self.place.column}: {what}{_suggestion(self.problem)}")


def lines(mistakes: Iterable[Mistake], file: str) -> list[str]:
    """Return a line for each mistake, sorted by position, up to MISTAKES_MAX."""
    ordered = sorted(mistakes, key=lambda mistake: (mistake.place.line, mistake.place.column))
    printed = [mistake.line(file) for mistake in ordered[:MISTAKES_MAX]]
    rest = len(ordered) - len(printed)
    return [*printed, f"{file}: and {rest} more"] if rest else printed


def dotted(path: Path) -> str:
    """Return a path as text: `routers.a.clients`."""
    return ".".join(_step(step) for step in path)


def quoted(text: str) -> str:
    """Return text from a file in quotes, on one line, cut at WORD_CHARACTERS_MAX."""
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
