"""What an attachment gives to the application and acknowledges, held to a slow twin that keeps an object a message."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.client.connection.walker import NoWalker, Walker, new_walker
from tamis.client.durable.consume_options import consume_options
from tamis.client.durable.consumer_state import ConsumerState
from tamis.client.durable.seen import COPIES_MAX, SeenIds
from tamis.client.durable.stored_message import Handed
from tamis.protocol.wire.client_bodies import Ack, AckOf, AckVerdict, Range
from tamis.protocol.wire.durable_bodies import Consume
from tests.client.by_hand import Hand, handed

Key = tuple[int, int]
"""The number of a message, and its position if it is a dead letter, else 0."""


@dataclass
class Known:
    """A message that the application has, or had."""

    connection: int
    given_at: int
    positions: set[int] = field(default_factory=set)
    is_settled: bool = False


@dataclass
class Twin:
    """The laws of `tamis.client.durable.seen` and `tamis.client.durable.consumer_state`, one after the other."""

    known: dict[Key, Known] = field(default_factory=dict)
    waiting: list[tuple[int, Key]] = field(default_factory=list)
    acknowledged: set[int] = field(default_factory=set)
    connection: int = 0
    hidden: int = 0

    def arrives(self, position: int, key: Key) -> None:
        waits = any(position == each for each, _ in self.waiting)
        if waits or self.is_known(position, key):
            self.hidden += 1
        else:
            self.waiting.append((position, key))

    def is_known(self, position: int, key: Key) -> bool:
        """Is a message that comes not to be given?"""
        known = self.known.get(key)
        if known is None:
            return False
        was_given_here = known.connection == self.connection and known.given_at == position
        known.connection = self.connection
        known.positions.add(position)
        if known.is_settled:
            self.acknowledged.add(position)
        return known.is_settled or not was_given_here

    def taken(self) -> int | None:
        while self.waiting:
            position, key = self.waiting.pop(0)
            if not self.is_known(position, key):
                known = self.known.setdefault(key, Known(self.connection, position))
                known.connection, known.given_at = self.connection, position
                known.positions.add(position)
                return position
            self.hidden += 1
        return None

    def settles(self, position: int, key: Key) -> set[int]:
        known = self.known.get(key)
        if known is None:
            return {position}
        if known.is_settled:
            return set()
        known.is_settled = True
        return known.positions | {position}

    def is_cut(self) -> None:
        self.connection += 1
        self.waiting.clear()
        self.acknowledged.clear()


def consumer_by(hand: Hand) -> ConsumerState:
    options = consume_options(hand.core.durables, "orders", credit=1_000, after=0, replay=None, dedup=100)
    consumer = hand.core.durables.consume(options, Handed, None, Future[None]())
    accept(hand)
    return consumer


def accept(hand: Hand) -> None:
    for body in hand.sent_of(Consume):
        hand.say(Ack(AckOf.CONSUME, body.request, (Range(body.id, body.id),)))


def told(hand: Hand) -> set[int]:
    """The positions that were acknowledged since."""
    acks = [ack for ack in hand.sent_of(Ack) if ack.verdict is AckVerdict.DONE]
    return {position for ack in acks for first, last in ack.ranges for position in range(first, last + 1)}


def arrival(place: tuple[int, bool, bool]) -> tuple[str, int, int, bool]:
    """A message at a position; `is_copy`: the message of position 1 once more."""
    position, is_copy, is_dead = place
    return "arrives", position, 1 if is_copy else position, is_dead


PLACES = st.tuples(st.integers(1, 3), st.booleans(), st.sampled_from([False, False, True]))
ARRIVALS = st.lists(PLACES.map(arrival), min_size=1, max_size=4)
OTHERS = st.sampled_from(["takes", "takes", "acks", "again", "rejects", "cut"]).map(lambda what: [(what,)])
HISTORIES = st.lists(st.one_of(ARRIVALS, OTHERS), min_size=10, max_size=40)


@pytest.mark.parametrize("walker", [NoWalker(), new_walker()])
@settings(max_examples=40)
@given(HISTORIES, st.randoms(use_true_random=False))
def test_what_is_given_and_acknowledged_is_what_the_twin_says(walker: Walker, history, random) -> None:
    hand, twin = Hand(walker).open(), Twin()
    consumer = consumer_by(hand)
    has: list[tuple[Handed, Key]] = []
    for steps in history:
        hand.say(*(handed(consumer.id, step[1], step[2], dead=step[3]) for step in steps if step[0] == "arrives"))
        for step in steps:
            if step[0] == "arrives":
                twin.arrives(step[1], (step[2], step[1] if step[3] else 0))
        what = steps[0][0]
        if what == "takes":
            item = consumer.take()
            assert (item.position if isinstance(item, Handed) else None) == twin.taken()
            if isinstance(item, Handed):
                has.append((item, (item["n"], item.position if item.dead_letter else 0)))
        elif what == "cut":
            hand.cut()
            hand.open()
            accept(hand)
            twin.is_cut()
        elif what != "arrives" and has:
            message, key = random.choice(has)
            if what == "acks":
                hand.core.durables.acknowledge(consumer, message)
                twin.acknowledged |= twin.settles(message.position, key)
            elif what == "again":
                hand.core.durables.say(consumer, message, AckVerdict.AGAIN)
                twin.known.pop(key, None)
            else:
                hand.core.durables.say(consumer, message, AckVerdict.REJECT)
                twin.settles(message.position, key)
        hand.core.durables.took(consumer)
        assert told(hand) == twin.acknowledged
        twin.acknowledged.clear()
        assert consumer.hidden == twin.hidden


def test_the_newest_are_known_and_at_most_an_eighth_more() -> None:
    hand = Hand(new_walker(), inbox_bytes=1 << 20, inbox_messages=10_000).open()
    consumer = consumer_by(hand)
    for number in range(1, 1_000):
        hand.say(handed(consumer.id, number))
        assert isinstance(consumer.take(), Handed)
        assert min(number, 100) <= len(consumer.seen.given) <= 113
    newest = [number.to_bytes(8, "little") for number in range(900, 1_000)]
    assert [id_[8:] for id_ in consumer.seen.given][-100:] == newest


def test_without_a_memory_everything_is_given_and_acknowledged() -> None:
    hand = Hand(new_walker()).open()
    options = consume_options(hand.core.durables, "orders", credit=10, after=0, replay=None, dedup=0)
    consumer = hand.core.durables.consume(options, Handed, None, Future[None]())
    accept(hand)
    for _ in range(2):
        hand.say(handed(consumer.id, 5, number=1))
        message = consumer.take()
        assert isinstance(message, Handed)
        hand.core.durables.acknowledge(consumer, message)
        assert told(hand) == {5}


def test_of_one_message_so_many_positions_are_known_and_no_more() -> None:
    seen, id_ = SeenIds(10), b"one"
    seen.given[id_] = (0, 1)
    for position in range(2, 100):
        assert seen.hides(id_, 0, position)
    assert seen.settle(id_, 1) == tuple(range(1, COPIES_MAX + 2))
    assert seen.hides(id_, 0, 99)
    assert seen.is_settled(id_)
