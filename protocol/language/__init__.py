"""The predicate language: text to a predicate in normal form, and back.

    severity > 2 and alert-type = "intrusion" or class = "alert" and device ^= "web"
    price between 10 and 20 and not (venue in {"X", "Y"})      # to the end of the line
    exists region

    operators   =  !=  <  <=  >  >=  prefix  suffix  contains;  between A and B;  in {A, ...};  exists NAME;  like "a%"
    also read   == for =   <> for !=   ^= for prefix   $= for suffix   *= and substring for contains
    joined by   not, and, or (binding in that order) and parentheses;  ! & && | || are read too
    predicates  true (every message), false (none)
    computed    a < b   price * qty > 1000   lower(x) = "bob"   x ~= "Bob"   x like "a%b%c"   ip in 10.0.0.0/8

    trades: price < 120     # of messages of the space `trades`, by its attributes and domains

The words are reserved and read in any case; names are case-sensitive. How values are written: see literals.py. No
predicate says a computed condition: dialects/tamis/ makes a program of it, and here it is a mistake.

Law: a text either yields a predicate or raises PredicateError with the line and column of the mistake, in time bounded
by the limits for any text.
"""

from __future__ import annotations

from tamis.protocol import limits
from tamis.protocol.errors import PredicateError
from tamis.protocol.filters import Predicate
from tamis.protocol.language.compile import Compiled, compile_tree
from tamis.protocol.language.format import format_constraint, format_filter, format_predicate
from tamis.protocol.language.mistake import SyntaxMistake, refused
from tamis.protocol.language.reading import plainly, read
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
    plain = plainly(text, space, disjuncts_max)
    if plain is not None:
        return Compiled(plain)
    try:
        reading = read(text, spaces, space)
        return compile_tree(reading.tree, disjuncts_max, reading.constraint)
    except SyntaxMistake as mistake:
        raise refused(PredicateError, text, mistake) from None
