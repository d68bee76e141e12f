"""R17, the held state: the newest statement about each space, and the spaces that the statements define.

Law: (version, digest) alone decides which statement is in force, independent of the order of arrival. At most
SPACES_MAX spaces of SPACES_BYTES_MAX together are held; a statement beyond that is neither held nor forwarded.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from tamis.protocol.errors import Refused
from tamis.protocol.limits import SPACES_BYTES_MAX, SPACES_MAX
from tamis.protocol.shown import shown
from tamis.protocol.spaces import Space, unpack
from tamis.protocol.wire import numbers
from tamis.protocol.wire.routing_bodies import SpaceStatement

OVERHEAD_BYTES: Final = 192
"""Bytes that a held statement counts for besides its own; a withdrawn space counts, too."""
PROBLEM_MAX: Final = 300
"""Characters of the longest text that explains why a space cannot be decoded: it quotes text from the wire."""


class HeldSpace(NamedTuple):
    statement: SpaceStatement
    digest: bytes
    space: Space | None
    """The space by which messages are validated; None: the space is withdrawn, or cannot be decoded here."""
    problem: str
    """Why the space cannot be decoded here; empty: it is decoded, or withdrawn."""


class KnownSpaces:
    def __init__(self) -> None:
        self.held: dict[str, HeldSpace] = {}
        """Maps a name to the newest statement; read by all parts, written here alone."""
        self.digest = numbers.NO_DIGEST
        """The sum over all held statements, updated with every change."""
        self._bytes = 0

    def is_newer(self, statement: SpaceStatement) -> bool:
        """Return whether `statement` is newer than the statement held of its space."""
        held = self.held.get(statement.name)
        return held is None or (statement.version, statement.digest) > (held.statement.version, held.digest)

    def contradicts(self, statement: SpaceStatement) -> bool:
        """Return whether a different statement is held with the version of `statement`."""
        held = self.held.get(statement.name)
        return held is not None and held.statement.version == statement.version and held.digest != statement.digest

    def has_room_for(self, *statements: SpaceStatement) -> bool:
        """Return whether all `statements`, each about another space, fit the limits."""
        count, size = len(self.held), self._bytes
        for each in statements:
            before = self.held.get(each.name)
            count += before is None
            size += _size(each) - (0 if before is None else _size(before.statement))
            if (before is None and count > SPACES_MAX) or size > SPACES_BYTES_MAX:
                return False
        return True

    def hold(self, statement: SpaceStatement) -> HeldSpace:
        """Replace the statement held of a space by `statement`; return the new entry."""
        before, weight = self.held.get(statement.name), self._weight(statement.name)
        held = self.held[statement.name] = _read(statement)
        self._bytes += _size(statement) - (0 if before is None else _size(before.statement))
        self.digest = numbers.exchange(self.digest, weight, self._weight(statement.name))
        return held

    @property
    def statements(self) -> list[SpaceStatement]:
        return [held.statement for held in self.held.values()]

    @property
    def in_force(self) -> Mapping[str, Space]:
        """The spaces by which messages are validated, ordered by name, which gives all routers one order."""
        return {name: held.space for name, held in sorted(self.held.items()) if held.space is not None}

    def _weight(self, name: str) -> bytes:
        held = self.held.get(name)
        return numbers.space_digest(name, held.statement.version, held.digest) if held else numbers.NO_DIGEST


def _read(statement: SpaceStatement) -> HeldSpace:
    try:
        space = unpack(statement.packed, statement.version) if statement.packed else None
    except Refused as error:
        return HeldSpace(statement, statement.digest, None, shown(str(error)[:PROBLEM_MAX]))
    if space is not None and space.name != statement.name:
        return HeldSpace(statement, statement.digest, None, f"its content has the name {space.name}")
    return HeldSpace(statement, statement.digest, space, "")


def _size(statement: SpaceStatement) -> int:
    return len(statement.packed) + OVERHEAD_BYTES
