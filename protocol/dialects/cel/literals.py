"""The literals of CEL: numbers, and texts with escapes, raw texts, and texts in three quotes."""

from __future__ import annotations

import re
from typing import Any, Final

from tamis.protocol import limits
from tamis.protocol.language.mistake import SyntaxMistake

_DIGITS_MAX: Final = 25
_UINT_MAX: Final = 2**64 - 1
_ESCAPE: Final = re.compile(
    r"\\(?:(?P<plain>[abfnrtv\\?\"'`])|[xX](?P<x>[0-9A-Fa-f]{2})|u(?P<u>[0-9A-Fa-f]{4})"
    r"|U(?P<U>[0-9A-Fa-f]{8})|(?P<octal>[0-3][0-7]{2})|(?P<wrong>[\s\S]?))"
)
_PLAIN: Final = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


def number_of(token: Any) -> int | float:  # noqa: ANN401 - a token
    """Return the value of a literal; an integer that only its negative is inside 64 bits is let pass."""
    text, at = str(token), token.start_pos
    digits = text.rstrip("uU")
    if digits[:2] in ("0x", "0X") or digits.isdigit():
        too_long = len(digits) > _DIGITS_MAX
        value = 0 if too_long else int(digits, 16 if digits[:2] in ("0x", "0X") else 10)
        if too_long or value > (limits.INT_MAX if digits != text else -limits.INT_MIN):
            problem = (
                "this number is beyond 2^63 - 1"
                if value <= _UINT_MAX and not too_long
                else "this integer is outside 64 bits"
            )
            raise SyntaxMistake(at, problem)
        return value
    number = float(text)
    if number == float("inf"):
        raise SyntaxMistake(at, "this number is beyond the largest double, about 1.8e308")
    return number


def text_of(token: Any) -> str:  # noqa: ANN401 - a token
    """Return the text that a literal denotes, or raise the mistake at the escape that is none."""
    written, at = str(token), token.start_pos
    if written[0] in "bB":
        raise SyntaxMistake(at, "a value is no bytes", "compare with a text")
    is_raw = written[0] in "rR"
    quoted = written[1:] if is_raw else written
    marks = 3 if quoted[:3] in ('"""', "'''") and len(quoted) >= 6 else 1
    inner = quoted[marks:-marks].replace("\r\n", "\n").replace("\r", "\n") if marks == 3 else quoted[1:-1]
    if is_raw:
        return inner
    return _ESCAPE.sub(lambda match: _escaped(match, at + marks), inner)


def _escaped(match: re.Match[str], at: int) -> str:
    if match["plain"]:
        return _PLAIN.get(match["plain"], match["plain"])
    digits, base = (match["octal"], 8) if match["octal"] else (match["x"] or match["u"] or match["U"], 16)
    code = int(digits, base) if digits else 0x110000
    if code > 0x10FFFF or 0xD800 <= code < 0xE000:
        problem = f"`{match[0]}` is no character" if digits else f"`{match[0]}` is no escape"
        raise SyntaxMistake(at + match.start(), problem, 'a backslash is written twice, or in a raw text: r"\\d"')
    return chr(code)
