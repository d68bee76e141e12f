"""Principals: the names of the rules, with the class and the digests of each, in one compact table.

Law: the principal of a name is its exact line, else the longest listed name before one of its `/`: `a/b/c` is `a/b` if
that is listed, else `a`. A part of a segment is no prefix: `fleet` is not the principal of `fleet2/x`. A table is
immutable; names are sorted bytes, so that 100,000 principals take their names and some 40 bytes each.
"""

from __future__ import annotations

import hashlib
import hmac
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import groupby, pairwise
from typing import Final, NamedTuple

DIGEST_BYTES: Final = 32
DIGESTS_MAX: Final = 2
"""Tokens of one principal at a time, so that they can be changed without an outage."""
PRINCIPALS_MAX: Final = 200_000
ROLES_PER_PRINCIPAL_MAX: Final = 16
CLASSES_MAX: Final = 4_096
"""Different sets of roles; each is a plan in a router."""
SUB_NAMES_BEGIN: Final = "/"
_STAR: Final = "*"


class PrincipalLine(NamedTuple):
    """One principal: its name in UTF-8, the number of its class, and the SHA-256 digests of its tokens, joined."""

    name: bytes
    class_number: int
    digests: bytes = b""


class PrincipalTable:
    """The lines of all principals without a star, by name."""

    def __init__(self, lines: Iterable[PrincipalLine]) -> None:
        self._pack(lines)
        names = [self._name(at) for at in range(len(self))]
        if any(name > after for name, after in pairwise(names)):
            order = sorted(range(len(names)), key=names.__getitem__)
            self._pack(self._line(at) for at in order)

    def _pack(self, lines: Iterable[PrincipalLine]) -> None:
        names, digests = bytearray(), bytearray()
        classes, name_ends, digest_ends = array("H"), array("I", [0]), array("I", [0])
        for name, class_number, shown in lines:
            names += name
            digests += shown
            classes.append(class_number)
            name_ends.append(len(names))
            digest_ends.append(len(digests))
        self._names, self._digests, self._classes = bytes(names), bytes(digests), classes
        self._name_ends, self._digest_ends = name_ends, digest_ends

    def _line(self, at: int) -> PrincipalLine:
        digests = self._digests[self._digest_ends[at] : self._digest_ends[at + 1]]
        return PrincipalLine(self._name(at), self._classes[at], digests)

    def __len__(self) -> int:
        return len(self._classes)

    def __iter__(self) -> Iterator[tuple[str, int]]:
        """Yield name and class of each principal, sorted."""
        return ((self._name(at).decode(), self._classes[at]) for at in range(len(self)))

    def resolve(self, name: str) -> tuple[str, int] | None:
        """Return name and class of the principal of `name`; None if there is none."""
        at = self._resolved(name)
        return None if at is None else (self._name(at).decode(), self._classes[at])

    def shows(self, name: str, token: bytes) -> bool:
        """Return whether `token` is one of the tokens of the principal of `name`. An unknown name takes as long as a
        wrong token."""
        return self.shows_digest(name, hashlib.sha256(token).digest())

    def shows_digest(self, name: str, shown: bytes) -> bool:
        """Return whether `shown` is the digest of one of the tokens of the principal of `name`."""
        at = self._resolved(name)
        first, end = (0, 0) if at is None else (self._digest_ends[at], self._digest_ends[at + 1])
        known = [self._digests[start : start + DIGEST_BYTES] for start in range(first, end, DIGEST_BYTES)]
        padded = [*known, *[bytes(DIGEST_BYTES)] * (DIGESTS_MAX - len(known))]
        equal = [hmac.compare_digest(digest, shown) for digest in padded]
        return any(equal[: len(known)])

    def has_token(self, name: str) -> bool:
        """Return whether the line with exactly this name has a token."""
        at = self._find(name.encode())
        return at is not None and self._digest_ends[at] < self._digest_ends[at + 1]

    def repeated(self) -> Iterator[bytes]:
        """Yield each name that several lines have."""
        return (name for name, group in groupby(map(self._name, range(len(self)))) if sum(1 for _ in group) > 1)

    @property
    def digest(self) -> bytes:
        """Tells two tables apart, if names, classes or tokens differ."""
        arrays = (self._classes, self._name_ends, self._digest_ends)
        return hashlib.sha256(b"".join([self._names, self._digests, *map(bytes, arrays)])).digest()

    @property
    def memory_bytes(self) -> int:
        """Bytes of all principals in memory."""
        arrays = (self._classes, self._name_ends, self._digest_ends)
        return len(self._names) + len(self._digests) + sum(len(each) * each.itemsize for each in arrays)

    def _resolved(self, name: str) -> int | None:
        while True:
            at = self._find(name.encode())
            if at is not None:
                return at
            name, slash, _ = name.rpartition(SUB_NAMES_BEGIN)
            if not slash:
                return None

    def _find(self, name: bytes) -> int | None:
        at = bisect_left(range(len(self)), name, key=self._name)
        return at if at < len(self) and self._name(at) == name else None

    def _name(self, at: int) -> bytes:
        return self._names[self._name_ends[at] : self._name_ends[at + 1]]


class Certificates:
    """The principals that are proven by a name in a certificate, some of them with a star for one label."""

    def __init__(self, classes: Iterable[tuple[str, int]]) -> None:
        self._exact = dict(classes)
        self._open = [(_labels(name), name) for name in self._exact if _STAR in name]

    def __iter__(self) -> Iterator[tuple[str, int]]:
        return iter(self._exact.items())

    def resolve(self, name: str) -> tuple[str, int] | None:
        """Return pattern and class of a name (SAN) of a certificate: its exact line, else the first pattern that it
        matches; None if there is none."""
        if _STAR in name:
            return None
        pattern = name if name in self._exact else self._pattern(name)
        return None if pattern is None else (pattern, self._exact[pattern])

    def _pattern(self, name: str) -> str | None:
        labels = _labels(name)
        for pattern, written in self._open:
            if len(pattern) == len(labels) and all(
                want == label or (want == _STAR and label) for want, label in zip(pattern, labels, strict=True)
            ):
                return written
        return None


def _labels(name: str) -> list[str]:
    """Return the parts of a DNS name, or of a URI."""
    return name.split("/") if "://" in name else name.split(".")
