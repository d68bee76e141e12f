"""Frames between an entry and a home.

Law: a frame names the log of both ends, since a router that has lost its disk begins another log. Those without a
message are as on the wire (protocol/wire/custody_bodies.py).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tamis.protocol.wire.custody_bodies import ChainGap, CustodyAck, CustodyAsk, LogLife

Message = tuple[int, int]
"""The id of a message: its publisher, and the counter of the publisher."""


@dataclass(frozen=True, slots=True)
class Directed:
    """A message for one home. `previous` is the number before it in the chain; `body` is the message as it came, or
    empty where the log has it."""

    entry: int
    written: LogLife
    home: int
    home_log: int
    n: int
    previous: int
    message: Message
    size: int
    body: bytes = field(default=b"", compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Holds:
    """C12: an entry has on disk what the durable subscriptions of `home` want."""

    entry: int
    written: LogLife
    home: int


Frame = Directed | ChainGap | CustodyAck | CustodyAsk | Holds
