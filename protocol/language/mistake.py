"""A mistake at a place in a text, before it becomes an error of a certain class with a line and a column.

Law: inside the readers a place is an offset; only `refused` turns it into a line and a column, both counted from 1.
"""

from __future__ import annotations

from typing import TypeVar

from tamis.protocol.errors import SyntaxRefused

Error = TypeVar("Error", bound=SyntaxRefused)


class SyntaxMistake(Exception):
    """A mistake at `offset`, and a hint at a correct text. Callers get the error that `refused` makes of it."""

    def __init__(self, offset: int, problem: str, hint: str = "") -> None:
        super().__init__(problem)
        self.offset = offset
        self.problem = problem
        self.hint = hint


class BeyondLimits(SyntaxMistake):
    """A text that means something, and exceeds a limit."""


class Contradiction(SyntaxMistake):
    """A text that no message can satisfy."""


def refused(error: type[Error], text: str, mistake: SyntaxMistake) -> Error:
    line, column = place(text, mistake.offset)
    return error(mistake.problem, text, line, column, mistake.hint)


def place(text: str, offset: int) -> tuple[int, int]:
    """Return line and column of `offset`. Only a line feed ends a line, as in the caret line."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def check_unicode(text: str) -> int:
    """Return the length of `text` in UTF-8. A lone surrogate (a byte that was not UTF-8 where it was typed) is a
    mistake."""
    try:
        return len(text.encode())
    except UnicodeEncodeError as error:
        raise SyntaxMistake(error.start, "this is not valid UTF-8") from None
