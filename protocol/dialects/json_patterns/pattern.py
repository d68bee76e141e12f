"""A pattern as a tree, and its rail.

    Member   the values of one path: at least one satisfies a condition, or there is none and that is wanted
    Joined   all, or at least one, of several parts

Law: a value of a path is the attribute `path`, or one of the attributes `path[0]` to `path[ELEMENTS_MAX - 1]` in which
the events of documents.py have what is inside arrays. The rail takes any array of values for one that matches, but for
paths that are always arrays; the program of deciding.py decides.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from tamis.protocol.dialects.events import LENGTH, NULL
from tamis.protocol.dialects.json_patterns.conditions import Condition, HasValue
from tamis.protocol.dialects.json_patterns.documents import ELEMENTS_MAX
from tamis.protocol.dialects.rails import NEVER, Rail, complement, every, holds, present, some, undecided
from tamis.protocol.filters import Op

PRODUCT_MAX: Final = 3
"""Fields of which each alone may be an array, in the alternatives of a predicate; of more, an array in one is taken for
a match of all."""


class PathShape(enum.Enum):
    """What the values of a path are, by the definition of the system."""

    TEXT = "one text"
    LIST = "an array of texts"
    ANY = "anything"


@dataclass(frozen=True, slots=True)
class Member:
    path: str
    conditions: tuple[Condition, ...]
    or_null: bool
    """Whether it suffices that a value is null."""
    or_absent: bool
    """Whether it suffices that the path has no value."""
    shape: PathShape

    @property
    def of_values(self) -> bool:
        """Whether a value can satisfy it."""
        return bool(self.conditions) or self.or_null

    @property
    def of_any_value(self) -> bool:
        """Whether every value satisfies it."""
        return any(isinstance(condition, HasValue) for condition in self.conditions)

    @property
    def may_be_in_array(self) -> bool:
        """Whether one of its values may be in an array of which its rail knows the length alone."""
        return self.shape is PathShape.ANY and self.of_values and not self.of_any_value


@dataclass(frozen=True, slots=True)
class Joined:
    parts: tuple[PatternTree, ...]
    conjunctive: bool


PatternTree = Member | Joined


def members_of(tree: PatternTree) -> Iterator[Member]:
    if isinstance(tree, Member):
        yield tree
        return
    for part in tree.parts:
        yield from members_of(part)


def rail_of(tree: PatternTree) -> Rail:
    if isinstance(tree, Member):
        return some(_outside_arrays(tree), _in_array(tree))
    if not tree.conjunctive:
        return some(*map(rail_of, tree.parts))
    several: list[Member] = []
    others: list[PatternTree] = []
    for part in tree.parts:
        if isinstance(part, Member) and part.may_be_in_array:
            several.append(part)
        else:
            others.append(part)
    if len(several) <= PRODUCT_MAX:
        return every(*map(rail_of, tree.parts))
    together = some(every(*map(_outside_arrays, several)), *map(_in_array, several))
    return every(together, *map(rail_of, others))


def _outside_arrays(member: Member) -> Rail:
    """Return what is known of a member without its values in arrays that may be no arrays."""
    path = member.path
    absent = complement(_any_value(member)) if member.or_absent else NEVER
    if member.of_any_value:
        return some(_any_value(member), absent)
    if member.shape is PathShape.LIST and member.of_values:
        return some(*(_alone(member, f"{path}[{number}]") for number in range(ELEMENTS_MAX)), absent)
    return some(_alone(member, path), absent)


def _in_array(member: Member) -> Rail:
    """Return where the path has values in an array, of which one may satisfy a condition."""
    if not member.may_be_in_array:
        return NEVER
    return undecided(_elements(member.path), f"the values of {member.path} in an array")


def _alone(member: Member, name: str) -> Rail:
    null = present(f"{name}{NULL}") if member.or_null else NEVER
    return some(*(condition.rail(name) for condition in member.conditions), null)


def _any_value(member: Member) -> Rail:
    """Return where the path has a value."""
    match member.shape:
        case PathShape.TEXT:
            return present(member.path)
        case PathShape.LIST:
            return _elements(member.path)
        case PathShape.ANY:
            return some(present(member.path), present(f"{member.path}{NULL}"), _elements(member.path))


def _elements(path: str) -> Rail:
    return holds(f"{path}{LENGTH}", Op.GT, 0)
