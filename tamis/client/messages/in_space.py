"""Spaces in the client: the definitions given to `connect`, and the check of a message of a space.

Law: a message published under a known space is checked before it is sent, by the rules that the router applies, so a
mistake is reported where it was made.
"""

from __future__ import annotations

from collections.abc import Mapping

from tamis.protocol.errors import Refused
from tamis.protocol.spaces import NO_SPACES, Space, SpaceSet, space_from
from tamis.protocol.values import Value


def spaces_of(told: SpaceSet | Mapping[str, object] | None) -> SpaceSet:
    """Return the spaces given to `connect`: a SpaceSet, or a mapping of names to the definitions of a topology file."""
    if told is None:
        return NO_SPACES
    if isinstance(told, SpaceSet):
        return told
    if not isinstance(told, Mapping):
        raise Refused(f"spaces is a mapping of names to spaces, not {type(told).__name__}")
    return SpaceSet({name: said if isinstance(said, Space) else space_from(name, said) for name, said in told.items()})


def message_of(attributes: Mapping[str, Value], space: str, known: SpaceSet) -> dict[str, Value]:
    """Return the attributes of a message of `space`; Refused if they name another space, or violate its definition."""
    if not isinstance(space, str):
        raise Refused(f"space is text, the name of a space, not {type(space).__name__}")
    named = attributes.get(known.naming, space)
    if named != space:
        raise Refused(f"attribute {known.naming} is {named!r}, and the message is published in space {space!r}")
    whole = {**attributes, known.naming: space}
    if known.spaces and space not in known.spaces:
        raise Refused(f"no space {space!r}; the spaces are {known.known}")
    refusal = known.check(whole)
    if refusal is not None:
        raise Refused(str(refusal))
    return whole
