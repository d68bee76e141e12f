"""The predicate language: text to a predicate in normal form, and back.

    severity > 2 and alert-type = "intrusion" or class = "alert" and device ^= "web"
    price between 10 and 20 and not (venue in {"X", "Y"})      # to the end of the line
    exists region

    operators   =  !=  <  <=  >  >=  prefix  suffix  contains;  between A and B;  in {A, ...};  exists NAME
    also read   == for =   <> for !=   ^= for prefix   $= for suffix   *= and substring for contains
    joined by   not, and, or (binding in that order) and parentheses;  ! & && | || are read too
    predicates  true (every message), false (none)

    trades: price < 120     # of messages of the space `trades`, by its attributes and domains

The words are reserved and read in any case; names are case-sensitive. How values are written: see literals.py.

Law: a text either yields a predicate or raises PredicateError with the line and column of the mistake, in time bounded
by the limits for any text.
"""

from __future__ import annotations

from tamis.protocol import limits
from tamis.protocol.errors import PredicateError
from tamis.protocol.filters import Predicate
from tamis.protocol.language import in_space
from tamis.protocol.language.compile import Compiled, compile_tree
from tamis.protocol.language.format import format_constraint, format_filter, format_predicate
from tamis.protocol.language.mistake import SyntaxMistake, refused
from tamis.protocol.language.parse import parse_tree
from tamis.protocol.language.plain_text import plain_predicate
from tamis.protocol.spaces import NO_SPACES, SpaceSet

__all__ = ["parse", "compile_text", "Compiled", "format_predicate", "format_filter", "format_constraint"]


def parse(
    text: str, disjuncts_max: int = limits.DISJUNCTS_MAX, spaces: SpaceSet = NO_SPACES, space: str | None = None
) -> Predicate:
    return compile_text(text, disjuncts_max, spaces, space).predicate


def compile_text(
    text: str, disjuncts_max: int = limits.DISJUNCTS_MAX, spaces: SpaceSet = NO_SPACES, space: str | None = None
) -> Compiled:
    """Compile a text as `parse` does, and return also the warnings about alternatives that can never match. `spaces`
    are those that the text may name; with `space` it is about messages of that one, and names none."""
    try:
        if space is not None:
            within = in_space.named(spaces, space, 0)
            return in_space.compile_in(within, parse_tree(text), disjuncts_max, spaces.naming, 0)
        prefix = in_space.prefix_of(text)
        if prefix is None:
            plain = plain_predicate(text, disjuncts_max)
            return compile_tree(parse_tree(text), disjuncts_max) if plain is None else Compiled(plain)
        within = in_space.named(spaces, prefix.name, prefix.at)
        if not text[prefix.end :].strip():
            raise SyntaxMistake(prefix.end, "expected a condition after the space, but the text ends here")
        tree = parse_tree(" " * prefix.end + text[prefix.end :])  # to keep the offsets of the text
        return in_space.compile_in(within, tree, disjuncts_max, spaces.naming, prefix.at)
    except SyntaxMistake as mistake:
        raise refused(PredicateError, text, mistake) from None
