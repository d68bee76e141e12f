"""The profile language of paper 003, as a second way to write a filter.

    PROFILE(PRI(a1=5,a2>10,TYPE=T1))        type = "T1" and a1 = 5 and a2 > 10

Law: a profile names its type once and has at most one condition for each attribute, as in the paper. If the type is a
known space, the profile is validated by it like any predicate on its messages; otherwise its conditions are used
unchanged. A text either yields a filter or raises PredicateError at the position of the mistake.
"""

from __future__ import annotations

import functools
from importlib import resources
from typing import TYPE_CHECKING, Any, cast

from tamis.protocol import limits
from tamis.protocol.errors import PredicateError
from tamis.protocol.filters import Constraint, Op
from tamis.protocol.language import in_space
from tamis.protocol.language.compile import Compiled, compile_tree
from tamis.protocol.language.mistake import SyntaxMistake, check_unicode, refused
from tamis.protocol.language.tree import Junction, Leaf, Placed, TreeBuilder
from tamis.protocol.spaces import NO_SPACES, SpaceSet

if TYPE_CHECKING:
    from lark import Lark

TYPE = "TYPE"
_EXAMPLE = "a profile is written as PROFILE(PRI(a1=5,a2>10,TYPE=T1))"


def compile_profile(text: str, spaces: SpaceSet = NO_SPACES) -> Compiled:
    """Return the predicate of a profile, of one filter."""
    try:
        return _compiled(_conditions(text), spaces)
    except SyntaxMistake as mistake:
        raise refused(PredicateError, text, mistake) from None


class ProfileBuilder(TreeBuilder):
    """The callbacks of das.lark that differ from those of the predicate language."""

    def start(self, parts: list[Leaf]) -> list[Leaf]:
        return parts

    def value(self, parts: list[Any]) -> Placed:
        (token,) = parts
        return Placed(str(token), token.start_pos) if token.type == "NAME" else super().value(parts)


def _conditions(text: str) -> list[Leaf]:
    from lark.exceptions import UnexpectedCharacters, UnexpectedToken

    size = check_unicode(text)
    if size > limits.PREDICATE_BYTES_MAX:
        raise SyntaxMistake(
            0, f"a profile has at most {limits.PREDICATE_BYTES_MAX} bytes of UTF-8, this one has {size}"
        )
    try:
        return cast(list[Leaf], _parser().parse(text))
    except UnexpectedCharacters as error:
        at = error.pos_in_stream or 0
        raise SyntaxMistake(at, f"the character {text[at]!r} has no meaning here", _EXAMPLE) from None
    except UnexpectedToken as error:
        if error.token.type == "$END":
            raise SyntaxMistake(len(text), "the profile ends too early", _EXAMPLE) from None
        found = str(error.token)
        shown = found if len(found) <= _SHOWN else f"{found[:_SHOWN]}..."
        raise SyntaxMistake(error.token.start_pos or 0, f"`{shown}` is not allowed here", _EXAMPLE) from None


_SHOWN = 40


def _compiled(conditions: list[Leaf], spaces: SpaceSet) -> Compiled:
    types = [leaf for leaf in conditions if leaf.constraint.name == TYPE]
    if not types:
        raise SyntaxMistake(0, "the profile names no type", _EXAMPLE)
    name = types[0].operands[0].content
    if len(types) > 1 or types[0].constraint.op is not Op.EQ or not isinstance(name, str):
        raise SyntaxMistake(types[-1].at, "a profile names one type, as TYPE=T1")
    rest = [leaf for leaf in conditions if leaf is not types[0]]
    seen: set[str] = set()
    for leaf in rest:
        if leaf.constraint.name in seen:
            raise SyntaxMistake(
                leaf.at, f"a profile has one condition for an attribute, {leaf.constraint.name} has two"
            )
        seen.add(leaf.constraint.name)
    if name in spaces.spaces:
        tree = Junction(tuple(rest), True, types[0].at)
        return in_space.compile_in(spaces.spaces[name], tree, 1, spaces.naming, types[0].at)
    belongs = Leaf(Constraint(spaces.naming, Op.EQ, (name,)), types[0].at)
    return compile_tree(Junction((belongs, *rest), True, types[0].at), 1)


@functools.cache
def _parser() -> Lark:
    from lark import Lark

    grammar = resources.files(__package__).joinpath("das.lark").read_text("utf-8")
    return Lark(grammar, parser="lalr", lexer="basic", maybe_placeholders=False, transformer=ProfileBuilder())
