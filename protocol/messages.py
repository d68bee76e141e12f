"""A message: named, typed attributes that routers match, and a payload that they do not read.

Law: a message that exists is valid. `attributes` is read-only and in the order of its writer, which has no meaning.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from tamis.protocol import limits
from tamis.protocol.errors import Refused
from tamis.protocol.values import Value, check_name, check_value, identity


class MessageId(NamedTuple):
    """The identity of a message from end to end: the publisher's number and the publisher's counter, both unsigned 64
    bit. (0, 0) means "none yet"."""

    origin: int = 0
    counter: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Message:
    attributes: Mapping[str, Value]
    payload: bytes = b""
    id: MessageId = field(default=MessageId())

    def __post_init__(self) -> None:
        object.__setattr__(self, "attributes", MappingProxyType(check_attributes(dict(self.attributes))))

    def __eq__(self, other: object) -> bool:
        """Return whether attributes (1 and 1.0 are one value, 1 and true are two), payload and id are equal."""
        if not isinstance(other, Message):
            return NotImplemented
        return self.id == other.id and self.payload == other.payload and self._content() == other._content()

    def __hash__(self) -> int:
        return hash((self.id, self.payload, frozenset(self._content().items())))

    def _content(self) -> dict[str, tuple[int, Value]]:
        return {name: identity(value) for name, value in self.attributes.items()}


def check_attributes(attributes: dict[str, Value]) -> dict[str, Value]:
    """Return `attributes` itself if a message may have them; otherwise Refused names the attribute and the rule."""
    if len(attributes) > limits.ATTRIBUTES_MAX:
        raise Refused(f"a message has at most {limits.ATTRIBUTES_MAX} attributes, this one has {len(attributes)}")
    return check_each(attributes)


def check_each(attributes: dict[str, Value]) -> dict[str, Value]:
    """Return `attributes` itself if each of them may stand in a message; otherwise as `check_attributes`."""
    for name, value in attributes.items():
        check_name(name)
        try:
            check_value(value)
        except Refused as error:
            raise Refused(f"attribute {name!r}: {error}") from None
    return attributes
