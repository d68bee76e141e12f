"""The arguments of publishing calls: attributes with a payload, or with a value for JSON.

Law: a message that cannot be published is Refused with a sentence that names the invalid value and the valid ones.
"""

from __future__ import annotations

import enum
import json as json_
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from tamis.client.errors import PublishRefused, PublishUnknown
from tamis.protocol.amounts import Duration, milliseconds_of
from tamis.protocol.errors import Refused
from tamis.protocol.values import Value

Item = Mapping[str, Value] | tuple[Mapping[str, Value], bytes]
"""A message for `publish_many`: attributes, or attributes and payload."""
OnFailed = Callable[[PublishRefused | PublishUnknown], object]
"""The callback of `publish_many` for each message that the router refused, or whose outcome is unknown."""


class Json(enum.Enum):
    """The default of `json=`, for which None is a valid value."""

    ABSENT = "no json="


ABSENT: Final = Json.ABSENT
NEVER: Final = 0
"""The expiry time of a message that never expires."""
TTL_MS_MAX: Final = 100 * 365 * 86_400_000


def payload_of(payload: bytes, json: object) -> bytes:
    """Return `payload`, or `json` in UTF-8 if that is given."""
    if json is ABSENT:
        return payload
    if payload:
        raise Refused("a message has payload= or json=, and not both")
    try:
        return json_.dumps(json, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise Refused(f"json={type(json).__name__} cannot be written: {error}") from None


def expires_ns_of(ttl_s: Duration | None, now_ns: int) -> int:
    """Return when a message published now expires, in nanoseconds of Unix time."""
    return NEVER if ttl_s is None else now_ns + milliseconds_of("ttl_s", ttl_s, TTL_MS_MAX) * 1_000_000


def items(messages: Iterable[Item]) -> Iterator[tuple[Mapping[str, Value], bytes]]:
    """Yield each message as attributes and payload."""
    if isinstance(messages, Mapping | str | bytes) or not isinstance(messages, Iterable):
        what = type(messages).__name__
        raise Refused(f"publish_many takes an iterable of messages, not a {what}; `publish` takes a single message")
    for item in messages:
        if not isinstance(item, tuple):
            yield item, b""
        elif len(item) == 2:
            yield item
        else:
            raise Refused(f"a message is its attributes, or (attributes, payload), not a tuple of {len(item)}")
