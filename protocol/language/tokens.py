"""The lexer of the grammars of filters: lark's, with offsets alone.

Law: tokens and errors are those of lark's basic lexer, but for lines and columns, which mistake.py counts of an offset.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from lark.lexer import BasicLexer, LexerState, Token


class OffsetLexer(BasicLexer):
    __future_interface__ = 2
    """`lex` takes the states, not a text."""

    def lex(self, state: LexerState, parser_state: Any) -> Iterator[Token]:  # noqa: ANN401 - lark's
        match: Callable[[Any, int], tuple[str, str] | None] = self.scanner.match
        callbacks, ignored = self.callback, self.ignore_types
        text, at, size = state.text, 0, len(state.text)
        while at < size:
            found = match(text, at)
            if found is None:
                state.line_ctr.char_pos = at
                self.next_token(state, parser_state)  # raises the error
                return
            value, kind = found
            end = at + len(value)
            if kind not in ignored:
                token = str.__new__(Token, value)
                token.type, token.value, token.start_pos, token.end_pos = kind, value, at, end
                token.line = token.column = token.end_line = token.end_column = None
                yield callbacks[kind](token) if kind in callbacks else token
            at = end
