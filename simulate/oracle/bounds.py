"""Invariant 21: the bounds of what waits at an entry for a home.

Law: what waits is what was written for a home, and that home has not acknowledged, nor the entry given up. It is within
the bounds of bytes and of age. Only the oldest are given up: those that have waited for too long, and, where the entry
does not refuse, those past the bound of bytes, at most half of it at a time. Where the entry refuses, no message is
written for a home without room, and none is refused where each home has room. A start changes nothing of that.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Final, NamedTuple

Report = Callable[[int, str], None]
SOON_US: Final = 100_000
"""The time after a start in which an entry finds what is past its bounds."""
STEPS: Final = 64
"""A message is given up within such a part of the age after that."""
BYTES_OF_NUMBER: Final = 3
"""Those that a number takes which was given up, or a doubt."""


class WaitingLimits(NamedTuple):
    """The bounds of what waits at a router for each other one."""

    bytes: int
    age_us: int
    """0: none."""
    refuses: bool


class _Message(NamedTuple):
    at_us: int
    size: int


@dataclass(slots=True)
class _Waiting:
    """What waits for a home: messages by number, in order; and how many numbers were given up together, by the last."""

    messages: dict[int, _Message] = field(default_factory=dict)
    gone: dict[int, int] = field(default_factory=dict)

    @property
    def bytes(self) -> int:
        return sum(message.size for message in self.messages.values())

    @property
    def bytes_of_gone(self) -> int:
        return BYTES_OF_NUMBER * (sum(self.gone.values()) + 1)


Homes = defaultdict[int, _Waiting]


def _nothing() -> Homes:
    return defaultdict(_Waiting)


class BoundsTruth:
    def __init__(self, report: Report, now_us: Callable[[], int]) -> None:
        self.counts: Counter[str] = Counter()
        self._report, self._now_us = report, now_us
        self._limits: dict[int, WaitingLimits] = {}
        self._started_us: dict[int, int] = {}
        self._at_us: dict[tuple[int, int], int] = {}
        """When each number was given."""
        self._present: defaultdict[int, Homes] = defaultdict(_nothing)
        self._on_disk: defaultdict[int, Homes] = defaultdict(_nothing)
        self._backups: dict[int, Homes] = {}
        self._renewed: set[int] = set()
        """Homes with another log: after a start an entry has for them again what an earlier log has acknowledged."""

    # Disks.

    def started(self, router: int, limits: WaitingLimits) -> None:
        """Record that a router has started, with these bounds: it knows what its disk has."""
        self._limits[router], self._started_us[router] = limits, self._now_us()
        self._present[router] = deepcopy(self._on_disk[router])

    def disk_lost(self, router: int) -> None:
        self._on_disk.pop(router, None)
        self._backups.pop(router, None)
        self._renewed.add(router)

    def backed_up(self, router: int) -> None:
        self._backups[router] = deepcopy(self._on_disk[router])

    def put_back(self, router: int) -> None:
        self._on_disk[router] = self._backups.pop(router)

    # Records that are on disk.

    def entered_on_disk(self, router: int, n: int, homes: Iterable[int], size: int) -> None:
        for home in homes:
            self._on_disk[router][home].messages[n] = _Message(self._at_us[router, n], size)

    def given_up_on_disk(self, router: int, home: int, numbers: Collection[int]) -> None:
        _give_up(self._on_disk[router][home], numbers)

    def acknowledged_on_disk(self, router: int, home: int, have: int) -> None:
        _let_go(self._on_disk[router][home], have)

    # Records as they are written.

    def entered(self, router: int, n: int, homes: Iterable[int], size: int) -> None:
        self._at_us[router, n] = self._now_us()
        limits = self._limits[router]
        for home in homes:
            waiting = self._present[router][home]
            self._judge(router, home)
            if limits.refuses and waiting.messages and waiting.bytes + size > limits.bytes:
                self._report(21, f"{router:x} stores {n} for {home:x}, for which it has no room")
            waiting.messages[n] = _Message(self._now_us(), size)

    def given_up(self, router: int, home: int, numbers: Collection[int]) -> None:
        waiting, limits = self._present[router][home], self._limits[router]
        given = [n for n in numbers if n in waiting.messages]
        if given != list(waiting.messages)[: len(given)]:
            self._report(21, f"{router:x} gives up {given} for {home:x}, which are not the oldest")
        if young := given[self._old(router, waiting) :]:
            self._judge_young(router, home, young)
        self.counts["given up for room"] += len(young)
        self.counts["given up for age"] += len(given) - len(young)
        if limits.refuses:
            self.counts["given up where messages are refused"] += len(given)
        _give_up(waiting, numbers)

    def acknowledged(self, router: int, home: int, have: int) -> None:
        _let_go(self._present[router][home], have)

    def _old(self, router: int, waiting: _Waiting) -> int:
        """Return how many of the messages have waited for as long as they may."""
        age_us, now_us = self._limits[router].age_us, self._now_us()
        return sum(message.at_us + age_us <= now_us for message in waiting.messages.values()) if age_us else 0

    def _judge_young(self, router: int, home: int, numbers: list[int]) -> None:
        """Judge messages that are given up for room."""
        waiting, limits = self._present[router][home], self._limits[router]
        sizes = [waiting.messages[n].size for n in numbers]
        has_room = waiting.bytes + waiting.bytes_of_gone <= limits.bytes and home not in self._renewed
        if limits.refuses or has_room:
            self._report(21, f"{router:x} gives up {numbers} for {home:x}, which may wait")
        elif sum(sizes) > limits.bytes // 2 + max(sizes):
            self._report(21, f"{router:x} gives up {sum(sizes)} of {limits.bytes} bytes for {home:x} at once")

    # Publishers.

    def refused(self, router: int, size: int) -> None:
        """Record that a message was refused for want of room."""
        limits = self._limits[router]
        self.counts["refused without room"] += 1
        has_room = (
            home not in self._renewed and (not each.messages or each.bytes + each.bytes_of_gone + size <= limits.bytes)
            for home, each in self._present[router].items()
        )
        if not limits.refuses or all(has_room):
            self._report(21, f"{router:x} refuses a message, and has room for it")

    # Rest.

    def at_rest(self, routers: Iterable[int]) -> None:
        """Judge what waits at living routers."""
        for router in routers:
            for home in self._present[router]:
                self._judge(router, home)

    def _judge(self, router: int, home: int) -> None:
        """Judge what waits for a home, before something is done."""
        waiting, limits, now_us = self._present[router][home], self._limits[router], self._now_us()
        if not waiting.messages or now_us < self._started_us[router] + SOON_US:
            return
        if waiting.bytes > limits.bytes and not limits.refuses:
            self._report(21, f"{router:x} has {waiting.bytes} of {limits.bytes} bytes for {home:x}")
        waited_us = now_us - next(iter(waiting.messages.values())).at_us
        if limits.age_us and waited_us > limits.age_us + limits.age_us // STEPS + SOON_US:
            self._report(21, f"{router:x} has a message for {home:x} that has waited for {waited_us} us")


def _give_up(waiting: _Waiting, numbers: Collection[int]) -> None:
    given = [n for n in numbers if waiting.messages.pop(n, None) is not None]
    if given:
        waiting.gone[given[-1]] = len(given)


def _let_go(waiting: _Waiting, have: int) -> None:
    waiting.messages = {n: message for n, message in waiting.messages.items() if n > have}
    waiting.gone = {last: count for last, count in waiting.gone.items() if last > have}
