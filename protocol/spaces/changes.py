"""The effect of a change of a space on its users.

Law: after a widening each valid message is still valid, and each valid predicate text is valid and has its old meaning
for those messages. Any other change is a narrowing, with a reason for each attribute that it may break. A reason is
given if a message or a predicate could break, whether or not one exists.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass

from tamis.protocol.spaces.domains import (
    ChoiceDomain,
    Domain,
    FixedDomain,
    IntegerDomain,
    NumberDomain,
    TextDomain,
)
from tamis.protocol.spaces.space import Space, SpaceAttribute


class ChangeKind(enum.Enum):
    SAME = "same"
    WIDENING = "widening"
    NARROWING = "narrowing"


@dataclass(frozen=True, slots=True)
class Change:
    """The effect of a change, and for a narrowing a sentence for each thing that may break."""

    kind: ChangeKind
    reasons: tuple[str, ...] = ()


def compare(old: Space, new: Space) -> Change:
    """Return the effect of replacing the old space by `new`; versions are ignored."""
    if old == new:
        return Change(ChangeKind.SAME)
    reasons = tuple(_reasons(old, new))
    return Change(ChangeKind.NARROWING if reasons else ChangeKind.WIDENING, reasons)


def _reasons(old: Space, new: Space) -> Iterator[str]:
    if old.name != new.name:
        yield f"the name {old.name} becomes {new.name}"
    if old.is_open and not new.is_open:
        yield "the space was open, and undeclared attributes are refused now"
    for name, said in old.attributes.items():
        if name in new.attributes:
            yield from _of_change(name, said, new.attributes[name])
        else:
            yield from _of_removal(name, said.domain, new)
    for name, said in new.attributes.items():
        if name not in old.attributes:
            yield from _of_addition(name, said, old)


def _of_change(name: str, old: SpaceAttribute, new: SpaceAttribute) -> Iterator[str]:
    if old.is_optional and not new.is_optional:
        yield f"attribute {name} was optional, and is required now"
    if not includes(new.domain, old.domain):
        yield f"attribute {name} was {old.domain.allowed}, and is {new.domain.allowed} now"


def _of_addition(name: str, said: SpaceAttribute, old: Space) -> Iterator[str]:
    if not said.is_optional:
        yield f"attribute {name} is new and required"
    elif old.is_open:
        yield f"attribute {name} could have any value, and is {said.domain.allowed} now"


def _of_removal(name: str, domain: Domain, new: Space) -> Iterator[str]:
    if not new.is_open:
        yield f"attribute {name} is no longer declared"
    elif isinstance(domain, ChoiceDomain):
        yield f"attribute {name} loses the order of its values"


def includes(wide: Domain, narrow: Domain) -> bool:
    """Return whether `wide` has each value of `narrow`, and orders them equally."""
    match narrow, wide:
        case ChoiceDomain(), ChoiceDomain():
            kept = [value for value in wide.values if value in narrow.ranks]
            return kept == list(narrow.values)
        case (ChoiceDomain(), TextDomain()) | (TextDomain(), ChoiceDomain()):
            return False
        case (IntegerDomain() | FixedDomain(), NumberDomain()):
            return True
        case (IntegerDomain() | FixedDomain(), IntegerDomain() | FixedDomain()):
            return _is_within(narrow, wide)
        case _:
            return narrow == wide


def _is_within(narrow: IntegerDomain | FixedDomain, wide: IntegerDomain | FixedDomain) -> bool:
    """Return whether each number of `narrow` is one of `wide`. A single number may have fewer digits than its
    domain."""
    step = 10 ** max(narrow.digits - wide.digits, 0)
    is_fine_enough = step == 1 or (narrow.low == narrow.high and narrow.low % step == 0)
    scale = 10 ** max(narrow.digits, wide.digits)
    here, there = scale // 10**narrow.digits, scale // 10**wide.digits
    return is_fine_enough and wide.low * there <= narrow.low * here and narrow.high * here <= wide.high * there
