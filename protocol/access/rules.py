"""The rules of a network: roles, classes and principals.

Law: classes are numbered by their sets of roles, and two sets never share a class. `of` is the only way from a name to
rights; a name without a principal has none.
"""

from __future__ import annotations

import enum
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from tamis.protocol.access.issuers import Issuer
from tamis.protocol.access.principals import (
    CLASSES_MAX,
    ROLES_PER_PRINCIPAL_MAX,
    Certificates,
    PrincipalTable,
)
from tamis.protocol.access.rights import ClassRights
from tamis.protocol.access.role import AccessRole
from tamis.protocol.errors import Refused


class AccessMode(enum.Enum):
    """`OBSERVE`: decisions are recorded, and everything passes."""

    OBSERVE = "observe"
    ENFORCE = "enforce"


class Classes:
    """The classes of principals, numbered from 0 as their sets of roles first occur."""

    def __init__(self, roles: Mapping[str, AccessRole]) -> None:
        self._roles = roles
        self._numbers: dict[frozenset[str], int] = {}
        self.rights: list[ClassRights] = []

    def number(self, names: Iterable[str]) -> int:
        """Return the class of principals with these roles, which exist. Raise Refused if there are too many."""
        held = frozenset(names)
        number = self._numbers.get(held)
        if number is None:
            if len(self.rights) == CLASSES_MAX:
                raise Refused(f"principals have at most {CLASSES_MAX:,} different sets of roles")
            number = self._numbers[held] = len(self.rights)
            self.rights.append(ClassRights(self._roles[name] for name in held))
        return number


@dataclass(frozen=True, slots=True)
class Principal:
    """A line of the rules, and what it may do."""

    line: str
    rights: ClassRights


@dataclass(frozen=True, slots=True)
class AccessRules:
    """All rules of a file. `classes` are indexed by class number."""

    mode: AccessMode
    roles: Mapping[str, AccessRole]
    classes: Classes
    principals: PrincipalTable
    certificates: Certificates
    issuers: tuple[Issuer, ...] = ()
    audits: bool = True
    """Whether routers with a folder for their data write an audit log."""
    digest: str = ""
    """Tells two sets of rules apart."""
    is_strict: bool = False
    """Whether neighbours with other rules are refused."""

    @property
    def count(self) -> int:
        """The number of principals."""
        return sum(1 for _ in self.lines())

    def lines(self) -> Iterator[tuple[str, int]]:
        """Yield name and class of each principal, first those with tokens."""
        yield from self.principals
        yield from ((name, number) for name, number in self.certificates if not self.principals.has_token(name))

    def of(self, name: str) -> Principal | None:
        """Return the principal of a client with this name; None if there is none."""
        return self._principal(self.principals.resolve(name) or self.certificates.resolve(name))

    def of_certificate(self, name: str) -> Principal | None:
        """Return the principal of a client whose certificate has this name; None if there is none."""
        return self._principal(self.certificates.resolve(name))

    def agree(self, names: Collection[str]) -> bool:
        """Return whether a principal may have all of these roles, which exist: no two stamp one attribute with two
        values."""
        stamps = {
            (attribute, type(value), value) for name in names for attribute, value in self.roles[name].stamp.items()
        }
        return len(names) <= ROLES_PER_PRINCIPAL_MAX and len({attribute for attribute, *_ in stamps}) == len(stamps)

    def _principal(self, found: tuple[str, int] | None) -> Principal | None:
        return None if found is None else Principal(found[0], self.classes.rights[found[1]])
