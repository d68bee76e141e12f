"""What the clients of a network want, what is published, and who gets which event.

Law: the same layout, counts and seed give the same filters and events. A topic is wanted by the clients of a tenth of
the routers, two at least where there are two, each with one filter that no other one covers: a topic, three times in
four a highest price, every other time a least volume. The coverable share of the filters narrows another filter of the
same router, so it changes nothing about where a message goes. Who gets an event is found by a table of the engine that
is the plainest, and for a sample of the events by `protocol.evaluate`, filter by filter.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Final

from tamis.native import Table
from tamis.native.batch import Batch
from tamis.protocol.evaluate import filter_matches
from tamis.protocol.filters import Constraint, Filter, Op
from tamis.protocol.values import Value
from tamis.protocol.wire.packed_filters import decode_filter, encode_filter

SEED: Final = 19
PRICES: Final = 1_000_000
VOLUMES: Final = 1_000_000
CHANGES: Final = 10
"""Further filters, each of which comes and goes."""
PLAIN_ENGINE: Final = "counting"
SAMPLE: Final = 20
"""Events that are evaluated filter by filter; SAMPLE_MIN where that would be more than EVALUATIONS."""
SAMPLE_MIN: Final = 3
EVALUATIONS: Final = 500_000

Event = dict[str, Value]


@dataclass(frozen=True, slots=True)
class _Want:
    topic: int
    price: int
    """Below this one; PRICES: any."""
    volume: int
    """Above this one; -1: any."""

    @property
    def packed(self) -> bytes:
        parts = [Constraint("topic", Op.EQ, (f"t{self.topic}",))]
        if self.price < PRICES:
            parts.append(Constraint("price", Op.LT, (self.price,)))
        if self.volume >= 0:
            parts.append(Constraint("volume", Op.GT, (self.volume,)))
        return encode_filter(Filter(tuple(parts)))

    def narrowed(self, random: Random) -> _Want:
        return _Want(self.topic, random.randrange(1, self.price), random.randrange(self.volume + 1, VOLUMES))


@dataclass(frozen=True)
class Wants:
    """`filters` and `changes` are lists of packed filters by the index of the router; `changes` come and go later;
    `covering` are some of `filters`, each of which covers others of its router."""

    filters: list[list[bytes]]
    changes: list[tuple[int, bytes]]
    covering: list[tuple[int, bytes]]
    events: list[Event]
    """Event i enters at router i modulo the number of routers."""

    @cached_property
    def wanting(self) -> list[frozenset[int]]:
        """The routers, by index, whose clients want each event."""
        owners = array("I", (router for router, each in enumerate(self.filters) for _ in each))
        with Table(PLAIN_ENGINE, hash_seed=SEED) as table:
            table.add_many(Batch.of(packed for each in self.filters for packed in each), owners)
            found = [frozenset(table.match(event)) for event in self.events]
        self._check(found)
        return found

    def _check(self, found: list[frozenset[int]]) -> None:
        plain = [[decode_filter(packed) for packed in each] for each in self.filters]
        sample = min(SAMPLE, max(SAMPLE_MIN, EVALUATIONS // sum(map(len, plain))))
        for number in range(0, len(self.events), max(1, len(self.events) // sample)):
            event = self.events[number]
            truth = {router for router, each in enumerate(plain) if any(filter_matches(one, event) for one in each)}
            if truth != found[number]:
                raise RuntimeError(f"engine {PLAIN_ENGINE}: event {event} is for {truth}, not for {set(found[number])}")


def make_wants(routers: int, subscriptions: int, coverable: int, events: int) -> Wants:
    """Deal `subscriptions` filters to `routers`, of which `coverable` percent are covered by another one."""
    random = Random(f"{SEED}/{routers}/{subscriptions}/{coverable}")
    covered = subscriptions * coverable // 100
    spread = min(routers, max(2, routers // 10))
    plain: list[list[_Want]] = [[] for _ in range(routers)]
    teams = _teams(routers, spread, random)
    topics, team = 0, next(teams)
    for _ in range(subscriptions - covered):
        if not team:
            topics, team = topics + 1, next(teams)
        plain[team.pop()].append(_base(topics, random))
    filters = [[want.packed for want in each] for each in plain]
    covering = _narrow(filters, plain, covered, random)
    for each in filters:
        random.shuffle(each)
    changes = list(_changes(plain, topics, coverable, random))
    return Wants(filters, changes, covering, _events(topics + 1, events, random))


def _teams(routers: int, spread: int, random: Random) -> Iterator[list[int]]:
    """Give sets of `spread` routers for ever, in which all take part about equally often."""
    while True:
        deck = random.sample(range(routers), routers)
        for first in range(0, routers - spread + 1, spread):
            yield deck[first : first + spread]


def _base(topic: int, random: Random) -> _Want:
    price = random.randrange(PRICES * 6 // 10, PRICES) if random.random() < 0.75 else PRICES
    return _Want(topic, price, random.randrange(VOLUMES * 4 // 10) if random.random() < 0.5 else -1)


def _narrow(
    filters: list[list[bytes]], plain: list[list[_Want]], count: int, random: Random
) -> list[tuple[int, bytes]]:
    """Add `count` filters, all different, that another one of their router covers; return CHANGES that cover some."""
    able = [router for router, each in enumerate(plain) if each]
    seen = {(router, packed) for router, each in enumerate(filters) for packed in each}
    covering: dict[tuple[int, bytes], None] = {}
    while count:
        router = able[count % len(able)]
        base = random.choice(plain[router])
        packed = base.narrowed(random).packed
        if (router, packed) not in seen:
            seen.add((router, packed))
            filters[router].append(packed)
            count -= 1
            if len(covering) < CHANGES:
                covering[router, base.packed] = None
    return [*covering]


def _changes(plain: list[list[_Want]], topics: int, coverable: int, random: Random) -> Iterator[tuple[int, bytes]]:
    able = [router for router, each in enumerate(plain) if each]
    for number in range(CHANGES):
        router = able[number * len(able) // CHANGES]
        is_covered = number < CHANGES * coverable // 100
        want = random.choice(plain[router]).narrowed(random) if is_covered else _base(topics + 1 + number, random)
        yield router, want.packed


def _events(topics: int, count: int, random: Random) -> list[Event]:
    return [
        {
            "topic": f"t{random.randrange(topics)}",
            "price": random.randrange(PRICES),
            "volume": random.randrange(VOLUMES),
            "side": random.choice(("buy", "sell")),
            "venue": f"v{random.randrange(20)}",
        }
        for _ in range(count)
    ]
