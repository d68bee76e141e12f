"""Records of custody in the log of a router. A router may be entry and home at once, with one log."""

from __future__ import annotations

from dataclasses import dataclass

from tamis.router.core.custody.frames import Message


@dataclass(frozen=True, slots=True)
class Entered:
    """A message that entered here, and the homes that want it and had room for it."""

    n: int
    message: Message
    homes: tuple[int, ...]
    size: int
    at_us: int = 0
    """When it entered."""
    is_partial: bool = False
    """Whether another home had no room for it, so that its publisher was refused."""


@dataclass(frozen=True, slots=True)
class Done:
    """A home has all of the chain up to `have` on the disk of this log of its."""

    home: int
    home_log: int
    have: int


@dataclass(frozen=True, slots=True)
class GivenUp:
    """The oldest numbers of the chain of a home that are not given up yet are given up."""

    home: int
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Stated:
    """C13: durable subscriptions live at `home`, which has this log."""

    home: int
    log: int


@dataclass(frozen=True, slots=True)
class Arrived:
    """A message of the chain of an entry, for durable subscriptions here."""

    entry: int
    log: int
    n: int
    message: Message


@dataclass(frozen=True, slots=True)
class Passed:
    """C5: the chain has moved on to `n` by what is not stored: a message that is known, or that nothing wants any more,
    or a doubt."""

    entry: int
    log: int
    n: int


@dataclass(frozen=True, slots=True)
class NumbersLost:
    """The chain has moved on to `n` over `numbers`, which its entry has given up."""

    entry: int
    log: int
    n: int
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Began:
    """The log of an entry, and the life of it, that this home has heard of."""

    entry: int
    log: int
    life: int


@dataclass(frozen=True, slots=True)
class Doubt:
    """C10: messages of an entry may be missing without a number, as its log, or the log here, is another one or an
    earlier state."""

    entry: int


Record = Entered | Done | GivenUp | Stated | Arrived | Passed | NumbersLost | Began | Doubt
