"""A received message: a frame, and what has been decoded of it.

Law: nothing is decoded before it is read; the attributes are decoded once. A message owns its bytes and outlives the
connection; every iterator that yields it yields one and the same object. Fields of a frame that only routers use are
not shown.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Any, TypeVar, overload

from tamis.protocol.values import Value
from tamis.protocol.wire.attributes import decode_attributes
from tamis.protocol.wire.deliver_view import DeliverView, MessageView
from tamis.protocol.wire.header import FLAGS_OFFSET, OWN
from tamis.protocol.wire.numbers import stable_number

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_Default = TypeVar("_Default")


class Message(MessageView):
    """A message that a subscription has yielded: `message["severity"]` is the value of an attribute; KeyError if the
    message has no attribute of that name."""

    __slots__ = {  # noqa: RUF023 - with what `help` says of each
        "_decoded": "The attributes, once they have been read.",
        "matched": "The ids of this client's subscriptions that the message satisfies: see `Subscription.ids`.",
        "frame_bytes": "Bytes of the frame that brought it, which is about what the message takes of an inbox.",
    }

    matched: tuple[int, ...]
    frame_bytes: int

    def __init__(self, frame: bytes, matched: tuple[int, ...] | None = None) -> None:
        """Make the message of a DELIVER frame; FrameError if its header or its list of satisfied subscriptions is
        invalid.

        A caller that has checked both gives `matched`.
        """
        self._frame: bytes = frame
        self.frame_bytes = len(frame)
        self.matched = DeliverView(frame).satisfied if matched is None else matched
        self._decoded: Mapping[str, Value] | None = None

    def __getitem__(self, name: str) -> Value:
        return self.attributes[name]

    def __contains__(self, name: str) -> bool:
        return name in self.attributes

    @overload
    def get(self, name: str) -> Value | None: ...

    @overload
    def get(self, name: str, default: _Default) -> Value | _Default: ...

    def get(self, name: str, default: object = None) -> object:
        """Return the value of an attribute, or `default` if the message has no attribute of that name."""
        return self.attributes.get(name, default)

    @property
    def attributes(self) -> Mapping[str, Value]:
        """All attributes, read-only; FrameError if the bytes are not valid attributes."""
        if self._decoded is None:
            attributes_at, payload_at = self._edges()
            self._decoded = MappingProxyType(decode_attributes(self._frame[attributes_at:payload_at]))
        return self._decoded

    def json(self) -> Any:  # noqa: ANN401
        """Return the payload decoded from JSON, as `publish(json=...)` writes it; ValueError if it is not JSON."""
        return json.loads(self.payload)

    def is_from(self, name: str) -> bool:
        """Return whether the client of this name published the message. Where routers require tokens, that client has
        proved its name. A message carries a number that is computed from the name, and not the name."""
        return self.id.origin == stable_number(name)

    @property
    def own(self) -> bool:
        """Whether this client published the message."""
        return bool(self._frame[FLAGS_OFFSET] & OWN)

    @property
    def time(self) -> datetime | None:
        """When the message was published, by its publisher's clock; `publish_time_ns` has the nanoseconds."""
        return _EPOCH + timedelta(microseconds=self.publish_time_ns // 1000) if self.publish_time_ns else None

    def __repr__(self) -> str:
        return f"<tamis.Message {dict(self.attributes)!r}, {len(self.payload)} bytes, from {self.id.origin:016x}>"


def frame_of(message: Message) -> bytes:
    """Return the DELIVER frame that brought a message."""
    return message._frame
