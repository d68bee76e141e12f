"""Remote sessions: those of clients with the home of a durable subscription at another router.

Law: this file decides nothing (tm_remote_api.h). A session is identified by a number that its near end has chosen.
"""

from __future__ import annotations

from typing import Any, Final

from tamis.native._tm import ffi, lib
from tamis.native.results import Gone, check
from tamis.native.switch import Switch
from tamis.native.switch_figures import RemoteFigures

SESSION_BYTES: Final = 8
"""Of the number of a session, in front of an event's frame."""


class SwitchRemotes:
    """The ends of remote sessions in one switch."""

    def __init__(self, switch: Switch) -> None:
        self._switch = switch

    def begin(self, connection: int, peer: int, session: int) -> bool:
        """Begin the near end of a session of a client with a router; return whether there is room. Raise Gone if the
        connection of the client has ended."""
        result = lib.tm_remote_begin(self._c, connection, peer, session)
        if result == lib.TM_MISUSED:
            raise Gone("the connection has ended")
        return _has_room(result)

    def accept(self, connection: int, frame: bytes) -> bool:
        """Make a connection without a socket the far end of the session that `frame` begins; return whether there is
        room."""
        return _has_room(lib.tm_remote_accept(self._c, connection, ffi.from_buffer(frame), len(frame)))

    def send(self, session: int, frames: bytes) -> bool:
        """Send frames of a client; return False if its session has ended, or has no room for them."""
        result = lib.tm_remote_send(self._c, session, ffi.from_buffer(frames), len(frames))
        return bool(result != lib.TM_ABSENT and _has_room(result))

    def attach(self, session: int, consumer: int) -> bool:
        """Let a consumer use a session; return False if that has ended, or has no room for it."""
        result = lib.tm_remote_consumer(self._c, session, consumer, True)
        return bool(result != lib.TM_ABSENT and _has_room(result))

    def detach(self, session: int, consumer: int) -> None:
        lib.tm_remote_consumer(self._c, session, consumer, False)

    def end(self, session: int) -> None:
        """End a near end, if it has not ended."""
        lib.tm_remote_end(self._c, session)

    def flush(self) -> None:
        """Send what the connections of far ends have to send."""
        check(lib.tm_remote_flush(self._c))

    def figures(self) -> RemoteFigures:
        c = ffi.new("tm_remote_stats *")
        check(lib.tm_remote_figures(self._c, c))
        return RemoteFigures(*[int(getattr(c, name)) for name in RemoteFigures._fields])

    @property
    def _c(self) -> Any:  # noqa: ANN401 - cffi's types exist only at run time
        return self._switch.c


def _has_room(result: int) -> bool:
    if result not in (lib.TM_TOO_MANY, lib.TM_NO_MEMORY):
        check(result)
    return bool(result == lib.TM_OK)
