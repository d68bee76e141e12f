"""Filters that are JSON: read strictly, and the place of a mistake in the text.

Law: a text is read by the parser of the standard library; only one that is refused is read again, for its place. An
object that has a name twice is refused, since one of the two would be ignored.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any, Final, NoReturn

from tamis.protocol.language.mistake import SyntaxMistake
from tamis.protocol.shown import shown as printable

Path = tuple[str | int, ...]
"""Names of members and numbers of elements, from the outside to a value."""
DEPTH_MAX: Final = 64
"""Nesting of arrays and objects."""
_HALF: Final = "this has half of a surrogate pair, which is not valid UTF-8"
_LAST_COMMA: Final = re.compile(r",\s*[\]}]")
_WORD: Final = re.compile(r"[A-Za-z_]+")
_WORDS: Final = {"true": "write `true`", "false": "write `false`", "none": "write `null`"}
_BLANKS: Final = re.compile(r"[ \t\r\n]*")


class FormMistake(Exception):
    """A mistake at the value that `path` leads to, or at the name of that member."""

    def __init__(self, path: Path, problem: str, hint: str = "", at_name: bool = False) -> None:
        super().__init__(problem)
        self.path, self.problem, self.hint, self.at_name = path, problem, hint, at_name


def read(text: str) -> Any:  # noqa: ANN401 - whatever the text holds
    """Return the value of a JSON text, or raise the mistake in it."""
    try:
        value = json.loads(text, object_pairs_hook=_JsonObject, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        raise _mistake(text, error) from None
    except RecursionError:
        raise SyntaxMistake(0, f"arrays and objects nest at most {DEPTH_MAX} deep") from None
    except ValueError as error:  # NaN, or an integer of thousands of digits
        raise SyntaxMistake(0, f"not JSON: {error}") from None
    try:
        return _checked(value, ())
    except FormMistake as mistake:
        raise located(text, mistake) from None


def _mistake(text: str, error: json.JSONDecodeError) -> SyntaxMistake:
    """Return the mistake at its place. Of a last comma, versions of Python tell different places and words."""
    comma = error.pos if text.startswith(",", error.pos) else len(text[: error.pos].rstrip()) - 1
    if _LAST_COMMA.match(text, max(0, comma)):
        return SyntaxMistake(comma, "not JSON: nothing follows this comma", "leave it away")
    problem = f"not JSON: {error.msg[0].lower()}{error.msg[1:]}"
    return SyntaxMistake(error.pos, problem, _hint(text, error.pos))


def _hint(text: str, at: int) -> str:
    """Return what to write instead of what stands at `at` and is not JSON."""
    if text.startswith("'", at):
        return 'a text stands in double quotes: "a"'
    if word := _WORD.match(text, at):
        return _WORDS.get(word[0].lower(), 'a filter is JSON, with each text in double quotes: "a"')
    return ""


def located(text: str, mistake: FormMistake) -> SyntaxMistake:
    """Return the mistake at its place in `text`; a path of more than one step is named, too."""
    where = f"at {shown(mistake.path)}: " if len(mistake.path) > 1 else ""
    return SyntaxMistake(_offset(text, mistake.path, mistake.at_name), f"{where}{mistake.problem}", mistake.hint)


def shown(path: Path) -> str:
    """Return a path in words: `all[0].exact.type`."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return printable("".join(steps).removeprefix("."))


class _JsonObject(list[tuple[str, Any]]):
    """The members of an object as they are written."""


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number")


def _checked(value: Any, path: Path) -> Any:  # noqa: ANN401
    """Return a value with its objects as dicts."""
    if len(path) > DEPTH_MAX:
        raise FormMistake((), f"arrays and objects nest at most {DEPTH_MAX} deep")
    if isinstance(value, _JsonObject):
        names = [name for name, _ in value]
        if len(set(names)) < len(names):
            twice = next(name for name, times in Counter(names).items() if times > 1)
            raise FormMistake((*path, twice), f"the name {twice!r} appears twice", at_name=True)
        for name in names:
            if not name.isascii() and _is_half(name):
                raise FormMistake((*path, name), _HALF, at_name=True)
        return {name: _checked(member, (*path, name)) for name, member in value}
    if isinstance(value, list):
        return [_checked(element, (*path, at)) for at, element in enumerate(value)]
    if isinstance(value, str) and not value.isascii() and _is_half(value):
        raise FormMistake(path, _HALF)
    return value


def _is_half(text: str) -> bool:
    """Return whether a text has half of a surrogate pair, which no UTF-8 has."""
    return any("\ud800" <= char <= "\udfff" for char in text)


def _offset(text: str, path: Path, at_name: bool) -> int:
    """Return where the value that `path` leads to begins, or the name of that member."""
    decoder = json.JSONDecoder()
    at = _behind_blanks(text, 0)
    for depth, step in enumerate(path):
        number = 0
        at = _behind_blanks(text, at + 1)
        while True:
            name_at = at
            name: str | int = number
            if isinstance(step, str):
                name, at = decoder.raw_decode(text, at)
                at = _behind_blanks(text, _behind_blanks(text, at) + 1)  # the colon
            if name == step:
                break
            at = _behind_blanks(text, decoder.raw_decode(text, at)[1])
            at, number = _behind_blanks(text, at + 1), number + 1  # the comma
        if at_name and depth == len(path) - 1:
            return name_at
    return at


def _behind_blanks(text: str, at: int) -> int:
    match = _BLANKS.match(text, at)
    return match.end() if match else at
