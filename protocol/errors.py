"""The errors of the language and of the wire. Any other exception from a parser is a bug.

TamisError
|-- Refused (ValueError)     a value, message, constraint or filter lies outside the model or its limits
|   `-- NeverMatches         a filter contradicts itself: no message can satisfy it
|-- SyntaxRefused            text that does not parse: carries line, column and a caret line
|   |-- PredicateError       predicate text
|   |-- DialectError         a filter of another system
|   `-- MessageTextError     attributes as written on a command line
|-- FrameError               the peer violated the protocol; `wire.codes.is_fatal` tells if the connection must end
|   `-- VersionRefused       no protocol version in common
`-- ConfigError              a file whose mistakes are all listed, each with its line and column
"""

from __future__ import annotations

CARET_LINE_CHARACTERS_MAX = 120
"""The most characters of a line that are shown around the caret: a predicate may be 64 KiB, a terminal's line is about
this long."""
_CUT = "..."


class TamisError(Exception):
    """The base class of all errors that Tamis raises deliberately."""


class Refused(TamisError, ValueError):
    """Raised for a value, message, constraint or filter outside the model; the sentence names the valid ones."""


class NeverMatches(Refused):
    """Raised for a filter that no message can satisfy; the sentence gives the reason."""


class SyntaxRefused(TamisError):
    """Raised for text that does not parse. `line` and `column` count from 1; `text` is the whole input."""

    def __init__(self, problem: str, text: str, line: int, column: int, hint: str = "") -> None:
        super().__init__(problem)
        self.problem = problem
        self.text = text
        self.line = line
        self.column = column
        self.hint = hint

    @property
    def caret(self) -> str:
        """The offending line, cut where it is long, and below it a caret under the offending column."""
        lines = self.text.split("\n")
        shown, at = _window(lines[self.line - 1] if self.line <= len(lines) else "", self.column - 1)
        lead = "".join("\t" if c == "\t" else " " for c in shown[:at])  # tabs kept so that they line up
        return f"{shown}\n{lead}^"

    def __str__(self) -> str:
        hint = f"\n{self.hint}" if self.hint else ""
        return f"line {self.line}, column {self.column}: {self.problem}\n{self.caret}{hint}"


class PredicateError(SyntaxRefused):
    """Raised for predicate text that does not parse or does not compile."""


class DialectError(SyntaxRefused):
    """Raised for a filter that its dialect does not allow, or that cannot be translated."""


class MessageTextError(SyntaxRefused):
    """Raised for attributes on a command line that do not parse."""


class FrameError(TamisError):
    """Raised when bytes of the peer violate the protocol. `code` is the number for an ERROR frame.

    After most codes the connection is closed; a few refuse only one frame or one entry (`wire.codes.NOT_FATAL`).
    """

    def __init__(self, code: int, problem: str) -> None:
        super().__init__(problem)
        self.code = code
        self.problem = problem


class VersionRefused(FrameError):
    """Raised for a peer that supports no protocol version that this program supports."""


class ConfigError(TamisError):
    """Raised with all mistakes of one file; `str()` has a line for each: `file:line:column: path: what`."""

    def __init__(self, mistakes: list[str]) -> None:
        super().__init__("\n".join(mistakes))
        self.mistakes = mistakes


def _window(line: str, at: int) -> tuple[str, int]:
    """Return the part of `line` around offset `at`, with dots where it is cut, and the position of `at` in that
    part."""
    spare = len(line) - CARET_LINE_CHARACTERS_MAX
    if spare <= 0:
        return line, at
    start = min(max(at - CARET_LINE_CHARACTERS_MAX // 2, 0), spare)
    end = start + CARET_LINE_CHARACTERS_MAX
    before, after = _CUT * (start > 0), _CUT * (end < len(line))
    return f"{before}{line[start:end]}{after}", len(before) + at - start
