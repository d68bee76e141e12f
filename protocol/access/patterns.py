"""Patterns of the names of durable subscriptions and worker groups: `orders`, `orders-*`, `${name}/*`.

Law: a pattern is a name, or the beginning of names if it ends with `*`; a star anywhere else is refused. `${name}` is
the full name of the connection that is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from tamis.protocol.access.rule import NAME, TENANT
from tamis.protocol.errors import Refused
from tamis.protocol.peer_names import check_peer_name

_STAR: Final = "*"


@dataclass(frozen=True, slots=True)
class NamePattern:
    """`text` is as written; `stem` is it without its star."""

    text: str
    stem: str
    is_open: bool
    """Whether names that only begin with the stem match."""

    def matches(self, name: str, own: str) -> bool:
        """Return whether `name` matches for the connection with the name `own`."""
        stem = self.stem.replace(NAME, own)
        return name.startswith(stem) if self.is_open else name == stem

    def may_share(self, other: NamePattern) -> bool:
        """Return whether some name may match both, for some connections."""
        mine, theirs = self._fixed, other._fixed
        if mine.is_open and theirs.is_open:
            return mine.stem.startswith(theirs.stem) or theirs.stem.startswith(mine.stem)
        if mine.is_open or theirs.is_open:
            wide, narrow = (mine, theirs) if mine.is_open else (theirs, mine)
            return narrow.stem.startswith(wide.stem)
        return mine.stem == theirs.stem

    @property
    def _fixed(self) -> NamePattern:
        """The pattern of all names that may match for some connection."""
        before, name, _ = self.stem.partition(NAME)
        return NamePattern(self.text, before, is_open=self.is_open or bool(name))


def read_pattern(text: str) -> NamePattern:
    """Return the pattern of a text; Refused with the reason if it is none."""
    stem = text.removesuffix(_STAR)
    if _STAR in stem:
        raise Refused("a pattern has one star, at its end")
    if TENANT in stem:
        raise Refused(f"{TENANT} comes later: a network has one tenant in this release")
    if "${" in stem.replace(NAME, ""):
        raise Refused(f"a pattern knows {NAME} alone")
    if stem.strip():
        check_peer_name(stem.strip(), "a pattern")
    elif text != _STAR:
        raise Refused("a pattern has at least one character; `*` is for all names")
    return NamePattern(text, stem, text.endswith(_STAR))


def first_match(patterns: Iterable[NamePattern], name: str, own: str) -> NamePattern | None:
    """Return the first of the patterns that `name` matches for the connection with the name `own`."""
    return next((pattern for pattern in patterns if pattern.matches(name, own)), None)
