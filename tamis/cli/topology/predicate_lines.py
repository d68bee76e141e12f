"""The lines of `tamis check --predicates`: a file with one predicate, or one filter of another system, a line.

Law: blank lines are skipped and counted. Every mistake is reported, none ends the check; a file without predicates is a
mistake itself.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import click

from tamis.protocol import dialects
from tamis.protocol.dialects.dialect import Translated
from tamis.protocol.dialects.tamis.tamis import translate
from tamis.protocol.errors import Refused, SyntaxRefused
from tamis.protocol.shown import shown
from tamis.protocol.spaces import SpaceSet

_NONE: Final = "there is no predicate in it"


class LineMistake(NamedTuple):
    """A mistake in a line of the file; without a column, it is of the whole line."""

    line: int
    column: int | None
    problem: str
    caret: str = ""
    hint: str = ""

    def text(self, file: str) -> str:
        place = f"{file}:{self.line}" if self.column is None else f"{file}:{self.line}:{self.column}"
        return shown("\n".join(filter(None, (f"{place}: {self.problem}", self.caret, self.hint))), "\n\t")

    def form(self) -> dict[str, object]:
        return {"line": self.line, "column": self.column, "problem": self.problem, "hint": self.hint}


@dataclass(slots=True)
class CheckedLines:
    """What was found in a file so far."""

    file: str
    dialect: str | None
    exact: int = 0
    by_program: int = 0
    undecided: int = 0
    invalid: int = 0
    mistakes: list[LineMistake] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def count(self) -> int:
        return self.exact + self.by_program + self.undecided + self.invalid

    def add(self, number: int, line: bytes, read: Callable[[str], Translated]) -> None:
        """Count the line, and keep its mistake and its warnings."""
        try:
            found = read(line.decode())
        except UnicodeDecodeError as error:
            self._refuse(LineMistake(number, None, f"not UTF-8 at byte {error.start + 1}"))
        except SyntaxRefused as error:
            self._refuse(LineMistake(number, error.column, error.problem, error.caret, error.hint))
        else:
            self._accept(number, found)

    def text(self) -> str:
        """Return `filters.txt: 3 filters of jms: 1 exact, 1 decided by a program, 0 not decided, 1 invalid`."""
        noun = "predicate" if self.dialect is None else "filter"
        parts = [f"{self.count} {noun if self.count == 1 else f'{noun}s'}"]
        if self.dialect is not None:
            parts = [f"{parts[0]} of {self.dialect}: {self.exact} exact", f"{self.by_program} decided by a program"]
            parts.append(f"{self.undecided} not decided")
        elif self.by_program:
            parts.append(f"{self.by_program} decided by a program")
        return ", ".join([f"{self.file}: {parts[0]}", *parts[1:], *([f"{self.invalid} invalid"] * (self.invalid > 0))])

    def form(self) -> dict[str, object]:
        of_dialect = {"exact": self.exact, "by_program": self.by_program, "undecided": self.undecided}
        return {
            "file": self.file,
            "sound": self.count > 0 and not self.mistakes,
            "predicates": self.count,
            "invalid": self.invalid,
            **({"by_program": self.by_program} if self.dialect is None else {"dialect": self.dialect, **of_dialect}),
            "mistakes": [mistake.form() for mistake in self.mistakes],
            "warnings": self.warnings,
        }

    def _refuse(self, mistake: LineMistake) -> None:
        self.invalid += 1
        self.mistakes.append(mistake)

    def _accept(self, number: int, found: Translated) -> None:
        self.warnings += [f"{self.file}:{number}: {warning}" for warning in found.warnings]
        if found.exact:
            self.exact += 1
        elif found.decided:
            self.by_program += 1
        else:
            self.undecided += 1
            needs = "; ".join(found.needs)
            self.mistakes.append(LineMistake(number, None, f"no predicate and no program decides {needs}"))


def check_lines(path: str, dialect: str | None, known: SpaceSet, as_json: bool) -> int:
    """Print the mistakes and the numbers of a file, and return the exit code."""
    try:
        read = _reader(dialect, known)
    except Refused as error:
        raise click.UsageError(str(error)) from None
    checked = CheckedLines("<stdin>" if path == "-" else path, dialect)
    for number, line in _lines(path):
        checked.add(number, line, read)
    for warning in checked.warnings:
        click.echo(shown(warning), err=True)
    for mistake in checked.mistakes:
        click.echo(mistake.text(checked.file), err=True)
    if not checked.count:
        click.echo(f"{checked.file}: {_NONE}", err=True)
    if as_json:
        click.echo(json.dumps(checked.form()))
    elif checked.count:
        click.echo(checked.text())
    return 0 if checked.count and not checked.mistakes else 1


def _reader(dialect: str | None, known: SpaceSet) -> Callable[[str], Translated]:
    """Return the translation of a line; Refused if there is no such dialect."""
    if dialect is not None:
        return dialects.get(dialect).translate

    return lambda text: translate(text, known)


def _lines(path: str) -> Iterator[tuple[int, bytes]]:
    with click.open_file(path, "rb") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                yield number, line.rstrip(b"\r\n")
