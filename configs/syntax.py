"""What YAML's parser complains of, in plain words and at the place where it was caused.

Law: a bracket or quote that is left open is pointed at itself, and not at the line where the parser gave up.
"""

from __future__ import annotations

import re

import yaml

from tamis.configs.mistakes import FilePlace, quoted

_BARE_IPV6 = re.compile(r"(?:^|[\s,\[])(\[[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*\]:[0-9]+)")
_NO_BLANK = re.compile(r"\s*(?:- )?([A-Za-z_][\w.-]*):[^\s:]")
_CLOSED_BY = {"[": "]", "{": "}"}


def syntax_mistake(text: str, error: yaml.MarkedYAMLError) -> tuple[FilePlace, str]:
    """Return where the text is wrong for which `error` was raised, and how."""
    lines = text.split("\n")
    at, begun = _place(error.problem_mark or error.context_mark), _place(error.context_mark)
    line = _line(lines, at)
    if line[at.column - 1 : at.column] == "\t":
        return at, "a tab cannot indent YAML; use spaces"
    bare = _BARE_IPV6.search(line)
    if bare:
        return at, f'is not YAML: an address that begins with a bracket needs quotes: "{bare[1]}"'
    context, problem = error.context or "", error.problem or ""
    if "quoted scalar" in context and "end of stream" in problem:
        return begun, "is not YAML: the quote that opens here is never closed"
    if "flow" in context:
        return _open_bracket(lines, begun, at)
    for place in (begun, at, FilePlace(at.line - 1, 1)):
        joined = _NO_BLANK.match(_line(lines, place))
        if joined and ": " not in _line(lines, place):
            column = joined.end(1) + 1
            return FilePlace(place.line, column), f"is not YAML: a blank is missing behind `{joined[1]}:`"
    if "expected ':'" in problem:
        return begun, "is not YAML: this is no `key: value`; a colon and a blank are missing"
    if "mapping values" in problem:
        return at, _second_colon(lines, at)
    if "block mapping" in context:
        return at, _no_key(line, at)
    if "block collection" in context or "block sequence" in context:
        return at, "is not YAML: an item `- ...` is expected here; the items of a list are indented alike"
    if "document start" in problem:
        return at, "is not YAML: the file's one value has ended before this line; a file holds one topology"
    if "cannot start any token" in problem:
        return at, f"is not YAML: a value that begins with {quoted(line[at.column - 1])} stands in quotes"
    if "escape character" in problem:
        return at, "is not YAML: no such escape in double quotes; single quotes take a text as it is"
    return at, f"is not YAML: {problem}{f' ({context})' if context else ''}"


def _open_bracket(lines: list[str], begun: FilePlace, at: FilePlace) -> tuple[FilePlace, str]:
    bracket = _line(lines, begun)[begun.column - 1 : begun.column]
    closing = _CLOSED_BY.get(bracket, "]")
    if at.line > begun.line:
        return begun, f"is not YAML: the `{bracket}` that opens here is not closed by `{closing}`"
    return at, f"is not YAML: `,` or `{closing}` is missing before this"


def _second_colon(lines: list[str], at: FilePlace) -> str:
    line, above = _line(lines, at), _line(lines, FilePlace(at.line - 1, 1))
    if ": " in line[: at.column - 1]:
        return "is not YAML: a second `: ` in one line; a value that has one stands in quotes"
    if _indent(line) > _indent(above):
        return "is not YAML: this line is indented deeper than the one above, which has its value already"
    return "is not YAML: no `key: value` can stand here; compare the line above"


def _no_key(line: str, at: FilePlace) -> str:
    if line[: at.column - 1].strip():
        return "is not YAML: the value has ended before this; quotes around all of it make it one text"
    return "is not YAML: this line is indented differently from those that it belongs to"


def _line(lines: list[str], place: FilePlace) -> str:
    return lines[place.line - 1] if 1 <= place.line <= len(lines) else ""


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _place(mark: yaml.Mark | None) -> FilePlace:
    return FilePlace(mark.line + 1, mark.column + 1) if mark else FilePlace(1, 1)
