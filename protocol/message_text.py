"""A message on a command line: attributes as words, one text, or a JSON object.

    class=alert severity=6 'note="two words"' ok=true ratio=0.5 `odd name`=0x1F

Law: a value in quotes is a string. One without is true or false (in any case), a number if it has the form of one, and
otherwise a string; it ends with its word. A shell removes one pair of quotes, so a word may contain blanks: `note="two
words"` arrives as one word and is a string; but a word that looks like two attributes is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from tamis.protocol import limits
from tamis.protocol.errors import MessageTextError, Refused
from tamis.protocol.json_form import NotJson, decode_message
from tamis.protocol.language import literals
from tamis.protocol.language.mistake import SyntaxMistake, check_unicode, refused
from tamis.protocol.values import Value, check_name, check_value

_WORD = re.compile(r"[^ \t\r\n]*")
_BLANKS = re.compile(r"[ \t\r\n]*")
_SECOND = re.compile(rf"[ \t\r\n]({literals.BARE_NAME.pattern})=")


def parse_message(source: str | Sequence[str]) -> dict[str, Value]:
    """Return the attributes in `source`: a text, or the words of a command line; either may be a JSON object
    instead."""
    text = source if isinstance(source, str) else " ".join(source)
    if not text.lstrip().startswith("{"):
        return parse_message_text(source) if isinstance(source, str) else parse_attributes(source)
    try:
        return decode_message(text)
    except NotJson as error:
        raise MessageTextError(error.problem, text, error.line, error.column) from None
    except Refused as error:
        raise MessageTextError(str(error), text, 1, 1) from None


def parse_attributes(words: Sequence[str]) -> dict[str, Value]:
    """Return the attributes written one per word. In an error the text is the words joined by blanks."""
    text = " ".join(words)
    return _collect(text, _pairs_of_words(text, words))


def parse_message_text(text: str) -> dict[str, Value]:
    """Return the attributes written in `text`, separated by blanks; a value with blanks needs quotes."""
    return _collect(text, _pairs_of_text(text))


def read_value(text: str) -> Value:
    """Return the value of an attribute written as `text`, as behind `name=` on a command line; Refused if it is
    none."""
    word = f"v={text}"
    try:
        check_unicode(text)
        return _pair(word, 0, len(word)).value
    except SyntaxMistake as mistake:
        raise Refused(mistake.problem) from None


def format_attributes(attributes: Mapping[str, Value]) -> str:
    """Return the text that `parse_message_text` reads as these attributes."""
    # No word is reserved here: only a name can be at this position.
    return " ".join(
        f"{literals.write_name(name, frozenset())}={literals.write_value(value)}" for name, value in attributes.items()
    )


class _Pair(NamedTuple):
    name: str
    value: Value
    start: int
    end: int


def _collect(text: str, pairs: Iterator[_Pair]) -> dict[str, Value]:
    attributes: dict[str, Value] = {}
    try:
        check_unicode(text)
        for pair in pairs:
            if pair.name in attributes:
                raise SyntaxMistake(pair.start, f"the name {literals.write_name(pair.name, frozenset())} appears twice")
            if len(attributes) == limits.ATTRIBUTES_MAX:
                raise SyntaxMistake(pair.start, f"a message has at most {limits.ATTRIBUTES_MAX} attributes")
            attributes[pair.name] = pair.value
    except SyntaxMistake as mistake:
        raise refused(MessageTextError, text, mistake) from None
    return attributes


def _pairs_of_words(text: str, words: Sequence[str]) -> Iterator[_Pair]:
    start = 0
    for word in words:
        stop = start + len(word)
        yield _pair(text[:stop], start, stop)
        start = stop + 1


def _pairs_of_text(text: str) -> Iterator[_Pair]:
    start = _end(_BLANKS, text, 0)
    while start < len(text):
        pair = _pair(text, start, None)
        yield pair
        start = _end(_BLANKS, text, pair.end)
        if start == pair.end < len(text):
            raise SyntaxMistake(start, "a blank is missing between two attributes")


def _pair(text: str, start: int, stop: int | None) -> _Pair:
    """Return the attribute at `start`. A value without quotes extends to `stop`, or to the next blank if `stop` is
    None."""
    name, equals = _name(text, start)
    if text[equals : equals + 1] != "=":
        raise SyntaxMistake(
            equals, "expected `=` directly after the name", "an attribute is written name=value, without blanks"
        )
    at = equals + 1
    if text[at : at + 1] in ('"', "'"):
        end = literals.quoted_end(text, at)
        value: Value = literals.read_quoted(text[at:end], at)
    else:
        end = _end(_WORD, text, at) if stop is None else stop
        value = _plain_value(text[at:end], at)
    if stop not in (None, end):
        raise SyntaxMistake(end, "a word ends where its string ends")
    _check(check_name, name, start)
    _check(check_value, value, at)
    return _Pair(name, value, start, end)


def _name(text: str, start: int) -> tuple[str, int]:
    """Return the name at `start` and the offset behind it."""
    if text[start : start + 1] == "`":
        end = literals.quoted_end(text, start)
        return literals.read_quoted(text[start:end], start), end
    end = _end(literals.BARE_NAME, text, start)
    if end == start:
        hint = "an unusual name stands in backticks: `7 up`=3"
        if text[start : start + 1] in ("[", '"', ""):
            hint = 'a message is name=value, one a word, or one JSON object, {"name": value}'
        raise SyntaxMistake(start, "expected the name of an attribute", hint)
    return text[start:end], end


def _plain_value(word: str, at: int) -> Value:
    if word.lower() in literals.TRUTH:
        return literals.TRUTH[word.lower()]
    if literals.NUMBER.fullmatch(word):
        return _number(word, at)
    second = _SECOND.search(word)
    if second:
        hint = "write one attribute in a word, or put the value in quotes of its own"
        raise SyntaxMistake(at + second.start(1), "a second attribute in the same word", hint)
    return word


def _number(word: str, at: int) -> int | float:
    try:
        return literals.read_number(word, at)
    except SyntaxMistake as mistake:
        raise SyntaxMistake(at, mistake.problem, f'as a string it is written "{word}"') from None


def _check(check: Callable[[object], object], part: object, at: int) -> None:
    try:
        check(part)
    except Refused as error:
        raise SyntaxMistake(at, str(error)) from None


def _end(pattern: re.Pattern[str], text: str, start: int) -> int:
    """Return the offset at which `pattern` ends if it matches at `start`, else `start`."""
    found = pattern.match(text, start)
    return found.end() if found else start
