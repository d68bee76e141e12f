"""A text as a tree, and who reads its conditions: outside any space, or as those on messages of one.

Law: only a SyntaxMistake leaves this file. Offsets of the tree are those of the text, also behind the name of a space.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tamis.protocol import limits
from tamis.protocol.filters import Constraint, Predicate
from tamis.protocol.language import in_space
from tamis.protocol.language.compile import read_plainly
from tamis.protocol.language.expression import KindOf, anything
from tamis.protocol.language.mistake import SyntaxMistake
from tamis.protocol.language.parse import parse_tree
from tamis.protocol.language.plain_text import plain_predicate
from tamis.protocol.language.tree import Leaf, Node
from tamis.protocol.spaces import SpaceSet


@dataclass(frozen=True, slots=True)
class Reading:
    """`constraint` returns the meaning of a condition, or raises the mistake in it; `kind` the kind of an attribute in
    an expression."""

    tree: Node
    constraint: Callable[[Leaf], Constraint] = read_plainly
    kind: KindOf = anything


def plainly(text: str, space: str | None = None, disjuncts_max: int = limits.DISJUNCTS_MAX) -> Predicate | None:
    """Return the predicate of a text that needs no parser, such as most have; None for all others, and all that are
    about a space."""
    if space is not None or in_space.prefix_of(text) is not None:
        return None
    return plain_predicate(text, disjuncts_max)


def read(text: str, spaces: SpaceSet, space: str | None) -> Reading:
    """Return the reading of a text; with `space` it is about messages of that one, and names none."""
    if space is not None:
        return _in(in_space.SpacePrefix(space, 0, 0), text, spaces)
    prefix = in_space.prefix_of(text)
    if prefix is None:
        return Reading(parse_tree(text))
    return _in(prefix, text, spaces)


def _in(prefix: in_space.SpacePrefix, text: str, spaces: SpaceSet) -> Reading:
    within = in_space.named(spaces, prefix.name, prefix.at)
    if prefix.end and not text[prefix.end :].strip():
        raise SyntaxMistake(prefix.end, "expected a condition after the space, but the text ends here")
    tree = parse_tree(" " * prefix.end + text[prefix.end :])  # to keep the offsets of the text
    reader = in_space.SpaceReader(within, spaces.naming)
    return Reading(in_space.joined(within, tree, spaces.naming, prefix.at), reader, reader.kind)
