"""The page of messages that matched no subscription.

Law: the switch stores packed bytes; they are decoded here, a page at a time and only for a request.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from tamis.native.switch_figures import DROP_REASONS
from tamis.native.unmatched import UnmatchedMessage, unmatched
from tamis.protocol.message_text import format_attributes
from tamis.protocol.values import Value
from tamis.protocol.wire.attributes import decode_attributes
from tamis.protocol.wire.numbers import stable_number
from tamis.router.admin.answers import TEXT_CUT
from tamis.router.admin.view import RouterView

PACKED_BYTES_MAX: Final = 16_384
"""Most bytes of packed attributes shown as values; longer ones are shown as the beginning of their text."""
_UNMATCHED: Final = DROP_REASONS.index("unmatched")
_ROWS: Final = 64
"""Messages that are read from the switch at a time."""


def head_form(running: RouterView) -> dict[str, object]:
    """Return the fields around the messages: the share and bytes that are stored, the number of the latest one, and the
    count of unmatched messages since the start, with those of other routers, which are not stored."""
    switch, asked = running.connections.switch, running.settings.unmatched
    return {
        "share": asked.share,
        "bytes": asked.ring_bytes,
        "latest": unmatched(switch, 2**64 - 1, 1)[1],
        "unmatched_total": switch.figures().dropped[_UNMATCHED],
    }


def messages_after(
    running: RouterView, after: int, is_shown: Callable[[Mapping[str, Value]], bool]
) -> Iterator[tuple[int, dict[str, object] | None]]:
    """Yield the number and the form of the stored messages with a number above `after`, oldest first; None in place of
    the form of one that is not shown."""
    while True:
        found, _ = unmatched(running.connections.switch, after, _ROWS)
        for each in found:
            yield each.n, _form(each, running) if is_shown(decode_attributes(each.attributes)) else None
        if len(found) < _ROWS:
            return
        after = found[-1].n


def _form(message: UnmatchedMessage, running: RouterView) -> dict[str, object]:
    """Return a message; `client` is "" if its publisher has left."""
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
