"""What consumers of a copy are done with, between the homes of a durable subscription (FINISHED).

    C ── ranges, numbered ──> FinishedExchange ── FINISHED, again each second ──> the other homes
                                    └──────── FINISHED without ranges <───────────────┘

Law: the ranges of a copy go to each other home in their order, and again until it answers. While a home is away C
remembers them, within its bounds. A home takes them from a router that states a copy of the same durable subscription,
in the log that it states, and that has seen its answers: who has not does not know the token. A home that has lost some
delivers these messages again once it serves.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from tamis.native.durables import SwitchDurables
from tamis.native.results import OutOfMemory
from tamis.protocol.wire.custody_bodies import FINISHED_RANGE_BYTES, CopyFinished
from tamis.router.connections.wider_network import OtherHomes
from tamis.router.durable.copies import are_copies, homes_of
from tamis.router.durable.hosted import HostedDurable
from tamis.router.durable.registry import DurableRegistry

FRAMES_MAX: Final = 16
"""Frames of one durable subscription that are on the way to a home."""
AGAIN_US: Final = 1_000_000


@dataclass(slots=True)
class _Other:
    """Another home: the numbers of the ranges that it takes next and that are sent next, and when they were sent."""

    taken: int = 0
    sent: int = 0
    since_us: int = 0
    token: int = 0
    """That of its last answer."""


class FinishedExchange:
    """`me` and `log` are the router and its log; `names` has the other routers by number, and `reaches` returns whether
    one is in reach."""

    def __init__(
        self,
        me: int,
        log: int,
        names: Mapping[int, str],
        registry: DurableRegistry,
        homes: OtherHomes,
        reaches: Callable[[str], bool],
    ) -> None:
        self._me, self._log, self._names = me, log, names
        self._numbers = {name: number for number, name in names.items()}
        self._registry, self._homes, self._reaches = registry, homes, reaches
        self._others: dict[int, dict[str, _Other]] = {}
        """Of each durable subscription with ranges that some home lacks."""
        self._tokens = {number: secrets.randbits(64) for number in names}
        """By home: ranges with this token are from a router that gets what is sent to that home."""

    @property
    def _durables(self) -> SwitchDurables:
        return self._registry.durables

    def tick(self, now_us: int) -> None:
        """Send what is new, and what was not answered."""
        while news := self._durables.finished_news():
            for number in news:
                self._others.setdefault(number, {})
        for number in list(self._others):
            held = self._registry.by_number.get(number)
            if held is None or not self._tell(held, now_us):
                del self._others[number]

    def _tell(self, held: HostedDurable, now_us: int) -> bool:
        """Tell the other homes of a durable subscription; return whether some of them lack something."""
        others = self._others[held.number]
        names = [name for name in held.homes if name in self._numbers]
        lacking = [self._send(held, name, others.setdefault(name, _Other()), now_us) for name in names]
        taken = min((each.taken for each in others.values()), default=0)
        self._durables.passed_on(held.number, max(0, taken - 1))
        return any(lacking)

    def _send(self, held: HostedDurable, name: str, other: _Other, now_us: int) -> bool:
        """Send ranges to a home that has answered all before; return whether it lacks some."""
        home = self._numbers[name]
        log = self._homes.log_of(home)
        if not log or not self._reaches(name):
            other.sent = other.taken
            return True
        if other.sent > other.taken and now_us - other.since_us >= AGAIN_US:
            other.sent = other.taken
        for _ in range(FRAMES_MAX if other.sent == other.taken else 0):
            at, packed = self._durables.finished(held.number, other.sent)
            if not packed:
                break
            other.taken = at if other.sent == other.taken else other.taken
            other.sent, other.since_us = at + len(packed) // FINISHED_RANGE_BYTES, now_us
            self._homes.send(CopyFinished(self._me, self._log, home, log, held.name, at, other.token, packed))
        return other.sent > other.taken

    def heard(self, body: CopyFinished) -> None:
        """Take what another home says."""
        name = self._names.get(body.home)
        held = self._registry.by_name.get(body.name)
        if name is None or held is None or not self._is_copy(held, name, body):
            return
        if not body.packed:
            other = self._others.get(held.number, {}).get(name)
            if other is not None and other.taken <= body.at <= other.sent:
                other.sent = body.at if other.token != body.token else other.sent
                other.taken, other.token = body.at, body.token
            return
        at, token = body.at, self._tokens[body.home]
        if body.token == token:
            try:
                self._durables.finish(held.number, body.packed)
            except OutOfMemory:
                return  # it comes again
            at += len(body.packed) // FINISHED_RANGE_BYTES
        self._homes.send(CopyFinished(self._me, self._log, body.home, body.home_log, body.name, at, token, b""))

    def _is_copy(self, held: HostedDurable, name: str, body: CopyFinished) -> bool:
        """Return whether a frame is of a router with a copy of `held`, and for this life of the disks of both."""
        stated = self._homes.everywhere(held.name)
        are_current = body.home_log == self._homes.log_of(body.home) and body.other_log == self._log
        return are_current and are_copies(stated) and any(name == at and name in homes_of(it) for at, it in stated)
