"""Frames between an entry and a home.

Law: a frame names the log of both ends, since a router that has lost its disk begins another log.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

Message = tuple[int, int]
"""The id of a message: its publisher, and the counter of the publisher."""


class LogLife(NamedTuple):
    """A life of a log."""

    log: int
    """The id of the log; a later log of the same router has a greater one."""
    life: int
    before: int
    """The life that this one follows; 0: none."""


@dataclass(frozen=True, slots=True)
class Directed:
    """A message for one home. `previous` is the number before it in the chain."""

    entry: int
    written: LogLife
    home: int
    home_log: int
    n: int
    previous: int
    message: Message
    size: int


@dataclass(frozen=True, slots=True)
class ChainGap:
    """C7: the numbers that stood in the chain after `previous` and up to `n`, and were given up. No numbers: the home
    had acknowledged `n`, and asked for less (C10)."""

    entry: int
    written: LogLife
    home: int
    home_log: int
    n: int
    previous: int
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CustodyAck:
    """C4: all of the chain up to `have` is on the disk of the home. `window`: the bytes that it takes beyond."""

    home: int
    home_log: int
    entry: int
    entry_log: int
    have: int
    window: int


@dataclass(frozen=True, slots=True)
class CustodyAsk:
    """C3: a home lacks what follows `have`."""

    home: int
    home_log: int
    entry: int
    entry_log: int
    have: int


@dataclass(frozen=True, slots=True)
class Holds:
    """C12: an entry has on disk what the durable subscriptions of `home` want."""

    entry: int
    written: LogLife
    home: int


Frame = Directed | ChainGap | CustodyAck | CustodyAsk | Holds
