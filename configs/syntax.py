"""Errors of the YAML parser in plain words, at the place of their cause.

Law: an open bracket or quote is reported at its own place, not at the line where the parser failed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import yaml

from tamis.configs.mistakes import FilePlace, quoted

_BARE_IPV6 = re.compile(r"(?:^|[\s,\[])(\[[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*\]:[0-9]+)")
# Schemes of addresses have no blank after the colon.
_NO_BLANK = re.compile(r"\s*(?:- )?(?!unix:|tamis|https?:)([A-Za-z_][\w.-]*):[^\s:]")
_CLOSED_BY = {"[": "]", "{": "}"}


def syntax_mistake(text: str, error: yaml.MarkedYAMLError, before: yaml.Event | None) -> tuple[FilePlace, str]:
    """Return the place and the text of the mistake for which `error` was raised. `before`: the event before it."""
    lines = text.split("\n")
    at, begun = _place(error.problem_mark or error.context_mark), _place(error.context_mark)
    line = _line(lines, at)
    if line[at.column - 1 : at.column] == "\t":
        return at, "a tab cannot indent YAML; use spaces"
    if isinstance(before, yaml.ScalarEvent) and before.style in ('"', "'"):
        opened, closed = _place(before.start_mark), _place(before.end_mark)
        if opened.line < closed.line:
            return opened, f"is not YAML: the quote that opens here is closed in line {closed.line} only"
    place, what = _caused(lines, at, begun, f"{error.problem} ({error.context or ''})")
    return place, f"is not YAML: {what}"


def _caused(lines: list[str], at: FilePlace, begun: FilePlace, said: str) -> tuple[FilePlace, str]:
    """Return the place and the text of the cause of the parser's message `said` at `at`, in a node that begins at
    `begun`."""
    bare = _BARE_IPV6.search(_line(lines, at))
    if bare:
        return at, f'an address that begins with a bracket needs quotes: "{bare[1]}"'
    if "quoted scalar" in said and "end of stream" in said:
        return begun, "the quote that opens here is never closed"
    if "flow" in said:
        return _open_bracket(lines, begun, at)
    for place in (begun, at, FilePlace(at.line - 1, 1)):
        joined = _NO_BLANK.match(_line(lines, place))
        if joined and ": " not in _line(lines, place):
            return FilePlace(place.line, joined.end(1) + 1), f"a blank is missing behind `{joined[1]}:`"
    if "expected ':'" in said:
        return begun, "this is no `key: value`; a colon and a blank are missing"
    return at, next((reason(lines, at) for words, reason in _REASONS.items() if words in said), said)


def _open_bracket(lines: list[str], begun: FilePlace, at: FilePlace) -> tuple[FilePlace, str]:
    bracket = _line(lines, begun)[begun.column - 1 : begun.column]
    closing = _CLOSED_BY.get(bracket, "]")
    if at.line > begun.line:
        return begun, f"the `{bracket}` that opens here is not closed by `{closing}`"
    return at, f"`,` or `{closing}` is missing before this"


def _second_colon(lines: list[str], at: FilePlace) -> str:
    line, above = _line(lines, at), _line(lines, FilePlace(at.line - 1, 1))
    if ": " in line[: at.column - 1]:
        return "a second `: ` in one line; put a value that contains one in quotes"
    if _indent(line) > _indent(above):
        return "this line is indented deeper than the one above, which has its value already"
    return "no `key: value` can stand here; compare the line above"


def _no_key(lines: list[str], at: FilePlace) -> str:
    if _line(lines, at)[: at.column - 1].strip():
        return "the value has ended before this; quotes around all of it make it one text"
    return "this line is indented differently from those that it belongs to"


def _line(lines: list[str], place: FilePlace) -> str:
    return lines[place.line - 1] if 1 <= place.line <= len(lines) else ""


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _place(mark: Any) -> FilePlace:  # noqa: ANN401 - a mark of either loader, or None
    return FilePlace(mark.line + 1, mark.column + 1) if mark else FilePlace(1, 1)


_REASONS: dict[str, Callable[[list[str], FilePlace], str]] = {
    "mapping values": _second_colon,
    "block mapping": _no_key,
    "block collection": lambda *_: "an item `- ...` is expected here; the items of a list are indented alike",
    "document start": lambda *_: "the file's one value has ended before this line; a file holds one topology",
    "cannot start any token": lambda lines, at: (
        f"put a value that begins with {quoted(_line(lines, at)[at.column - 1 : at.column])} in quotes"
    ),
    "escape character": lambda *_: "no such escape in double quotes; single quotes take a text as it is",
}
"""Part of a message of the parser to a function that returns the text of the mistake."""
