"""A space: the attributes of its messages; and the set of all spaces of a router.

Law: a message belongs to the space that its naming attribute (`type` by default) names. It is valid if each attribute
that the space requires is present, each declared one is in its domain, and others are present only if the space is
open. The first violation in the order of the message is reported, then the first missing attribute by name, so all
programs report one violation for one message.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from reprlib import repr as shortened
from types import MappingProxyType

from tamis.protocol import limits
from tamis.protocol.errors import Refused
from tamis.protocol.spaces.domains import Domain, Violation
from tamis.protocol.values import Value, check_name

SPACE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
NAMING = "type"
"""The attribute whose value names the space of a message, unless the topology file names another."""


@dataclass(frozen=True, slots=True)
class SpaceAttribute:
    """The declaration of one attribute."""

    domain: Domain
    is_optional: bool = False

    @property
    def allowed(self) -> str:
        return f"{self.domain.allowed}, or absent" if self.is_optional else self.domain.allowed


@dataclass(frozen=True, slots=True)
class SpaceRefusal:
    """Why a message violates the space: the attribute, the violation, and the valid values."""

    space: str
    attribute: str
    violation: Violation
    allowed: str

    def __str__(self) -> str:
        return refusal_text(self.space, self.attribute, self.violation.text, self.allowed)


def refusal_text(space: str, attribute: str, what: str, allowed: str) -> str:
    """Return the sentence that refuses a message or a predicate."""
    where = f"space {space}: " if space else ""
    return f"{where}attribute {attribute} {what}; allowed: {allowed}"


@dataclass(frozen=True)
class Space:
    """One space, its attributes sorted by name. `version` counts its changes and is no part of its meaning."""

    name: str
    attributes: Mapping[str, SpaceAttribute]
    is_open: bool = False
    version: int = 1

    def __post_init__(self) -> None:
        check_space_name(self.name)
        if not 1 <= self.version <= limits.INT_MAX:
            raise Refused(f"version: 1 to {limits.INT_MAX}, not {self.version}")
        if len(self.attributes) > limits.SPACE_ATTRIBUTES_MAX:
            raise Refused(
                f"attributes: a space has at most {limits.SPACE_ATTRIBUTES_MAX}, this one {len(self.attributes)}"
            )
        for name in self.attributes:
            check_name(name)
        object.__setattr__(self, "attributes", MappingProxyType(dict(sorted(self.attributes.items()))))

    def __eq__(self, other: object) -> bool:
        """Return whether both spaces are equal except for their versions."""
        return self._said == other._said if isinstance(other, Space) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.name, self.is_open, frozenset(self.attributes.items())))

    @property
    def _said(self) -> tuple[object, ...]:
        return (self.name, self.is_open, dict(self.attributes))

    def check(self, attributes: Mapping[str, Value], naming: str = NAMING) -> SpaceRefusal | None:
        """Return why a message with these attributes violates the space, or None. The attribute `naming` is ignored."""
        for name, value in attributes.items():
            declared = self.attributes.get(name)
            if name == naming or (declared is None and self.is_open):
                continue
            if declared is None:
                return SpaceRefusal(self.name, name, Violation.UNDECLARED, self.declared)
            violation = declared.domain.violation(value)
            if violation is not None:
                return SpaceRefusal(self.name, name, violation, declared.allowed)
        for name, declared in self.attributes.items():
            if not declared.is_optional and name not in attributes:
                return SpaceRefusal(self.name, name, Violation.MISSING, declared.allowed)
        return None

    @property
    def declared(self) -> str:
        """The names of the attributes, for the text of a refusal."""
        shown = ", ".join([*self.attributes][:_NAMES_SHOWN])
        return f"{shown}, ..." if len(self.attributes) > _NAMES_SHOWN else shown or "no attribute"


_NAMES_SHOWN = 8


@dataclass(frozen=True)
class SpaceSet:
    """All spaces of a router, by name, and the rule for messages that name none of them."""

    spaces: Mapping[str, Space] = field(default_factory=dict)
    naming: str = NAMING
    refuses_unknown: bool = False

    def __post_init__(self) -> None:
        check_name(self.naming)
        if len(self.spaces) > limits.SPACES_MAX:
            raise Refused(f"spaces: at most {limits.SPACES_MAX}, these are {len(self.spaces)}")
        for name, space in self.spaces.items():
            if name != space.name:
                raise Refused(f"spaces: the space {space.name} is listed as {name}")
            if self.naming in space.attributes:
                raise Refused(
                    f"space {name}: attribute {self.naming} names the space of a message and is not declared in it"
                )
        object.__setattr__(self, "spaces", MappingProxyType(dict(self.spaces)))

    def __hash__(self) -> int:
        return hash((self.naming, self.refuses_unknown, *self.spaces.values()))

    def __bool__(self) -> bool:
        """Return whether there is anything to check."""
        return bool(self.spaces) or self.refuses_unknown

    def check(self, attributes: Mapping[str, Value]) -> SpaceRefusal | None:
        """Return why a message with these attributes may not enter here, or None."""
        name = attributes.get(self.naming)
        space = self.spaces.get(name) if isinstance(name, str) else None
        if space is not None:
            return space.check(attributes, self.naming)
        if self.refuses_unknown:
            return SpaceRefusal("", self.naming, Violation.NO_SPACE, self.known)
        return None

    @property
    def known(self) -> str:
        """The names of the spaces, for the text of a refusal."""
        shown = ", ".join([*self.spaces][:_NAMES_SHOWN])
        return f"{shown}, ..." if len(self.spaces) > _NAMES_SHOWN else shown or "no space is known"


NO_SPACES = SpaceSet()


def check_space_name(name: object) -> str:
    """Return `name` itself if it is a valid name of a space; otherwise Refused with the reason."""
    if not isinstance(name, str) or not SPACE_NAME.fullmatch(name):
        raise Refused(
            f"a space is named by letters, digits, `_`, `.` and `-`, with a letter or `_` first, not {shortened(name)}"
        )
    if len(name) > limits.SPACE_NAME_BYTES_MAX:
        raise Refused(f"the name of a space has at most {limits.SPACE_NAME_BYTES_MAX} bytes, this one has {len(name)}")
    return name
