"""A space as plain data: its form in files, and its bytes on the wire.

    trades:
      version: 2                                          # 1 without it
      open: false                                         # true: messages may have other attributes
      attributes:
        issue: string                                     # or boolean, number
        price: {fixed: [0, 10000], digits: 2}             # decimal numbers of two digits
        volume: {integer: [0, 1000000], optional: true}
        side: {one_of: [buy, sell]}                       # in this order
        note: {kind: string, optional: true}

Law: `space_from(name, space_to_mapping(space))` is the space, its version included, and so is `unpack(pack(space),
space.version)`. Spaces that are equal except for their versions have equal bytes, and `unpack` accepts no other bytes.
A mistake is a Refused that names the key.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from reprlib import repr as shortened
from typing import Any, Final

from tamis.protocol import limits
from tamis.protocol.errors import Refused
from tamis.protocol.spaces.domains import (
    ChoiceDomain,
    Domain,
    FixedDomain,
    IntegerDomain,
    NumberDomain,
    TextDomain,
    TruthDomain,
)
from tamis.protocol.spaces.space import Space, SpaceAttribute, check_space_name

PLAIN_KINDS: Final[dict[str, Domain]] = {"string": TextDomain(), "boolean": TruthDomain(), "number": NumberDomain()}
_DOMAIN_KEYS = ("kind", "integer", "fixed", "one_of")
_ATTRIBUTE_KEYS = (*_DOMAIN_KEYS, "digits", "optional")
_SPACE_KEYS = ("version", "open", "attributes")


def space_from(name: str, mapping: object) -> Space:
    """Return the space of that name; Refused names the invalid key."""
    check_space_name(name)
    try:
        said = _mapping(mapping, _SPACE_KEYS)
        attributes = said.get("attributes", {})
        if not isinstance(attributes, Mapping):
            raise Refused(f"attributes: a mapping of names to domains, not {shortened(attributes)}")
        version = said.get("version", 1)
        if isinstance(version, bool) or not isinstance(version, int):
            raise Refused(f"version: an integer, not {shortened(version)}")
        return Space(
            name,
            {key: _named_attribute(key, value) for key, value in attributes.items()},
            _boolean(said, "open"),
            version,
        )
    except Refused as error:
        raise Refused(f"space {name}: {error}") from None


def attribute_from(said: object) -> SpaceAttribute:
    """Return the declaration of one attribute, from a word or a mapping."""
    if isinstance(said, str):
        said = {"kind": said}
    keys = _mapping(said, _ATTRIBUTE_KEYS)
    named = [key for key in _DOMAIN_KEYS if key in keys]
    if len(named) != 1:
        raise Refused(f"give the domain by one of kind, integer, fixed and one_of, not {' and '.join(named) or 'none'}")
    if "digits" in keys and named != ["fixed"]:
        raise Refused(f"digits: only for fixed, not for {named[0]}")
    return SpaceAttribute(_domain(named[0], keys), _boolean(keys, "optional"))


def space_to_mapping(space: Space) -> dict[str, Any]:
    """Return the space in the form of files, without its name."""
    return {
        "version": space.version,
        "open": space.is_open,
        "attributes": {name: attribute_to_mapping(said) for name, said in space.attributes.items()},
    }


def attribute_to_mapping(said: SpaceAttribute) -> str | dict[str, Any]:
    written = _written(said.domain)
    if not said.is_optional:
        plain: str | dict[str, Any] = written.get("kind", written)
        return plain
    return {**written, "optional": True}


def pack(space: Space) -> bytes:
    """Return the bytes of the space: with its name, without its version. Refused if it is too large."""
    packed = _said(space)
    if len(packed) > limits.SPACE_BYTES_MAX:
        raise Refused(f"space {space.name}: at most {limits.SPACE_BYTES_MAX} bytes, this one has {len(packed)}")
    return packed


def unpack(data: bytes, version: int = 1) -> Space:
    """Return the space of these bytes, in that version; Refused if they are invalid, or differ from what `pack`
    writes."""
    if len(data) > limits.SPACE_BYTES_MAX:
        raise Refused(f"a space has at most {limits.SPACE_BYTES_MAX} bytes, this one has {len(data)}")
    try:
        said = json.loads(data.decode())
    except (ValueError, RecursionError) as error:
        raise Refused(f"a space is sent as JSON: {error}") from None
    if not isinstance(said, dict):
        raise Refused("a space is sent as a JSON object")
    if "version" in said:
        raise Refused("a space is sent without its version, which is a field of its own")
    space = space_from(said.pop("name", ""), {**said, "version": version})
    if _said(space) != data:
        raise Refused(f"space {space.name}: bytes differ from the packed form of this space")
    return space


def digest(space: Space) -> bytes:
    """Return 16 bytes that are equal for equal spaces, on every machine; the version is ignored."""
    return packed_digest(_said(space))


def packed_digest(packed: bytes) -> bytes:
    """Return the digest of a packed space."""
    return hashlib.blake2b(packed, digest_size=limits.DIGEST_BYTES).digest()


def _said(space: Space) -> bytes:
    said = space_to_mapping(space)
    del said["version"]
    return json.dumps({"name": space.name, **said}, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


def _written(domain: Domain) -> dict[str, Any]:
    match domain:
        case IntegerDomain(low, high):
            return {"integer": [low, high]}
        case FixedDomain(digits=digits):
            return {"fixed": [*domain.bounds], "digits": digits}
        case ChoiceDomain(values):
            return {"one_of": [*values]}
        case _:
            return {"kind": next(kind for kind, plain in PLAIN_KINDS.items() if plain == domain)}


def _domain(key: str, said: Mapping[str, Any]) -> Domain:
    value = said[key]
    if key == "kind":
        if not isinstance(value, str) or value not in PLAIN_KINDS:
            raise Refused(f"kind: {', '.join(PLAIN_KINDS)}, not {shortened(value)}")
        return PLAIN_KINDS[value]
    if not isinstance(value, list | tuple):
        raise Refused(f"{key}: a list, not {shortened(value)}")
    if key == "one_of":
        return ChoiceDomain(tuple(value))
    if len(value) != 2:
        raise Refused(f"{key}: two bounds, not {len(value)}")
    if key == "integer":
        return IntegerDomain(value[0], value[1])
    if "digits" not in said:
        raise Refused("digits: missing; fixed needs 0 to 9 digits behind the point")
    return FixedDomain.between(value[0], value[1], said["digits"])


def _named_attribute(name: object, said: object) -> SpaceAttribute:
    try:
        return attribute_from(said)
    except Refused as error:
        raise Refused(f"attribute {name}: {error}") from None


def _mapping(said: object, keys: tuple[str, ...]) -> Mapping[str, Any]:
    if not isinstance(said, Mapping):
        raise Refused(f"a mapping of {', '.join(keys)}, not {shortened(said)}")
    for key in said:
        if key not in keys:
            raise Refused(f"no key {shortened(key)}; the keys are {', '.join(keys)}")
    return said


def _boolean(said: Mapping[str, Any], key: str) -> bool:
    value = said.get(key, False)
    if not isinstance(value, bool):
        raise Refused(f"{key}: true or false, not {shortened(value)}")
    return value
