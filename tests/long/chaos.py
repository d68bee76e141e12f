"""Traffic with sequence numbers over real routers, and the oracle that judges what came of it.

    Traffic    at each router a publisher, who asks for confirmation, and a subscriber, who notes all it gets in order
    judged     doubled, misdelivered, out of order; lost, acknowledged and lost, and of these what lies under no Gap

Law: what is judged is what clients saw, never what a router says. A message is lost at a subscriber if it was published
while the subscription was in force, satisfies it, and never came. It lies under a Gap that stands in the iterator
between the nearest deliveries of its publisher before and after it, and under one that reaches over its time. A Gap
covers a loss if one lies under it.
"""

from __future__ import annotations

import asyncio
import bisect
import itertools
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

import tamis
from tamis.protocol.errors import TamisError
from tamis.protocol.wire.deliver_view import DeliverView

OUTSTANDING_MAX = 4_000
"""Confirmations that a publisher waits for; past it nothing is published."""
SETTLE_S = 3.0
SLACK_S = 0.5
GAPS_BESIDE = 3
"""Gaps that report a loss."""


@dataclass(slots=True)
class Sent:
    at_s: float
    fate: str = "open"
    """open, taken, refused or unknown."""
    taken_s: float = 0.0
    """When its confirmation was read: on a busy machine a message waits at its publisher for seconds before that."""


class Way(NamedTuple):
    """How a message came: the number under which it entered, the hops that it had left, and when."""

    epoch: int
    counter: int
    hops_left: int
    at_s: float


@dataclass(slots=True)
class Heard:
    """What one subscriber got: for each publisher numbers and places; and gaps."""

    router: str
    numbers: dict[str, list[int]] = field(default_factory=dict)
    places: dict[str, list[int]] = field(default_factory=dict)
    ways: dict[str, list[Way]] = field(default_factory=dict)
    gaps: list[Told] = field(default_factory=list)
    misdelivered: int = 0
    count: int = 0


@dataclass(frozen=True, slots=True)
class Told:
    """A Gap at a place of an iterator. With `span_s` it reaches over what was published so long before it came; one
    that goes on reaches to the next that says ROUTE_CHANGED."""

    place: int
    reason: str
    at_s: float
    span_s: float | None = None
    goes_on: bool = False


@dataclass(frozen=True, slots=True)
class Lost:
    publisher: str
    subscriber: str
    n: int
    at_s: float
    was_taken: bool
    is_told: bool


@dataclass(frozen=True, slots=True)
class Swapped:
    """A message that came behind a later one of its publisher, and how both came."""

    publisher: str
    subscriber: str
    n: int
    behind: int
    ways: list[Way]


@dataclass(slots=True)
class Verdict:
    published: int = 0
    taken: int = 0
    delivered: int = 0
    doubled: int = 0
    misdelivered: int = 0
    swapped: list[Swapped] = field(default_factory=list)
    """Those under no gap."""
    told: list[Swapped] = field(default_factory=list)
    """Those under a gap, where order is not promised: a way broke (ROUTE_CHANGED), or not every router knew the
    subscription again (RECONNECTED)."""
    lost: list[Lost] = field(default_factory=list)
    gaps: Counter[str] = field(default_factory=Counter)
    covering: int = 0

    @property
    def out_of_order(self) -> int:
        return len(self.swapped)

    @property
    def untold(self) -> list[Lost]:
        """Acknowledged, lost, and under no Gap."""
        return [each for each in self.lost if each.was_taken and not each.is_told]

    def __str__(self) -> str:
        taken = sum(each.was_taken for each in self.lost)
        return (
            f"{self.published} published, {self.taken} acknowledged, {self.delivered} delivered; "
            f"{self.doubled} doubled, {self.misdelivered} misdelivered, {self.out_of_order} out of order"
            f" ({len(self.told)} more under a gap); "
            f"{len(self.lost)} lost, of these {taken} acknowledged and {len(self.untold)} of those under no gap; "
            f"{self.gaps.total()} gaps {dict(self.gaps)}, {self.covering} of them over a loss"
        )


def is_wanted(router_place: int, n: int) -> bool:
    """Every other subscriber wants even numbers only."""
    return router_place % 2 == 0 or n % 2 == 0


class Traffic:
    def __init__(self, addresses: dict[str, str], rate: float) -> None:
        """`addresses`: of the routers, by name. `rate`: messages a second in all."""
        self._addresses, self._pause_s = addresses, len(addresses) / rate
        self.sent: dict[str, list[Sent]] = {name: [] for name in addresses}
        self.heard = {name: Heard(name) for name in addresses}
        self._waiting: set[asyncio.Task[None]] = set()
        self._readers: list[asyncio.Task[None]] = []
        self._is_on = True

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Traffic]:
        async with AsyncExitStack() as stack:
            publishers = []
            for place, (name, address) in enumerate(self._addresses.items()):
                subscriber = tamis.connect(address, name=f"subscriber at {name}", patience_s=30)
                await stack.enter_async_context(subscriber)
                predicate = "exists n" if place % 2 == 0 else "even = true"
                subscription = await subscriber.subscribe(predicate, wait="network").start()
                self._readers.append(asyncio.create_task(self._read(place, self.heard[name], subscription)))
            for name, address in self._addresses.items():
                publisher = tamis.connect(address, name=f"publisher at {name}", patience_s=30)
                await stack.enter_async_context(publisher)
                publishers.append(asyncio.create_task(self._publish(name, publisher)))
            try:
                yield self
            finally:
                tasks = (*publishers, *self._readers, *self._waiting)
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)

    async def until_heard(self, patience_s: float) -> None:
        """Return when every subscriber has had something of each publisher that was published from now on; TimeoutError
        if that takes longer than `patience_s`."""
        now = {name: len(sent) for name, sent in self.sent.items()}
        async with asyncio.timeout(patience_s):
            while not all(
                (numbers := heard.numbers.get(name)) and numbers[-1] >= n
                for heard in self.heard.values()
                for name, n in now.items()
            ):
                await asyncio.sleep(0.05)

    async def settle(self, seconds: float = SETTLE_S) -> None:
        """Nothing more is published; what is on its way arrives. Raises what a reader that has failed raised."""
        await asyncio.sleep(seconds)
        self._is_on = False
        if self._waiting:
            await asyncio.wait(self._waiting, timeout=8)
        await asyncio.sleep(1)
        for reader in self._readers:
            if reader.done():
                reader.result()

    async def _publish(self, name: str, client: tamis.Client) -> None:
        mine, due_s = self.sent[name], time.monotonic()
        while self._is_on:
            if len(self._waiting) < OUTSTANDING_MAX:
                n = len(mine)
                mine.append(Sent(time.monotonic()))
                task = asyncio.create_task(self._publish_one(client, name, n, mine[n]))
                self._waiting.add(task)
                task.add_done_callback(self._waiting.discard)
            due_s = max(due_s + self._pause_s, time.monotonic() - 1)
            await asyncio.sleep(max(0.0, due_s - time.monotonic()))

    async def _publish_one(self, client: tamis.Client, name: str, n: int, sent: Sent) -> None:
        try:
            await client.publish({"from": name, "n": n, "even": n % 2 == 0}, confirm=True)
            sent.fate, sent.taken_s = "taken", time.monotonic()
        except tamis.PublishRefused:
            sent.fate = "refused"
        except TamisError:
            sent.fate = "unknown"

    async def _read(self, place: int, heard: Heard, subscription: tamis.Subscription) -> None:
        async for item in subscription:
            heard.count += 1
            if isinstance(item, tamis.Gap):
                reach = getattr(item, "span_s", None), getattr(item, "goes_on", False)
                heard.gaps.append(Told(heard.count, item.reason.name, time.monotonic(), *reach))
                continue
            publisher, n = str(item["from"]), int(item["n"])  # type: ignore[arg-type]
            heard.misdelivered += not is_wanted(place, n)
            heard.numbers.setdefault(publisher, []).append(n)
            heard.places.setdefault(publisher, []).append(heard.count)
            frame = DeliverView(item._frame)  # what routers wrote, which a message does not show
            _, epoch, counter = frame.transit
            heard.ways.setdefault(publisher, []).append(Way(epoch, counter, frame.hop_limit, time.monotonic()))

    # --- judging -----------------------------------------------------------------------------------------------------

    def judged(self) -> Verdict:
        verdict = Verdict()
        for sent in self.sent.values():
            verdict.published += len(sent)
            verdict.taken += sum(each.fate == "taken" for each in sent)
        for place, heard in enumerate(self.heard.values()):
            verdict.delivered += sum(map(len, heard.numbers.values()))
            verdict.misdelivered += heard.misdelivered
            verdict.gaps.update(each.reason for each in heard.gaps)
            covering: set[int] = set()
            for publisher, sent in self.sent.items():
                numbers = heard.numbers.get(publisher, [])
                verdict.doubled += len(numbers) - len(set(numbers))
                for each in _swapped(heard, publisher):
                    (verdict.told if _is_under_a_gap(heard, sent[each.n].at_s) else verdict.swapped).append(each)
                for lost, under in self._lost(place, heard, publisher, sent):
                    verdict.lost.append(lost)
                    covering |= under
            verdict.covering += len(covering)
        return verdict

    def beside(self, lost: Lost) -> str:
        """Say what a subscriber saw around a loss: the nearest deliveries of its publisher, and the nearest gaps, each
        with its time after the loss."""
        heard = self.heard[lost.subscriber]
        numbers, ways = heard.numbers.get(lost.publisher, []), heard.ways.get(lost.publisher, [])
        at = bisect.bisect(numbers, lost.n)
        near = [f"{numbers[i]} at {ways[i].at_s - lost.at_s:+.2f} s" for i in (at - 1, at) if 0 <= i < len(numbers)]
        nearest = sorted(heard.gaps, key=lambda each: abs(each.at_s - lost.at_s))[:GAPS_BESIDE]
        gaps = [
            f"{each.reason} at {each.at_s - lost.at_s:+.2f} s, span {each.span_s}{', goes on' if each.goes_on else ''}"
            for each in sorted(nearest, key=lambda each: each.at_s)
        ]
        sent = self.sent[lost.publisher][lost.n]
        return (
            f"{lost.publisher} -> {lost.subscriber}: {lost.n}, {sent.fate} after {sent.taken_s - sent.at_s:.2f} s; "
            f"deliveries beside it: {', '.join(near) or 'none'}; gaps: {'; '.join(gaps) or 'none'}"
        )

    def _lost(self, place: int, heard: Heard, publisher: str, sent: list[Sent]) -> Iterator[tuple[Lost, set[int]]]:
        """Each with the places of the gaps that it lies under."""
        numbers, places = heard.numbers.get(publisher, []), heard.places.get(publisher, [])
        seen = set(numbers)
        gaps = [each.place for each in heard.gaps]
        reaches = list(_reaches(heard.gaps))
        for n, each in enumerate(sent):
            if n in seen or not is_wanted(place, n) or each.fate in ("open", "refused"):
                continue
            at = bisect.bisect(numbers, n)
            after = places[at - 1] if at else 0
            before = places[at] if at < len(places) else heard.count + 1
            under = set(gaps[bisect.bisect(gaps, after) : bisect.bisect(gaps, before)])
            last_s = max(each.at_s, each.taken_s)
            under |= {place for place, since_s, until_s in reaches if since_s <= last_s and each.at_s <= until_s}
            yield Lost(publisher, heard.router, n, each.at_s, each.fate == "taken", bool(under)), under


def _is_under_a_gap(heard: Heard, at_s: float) -> bool:
    """Does the span of a gap reach over the time?"""
    return any(since_s <= at_s <= until_s for _, since_s, until_s in _reaches(heard.gaps))


def _swapped(heard: Heard, publisher: str) -> Iterator[Swapped]:
    numbers, ways = heard.numbers.get(publisher, []), heard.ways.get(publisher, [])
    for at, (one, other) in enumerate(itertools.pairwise(numbers), 1):
        if one > other:
            yield Swapped(publisher, heard.router, other, one, ways[at - 1 : at + 1])


def _reaches(gaps: list[Told]) -> Iterator[tuple[int, float, float]]:
    """Place, and from when to when it reaches, of those that say so. When it came is when it is read here: a client
    that is busy reads late, so that half a second is given on either side."""
    ends_s = float("inf")
    for each in reversed(gaps):
        if each.span_s is not None:
            until_s = ends_s if each.goes_on else each.at_s
            yield each.place, each.at_s - each.span_s - SLACK_S, until_s + SLACK_S
        if each.reason == "ROUTE_CHANGED":
            ends_s = each.at_s
