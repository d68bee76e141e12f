"""Parse predicate text to a tree: the limits on the text, and every syntax error as a readable sentence.

Law: for an invalid text only SyntaxMistake leaves this file. Parsing is LALR, so neither time nor stack depends on the
nesting of a text; the depth of a tree is checked where it is walked. The parser is built on first use, since building
and importing it delay a program's start; it keeps no state and may be used by several threads.
"""

from __future__ import annotations

import functools
from importlib import resources
from typing import TYPE_CHECKING, cast

from tamis.protocol import limits
from tamis.protocol.language import complaint
from tamis.protocol.language.mistake import SyntaxMistake, check_unicode
from tamis.protocol.language.tree import Node

if TYPE_CHECKING:
    from lark import Lark


def parse_tree(text: str) -> Node:
    from lark import Token
    from lark.exceptions import UnexpectedCharacters, UnexpectedToken

    size = check_unicode(text)
    if size > limits.PREDICATE_BYTES_MAX:
        raise SyntaxMistake(
            0, f"a predicate has at most {limits.PREDICATE_BYTES_MAX} bytes of UTF-8, this one has {size}"
        )
    try:
        return cast(Node, parser().parse(text))
    except UnexpectedCharacters as error:
        raise complaint.about_character(text, error.pos_in_stream or 0) from None
    except UnexpectedToken as error:
        stack = error.state.value_stack
        kept = [entry for entry in stack if isinstance(entry, Token)]
        raise complaint.about_token(error.token, error.accepts, kept, stack[-1] if stack else None) from None


@functools.cache
def parser() -> Lark:
    """Return the parser. Words are reserved everywhere, so the plain lexer serves, and an error can name the token it
    met."""
    from lark import Lark

    from tamis.protocol.language.computed import ConditionBuilder
    from tamis.protocol.language.tokens import OffsetLexer

    grammar = resources.files(__package__).joinpath("grammar.lark").read_text("utf-8")
    return Lark(grammar, parser="lalr", lexer=OffsetLexer, maybe_placeholders=False, transformer=ConditionBuilder())
