"""Read a text by a grammar of lark, and say of one that does not parse what was expected.

Law: of an invalid text only a SyntaxMistake leaves this file. lark is imported at the first text, and neither time nor
stack of the parser depends on how a text nests.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from importlib import resources
from typing import TYPE_CHECKING, Any

from tamis.protocol.language.mistake import SyntaxMistake
from tamis.protocol.nearest import nearest
from tamis.protocol.shown import shown

if TYPE_CHECKING:
    from lark import Lark, Token

_SHOWN = 40


@dataclass
class Grammar:
    """The grammar in `file` beside the module `package`; `builder` has a method for each of its rules."""

    package: str
    file: str
    builder: object
    expected: Mapping[str, str]
    """What to say where a terminal may follow; the first one that may is said."""
    words: Collection[str]
    """The words of the language, for guesses."""
    hints: Mapping[str, str]
    """What to write instead of a text that has no place."""
    quote: str
    """The mark before and behind a text."""
    inside: str
    """How the mark is written inside a text."""
    _parser: Lark | None = field(default=None, init=False)

    def parse(self, text: str) -> Any:  # noqa: ANN401 - what the builder makes of it
        from lark.exceptions import UnexpectedCharacters, UnexpectedToken

        try:
            return self._built().parse(text)
        except UnexpectedCharacters as error:
            at = error.pos_in_stream or 0
            raise SyntaxMistake(at, *self._about_character(text, at)) from None
        except UnexpectedToken as error:
            raise self._about_token(error.token, error.accepts, text) from None

    def _built(self) -> Lark:
        if self._parser is None:
            from lark import Lark, Transformer

            from tamis.protocol.language.tokens import OffsetLexer

            grammar = resources.files(self.package).joinpath(self.file).read_text("utf-8")
            builder: Transformer[Any, Any] = self.builder  # type: ignore[assignment] # any object with such methods
            self._parser = Lark(
                grammar, parser="lalr", lexer=OffsetLexer, maybe_placeholders=False, transformer=builder
            )
        return self._parser

    def _about_character(self, text: str, at: int) -> tuple[str, str]:
        if text[at] == self.quote:
            return f"this text is not closed by {self.quote}", f"inside a text the mark is written {self.inside}"
        return f"the character `{shown(text[at])}` has no meaning here", self._hint(text[at : at + 2].strip(), text[at])

    def _about_token(self, token: Token, accepts: Collection[str], text: str) -> SyntaxMistake:
        expected = next((said for terminal, said in self.expected.items() if terminal in accepts), "the end")
        if token.type == "$END":
            return SyntaxMistake(len(text.rstrip()), f"expected {expected}, but the text ends here")
        word = str(token)
        said = shown(word if len(word) <= _SHOWN else f"{word[:_SHOWN]}...")
        at = token.start_pos or 0
        hint = self._hint(word)
        if not hint and at and text[at - 1] == self.quote:
            hint = f"inside a text the mark is written {self.inside}"
        elif not hint and "STRING" in accepts and word[:1].isalnum() and "NAME" not in accepts:
            hint = f"a text stands between two {self.quote}"
        return SyntaxMistake(at, f"expected {expected}, found `{said}`", hint)

    def _hint(self, *words: str) -> str:
        for word in words:
            if word.upper() in self.hints:
                return self.hints[word.upper()]
        near = nearest(words[0].upper(), self.words)
        return f"did you mean `{near}`?" if near and near != words[0].upper() else ""
