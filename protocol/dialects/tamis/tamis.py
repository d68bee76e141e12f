"""The language of Tamis as a dialect: `sym = "A" and price * qty > 1000`.

    translate(text)       of a client or a command; PredicateError with the place of a mistake
    get("tamis")          the same as a dialect; its events are objects of attributes

Law: a text without computed conditions has the predicate that `parse` gives it, and is refused with the same words. Of
a conjunction the program has those parts alone that the predicate leaves undecided, unless there is a predicate for the
index of a router, with which the program decides alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from tamis.protocol import limits
from tamis.protocol.dialects.decide import Widened, program_of
from tamis.protocol.dialects.dialect import Dialect, Translated
from tamis.protocol.dialects.tamis.conditions import Conditions
from tamis.protocol.dialects.widen import indexed_of, within_limits
from tamis.protocol.errors import PredicateError, Refused
from tamis.protocol.language.compile import compile_tree
from tamis.protocol.language.mistake import BeyondLimits, SyntaxMistake, refused
from tamis.protocol.language.reading import Reading, plainly, read
from tamis.protocol.language.tree import Computed, Junction, Nested, Node
from tamis.protocol.residual.instructions import CONSTANTS_MAX, INSTRUCTIONS_MAX, TEXT_BYTES_MAX
from tamis.protocol.spaces import NO_SPACES, SpaceSet
from tamis.protocol.values import Value


def translate(text: str, spaces: SpaceSet = NO_SPACES, space: str | None = None) -> Translated:
    """Return the predicate of a text, and the program of what it leaves undecided."""
    try:
        return _translated(text, spaces, space)
    except SyntaxMistake as mistake:
        raise refused(PredicateError, text, mistake) from None


def attributes(event: Mapping[str, Any]) -> dict[str, Value]:
    if not isinstance(event, Mapping):
        raise Refused("an event is an object of attributes")
    return dict(event)


def _translated(text: str, spaces: SpaceSet = NO_SPACES, space: str | None = None) -> Translated:
    plain = plainly(text, space)
    if plain is not None:
        return Translated(plain)
    reading = read(text, spaces, space)
    if not _is_computed(reading.tree):
        compiled = compile_tree(reading.tree, limits.DISJUNCTS_MAX, reading.constraint)
        return Translated(compiled.predicate, warnings=compiled.warnings)
    return _decided(text, reading)


def _decided(text: str, reading: Reading) -> Translated:
    conditions = Conditions(text, reading)
    rail = conditions.rail()
    try:
        compiled = compile_tree(rail.node, limits.DISJUNCTS_MAX)
    except BeyondLimits:
        found = within_limits(rail, conditions.warnings())
    else:
        whole = program_of(rail.node)
        indexed = None if whole is None else indexed_of(rail.node)
        program = program_of(_undecided(rail.node)) if indexed is None else whole
        warnings = (*conditions.warnings(), *compiled.warnings)
        found = Translated(compiled.predicate, rail.needs, warnings, program, indexed)
    if found.residual is None and conditions.first is not None:
        problem = (
            f"the program of this predicate would be too large: it has at most {INSTRUCTIONS_MAX} instructions, "
            f"{CONSTANTS_MAX} constants and texts of {TEXT_BYTES_MAX} bytes"
        )
        raise SyntaxMistake(conditions.first.at, problem, "split it into several predicates")
    return found


def _is_computed(node: Node) -> bool:
    """Return whether a condition of the tree is computed. The depth of a tree is not known here, so it is walked level
    by level; one that is too deep is refused later."""
    level = [node]
    while level:
        if any(isinstance(each, Computed) for each in level):
            return True
        level = [child for each in level for child in _children(each)]
    return False


def _children(node: Node) -> tuple[Node, ...]:
    match node:
        case Nested(child):
            return (child,)
        case Junction(children):
            return children
    return ()


def _undecided(node: Node) -> Node:
    """Return the parts of a conjunction that its predicate leaves undecided."""
    if not isinstance(node, Junction) or not node.conjunctive:
        return node
    parts = tuple(_undecided(child) for child in node.children if _is_widened(child))
    return parts[0] if len(parts) == 1 else replace(node, children=parts)


def _is_widened(node: Node) -> bool:
    return isinstance(node, Widened) or any(map(_is_widened, _children(node)))


DIALECT: Final = Dialect("tamis", "the language of Tamis", _translated, attributes)
