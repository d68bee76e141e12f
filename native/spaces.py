"""Spaces in packed form, by which the switch validates messages.

Law: the packed form is equivalent to the space; `native/model/space.c` reads it. It has the sentences for people, so
that Python and C report a violation in equal words.
"""

from __future__ import annotations

from typing import Any, Final

import msgpack

from tamis.protocol.spaces import (
    ChoiceDomain,
    Domain,
    FixedDomain,
    IntegerDomain,
    NumberDomain,
    Space,
    SpaceAttribute,
    SpaceSet,
    TextDomain,
    TruthDomain,
)

_KINDS: Final = (TextDomain, TruthDomain, NumberDomain, IntegerDomain, FixedDomain, ChoiceDomain)
"""Domains in the order of tm_domain_kind."""


def pack_spaces(spaces: SpaceSet) -> bytes:
    """Return the packed form for `tm_switch_spaces`; b"" if there is nothing to check."""
    if not spaces:
        return b""
    rows = [_space(space) for space in spaces.spaces.values()]
    packed = [spaces.naming, int(spaces.refuses_unknown), spaces.known, [*spaces.spaces], rows]
    return bytes(msgpack.packb(packed))


def _space(space: Space) -> list[Any]:
    return [int(space.is_open), space.declared, [_attribute(name, said) for name, said in space.attributes.items()]]


def _attribute(name: str, said: SpaceAttribute) -> list[Any]:
    low, high, digits, values = _parts(said.domain)
    kind = _KINDS.index(type(said.domain))
    return [name, int(said.is_optional), said.allowed, kind, low, high, digits, values]


def _parts(domain: Domain) -> tuple[int, int, int, list[str]]:
    match domain:
        case IntegerDomain() | FixedDomain():
            return domain.low, domain.high, domain.digits, []
        case ChoiceDomain(values):
            return 0, 0, 0, list(values)
        case _:
            return 0, 0, 0, []
