"""Text in another case, each character mapped to one: simple folding, simple upper and lower case of Unicode 14.

Law: the tables are data and not those of the running Python, so every program and every router of a network agrees.
"""

from __future__ import annotations

import bisect
from typing import Final

from tamis.protocol.residual import cases_table

FOLDED_MARK: Final = "~"
"""The folded text of an attribute `name` has the name `name~` in the index of a router (native/switch/subscribers/)."""

_Runs = tuple[tuple[int, int, int, int], ...]
_ASCII: Final = range(ord("A"), ord("Z") + 1)
_ASCII_LOWER: Final = range(ord("a"), ord("z") + 1)
_SHIFT: Final = ord("a") - ord("A")


def folded(text: str) -> str:
    """Return the text in the form in which texts that differ in case alone are equal."""
    return _mapped(text, cases_table.FOLD, _ASCII, _SHIFT)


def lower(text: str) -> str:
    return _mapped(text, cases_table.LOWER, _ASCII, _SHIFT)


def upper(text: str) -> str:
    return _mapped(text, cases_table.UPPER, _ASCII_LOWER, -_SHIFT)


def _mapped(text: str, runs: _Runs, ascii_range: range, shift: int) -> str:
    return "".join([chr(code + _added(code, runs, ascii_range, shift)) for code in map(ord, text)])


def _added(code: int, runs: _Runs, ascii_range: range, shift: int) -> int:
    if code < 0x80:
        return shift if code in ascii_range else 0
    at = bisect.bisect_right(runs, code, key=lambda run: run[0]) - 1
    if at < 0:
        return 0
    first, last, stride, added = runs[at]
    return added if code <= last and (code - first) % stride == 0 else 0
