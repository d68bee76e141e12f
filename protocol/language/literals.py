r"""The syntax of names, strings and numbers, in predicates and in messages on a command line.

    string  "..." or '...'   escapes \n \t \r \0 \\ \" \' \` \xHH \uXXXX \UXXXXXXXX (code points)
    name    alert-type, a.b, x:y/z@w, or `anything` between backticks, with the escapes of a string
    number  as in JSON (-3, 0.5, 1e9), or hexadecimal: 0x1F, -0x1F

Law: a value that is written here is read back equal. A quoted text stays on its line and holds no raw control
character. No number starts with `+` or a needless zero: +4912 and 007 are strings in practice. The patterns are those
of the terminals in grammar.lark; a test compares them.
"""

from __future__ import annotations

import math
import re
from typing import Final

from tamis.protocol import limits
from tamis.protocol.language.mistake import SyntaxMistake
from tamis.protocol.shown import escaped
from tamis.protocol.values import Value

TRUTH = {"true": True, "false": False}
RESERVED = frozenset(
    {"and", "or", "not", "exists", "between", "in", "prefix", "suffix", "contains", "substring", *TRUTH}
)

BARE_NAME = re.compile(r"[^\W\d][\w.:\/@-]*")
NUMBER = re.compile(r"-?(?:0[xX][0-9a-fA-F]+|(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)(?![\w.])")

_CONTROL = r"\x00-\x1f\x7f"
_INSIDE = {quote: re.compile(rf"(?:[^{quote}\\{_CONTROL}]|\\[^{_CONTROL}])*") for quote in "\"'`"}
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))")
_SINGLE = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "\\": "\\", '"': '"', "'": "'", "`": "`"}
_HEX_DIGITS = {"x": 2, "u": 4, "U": 8}
_INT_DIGITS_MAX = 20  # sign included: a longer one is outside 64 bits, and is never handed to int()

_ESCAPES_KEPT: Final = 4_096
"""The most characters whose escapes are cached; they take a few hundred KiB."""


def quoted_end(text: str, start: int) -> int:
    """Return the offset behind the quoted text that opens at `start`, or raise the mistake if it has no end."""
    quote = text[start]
    what = "name" if quote == "`" else "string"
    inside = _INSIDE[quote].match(text, start + 1)
    end = inside.end() if inside else start + 1  # always a match: it may be empty
    if text[end : end + 1] == quote:
        return end + 1
    stop = end + (text[end : end + 1] == "\\")
    if text[stop : stop + 1] in ("", "\n", "\r"):
        raise SyntaxMistake(
            start, f"this {what} is not closed by {quote}", f"a {what} must end on its line; write \\n for a line break"
        )
    raise SyntaxMistake(stop, f"a control character in a {what}", f"write {escaped(text[stop])} instead")


def read_quoted(token: str, at: int) -> str:
    """Return the text that a complete quoted token denotes. `at` is the token's offset, for mistakes in it."""

    def meaning(match: re.Match[str]) -> str:
        digits = match[1] or match[2] or match[3]
        return _code_point(digits, at + match.start()) if digits else _single(match[4], at + match.start())

    if "\\" not in token:
        return token[1:-1]
    # The closing quote is left in: an escape never reaches it, and offsets stay those of the token.
    return _ESCAPE.sub(meaning, token)[1:-1]


def read_number(token: str, at: int) -> int | float:
    if "x" in token or "X" in token:
        return _within_64_bits(int(token, 16), token, at)
    if token.removeprefix("-").isdigit():
        return _within_64_bits(int(token) if len(token) <= _INT_DIGITS_MAX else None, token, at)
    number = float(token)
    if math.isinf(number):
        raise SyntaxMistake(at, f"{_shortened(token)} is beyond the largest float, about 1.8e308")
    return number


def write_value(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return write_string(value) if isinstance(value, str) else repr(value)


def write_string(text: str) -> str:
    return _quoted(text, '"')


def write_name(name: str, reserved: frozenset[str] = RESERVED) -> str:
    """Return `name` bare if it reads as a name, otherwise between backticks."""
    if BARE_NAME.fullmatch(name) and name.lower() not in reserved:
        return name
    return _quoted(name, "`")


def _single(char: str, at: int) -> str:
    if char in _SINGLE:
        return _SINGLE[char]
    if char in _HEX_DIGITS:
        raise SyntaxMistake(at, f"the escape \\{char} takes {_HEX_DIGITS[char]} hexadecimal digits")
    raise SyntaxMistake(at, f"there is no escape \\{char}", "a backslash itself is written \\\\")


def _code_point(digits: str, at: int) -> str:
    code = int(digits, 16)
    if code > 0x10FFFF:
        raise SyntaxMistake(at, "the last code point is \\U0010FFFF")
    if 0xD800 <= code <= 0xDFFF:
        raise SyntaxMistake(at, "a surrogate is not a character", "write a character past \\uFFFF as one \\UXXXXXXXX")
    return chr(code)


def _within_64_bits(number: int | None, token: str, at: int) -> int:
    if number is None or not limits.INT_MIN <= number <= limits.INT_MAX:
        raise SyntaxMistake(
            at, f"integer {_shortened(token)} is outside 64 bits ({limits.INT_MIN} to {limits.INT_MAX})"
        )
    return number


def _quoted(text: str, quote: str) -> str:
    inside = text.replace("\\", "\\\\").replace(quote, f"\\{quote}")
    return f"{quote}{inside if inside.isprintable() else inside.translate(_ESCAPES)}{quote}"


class _Escapes(dict[int, str]):
    """By code point: its escape. The first ones are cached, since most texts consist of few characters."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        written = char if char.isprintable() else escaped(char)
        if len(self) < _ESCAPES_KEPT:
            self[code] = written
        return written


_ESCAPES = _Escapes()


def _shortened(token: str) -> str:
    return token if len(token) <= 40 else token[:37] + "..."
