"""Spaces: which attributes messages of one kind have, and which values each may take.

    text of a file, wire body -> mapping.py -> Space -> check(message)          why a message is invalid
                                                     -> changes.compare(a, b)   what a change breaks
                                                     -> language/in_space.py    predicates on its messages

Law: a space that exists is within its limits. Nothing here reads a clock or a socket, or needs the C part: the switch
checks messages by a compiled form of the same spaces (`native/spaces.py`), and a test holds both to one answer.
"""

from __future__ import annotations

from tamis.protocol.spaces.changes import Change, ChangeKind, compare
from tamis.protocol.spaces.domains import (
    ChoiceDomain,
    Domain,
    FixedDomain,
    IntegerDomain,
    NumberDomain,
    TextDomain,
    TruthDomain,
    Violation,
)
from tamis.protocol.spaces.mapping import digest, pack, packed_digest, space_from, space_to_mapping, unpack
from tamis.protocol.spaces.space import NO_SPACES, Space, SpaceAttribute, SpaceRefusal, SpaceSet

__all__ = [
    "Space",
    "SpaceAttribute",
    "SpaceSet",
    "NO_SPACES",
    "SpaceRefusal",
    "Violation",
    "Domain",
    "TextDomain",
    "TruthDomain",
    "NumberDomain",
    "IntegerDomain",
    "FixedDomain",
    "ChoiceDomain",
    "space_from",
    "space_to_mapping",
    "pack",
    "unpack",
    "digest",
    "packed_digest",
    "compare",
    "Change",
    "ChangeKind",
]
