"""The page of messages that nobody wanted.

Law: bytes that the switch keeps become values here, a page at a time and only because somebody asks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tamis.native.switch_figures import DROP_REASONS
from tamis.native.unmatched import UnmatchedMessage, unmatched
from tamis.protocol.message_text import format_attributes
from tamis.protocol.wire.attributes import decode_attributes
from tamis.protocol.wire.numbers import stable_number
from tamis.router.admin.answers import TEXT_CUT
from tamis.router.admin.view import RouterView

PACKED_BYTES_MAX: Final = 16_384
"""Bytes of packed attributes that are shown as values; longer ones are shown as the beginning of their text."""
_UNMATCHED: Final = DROP_REASONS.index("unmatched")
_ROWS: Final = 64
"""Messages that are taken from the switch at a time."""


def head_form(running: RouterView) -> dict[str, object]:
    """Return what is said around the messages: what is kept, the number of the latest one, and how many of all
    messages found nobody since the router started (those from other routers included, which are not kept)."""
    switch, asked = running.connections.switch, running.settings.unmatched
    return {
        "share": asked.share,
        "bytes": asked.ring_bytes,
        "latest": unmatched(switch, 2**64 - 1, 1)[1],
        "unmatched_total": switch.figures().dropped[_UNMATCHED],
    }


def messages_after(running: RouterView, after: int) -> Iterator[dict[str, object]]:
    """Yield the messages that are kept with a number above `after`, the oldest first."""
    while True:
        found, _ = unmatched(running.connections.switch, after, _ROWS)
        yield from (_form(message, running) for message in found)
        if len(found) < _ROWS:
            return
        after = found[-1].n


def _form(message: UnmatchedMessage, running: RouterView) -> dict[str, object]:
    """`client` is empty where the publisher has left."""
    client = running.clients.by_connection.get(message.connection)
    is_here = client is not None and stable_number(client.name) == message.origin
    attributes = decode_attributes(message.attributes)
    form: dict[str, object] = {
        "n": message.n,
        "time_ns": message.t_ns,
        "id": f"{message.origin:016x}-{message.number}",
        "client": client.name if client is not None and is_here else "",
        "payload_bytes": message.payload_bytes,
    }
    if len(message.attributes) > PACKED_BYTES_MAX:
        return form | {"attributes": None, "text": format_attributes(attributes)[:TEXT_CUT], "cut": True}
    return form | {"attributes": attributes}
