"""Durable subscriptions with copies at other homes, in C: what one home has finished leaves the other ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from tamis.client.durable.policy import durable_of
from tamis.protocol.wire.client_bodies import AckVerdict
from tamis.protocol.wire.codes import LossReason
from tamis.protocol.wire.data_frames import encode_publish
from tamis.protocol.wire.durable_bodies import DurablePolicy
from tests.native.slow_router import STORED, Reader, SlowRouter

DURABLE = 1
RANGES_MAX = 1 << 16
"""Ranges of finished messages that one subscription remembers."""
ALL = durable_of("all", "true").policy
Made = Callable[..., SlowRouter]


@pytest.fixture(name="made")
def _made(tmp_path: Path) -> Iterator[Made]:
    homes: list[SlowRouter] = []

    def make(policy: DurablePolicy = ALL) -> SlowRouter:
        homes.append(SlowRouter(tmp_path / str(len(homes)), durables={DURABLE: policy}, copied={DURABLE}))
        return homes[-1]

    yield make
    for each in homes:
        each.close()


def numbers(reader: Reader) -> list[int]:
    """Return the counters of what it got since it was asked last."""
    got = [message.counter for message in reader.got]
    reader.got.clear()
    return got


def tell(home: SlowRouter, *others: SlowRouter, at: int = 0) -> int:
    """Tell other homes what this one has finished from range `at` on; return the range that follows."""
    while (found := home.durables.finished(DURABLE, at))[1]:
        at, packed = found
        for each in others:
            each.durables.finish(DURABLE, packed)
            each.turn()
        at += len(packed) // 20
    return at


def opened(home: SlowRouter) -> int:
    return home.durables.figures(DURABLE).open


def test_what_one_home_has_finished_leaves_the_other_one(made: Made) -> None:
    one, two = made(), made()
    for home in (one, two):
        publisher = home.publisher(5)
        for _ in range(10):
            publisher.publish()
        home.commit()
    reader = one.reader(7, DURABLE, credit=6)
    reader.acknowledge()
    assert one.durables.finished_news() == [DURABLE]
    assert one.durables.finished_news() == []
    tell(one, two)
    two.commit()
    assert (opened(one), opened(two)) == (4, 4)
    assert two.durables.finished_news() == [], "what another home has finished is not news"
    two.restart()
    assert numbers(two.reader(8, DURABLE)) == [7, 8, 9, 10]


def test_positions_differ_and_other_messages_stay(made: Made) -> None:
    one, two = made(), made()
    for home, order in ((one, (5, 6)), (two, (6, 5))):
        for number in order:
            publisher = home.publisher(number)
            for _ in range(3):
                publisher.publish()
        home.commit()
    reader = one.reader(7, DURABLE, credit=4)
    assert numbers(reader) == [1, 2, 3, 1]
    reader.acknowledge()
    tell(one, two)
    two.commit()
    assert numbers(two.reader(8, DURABLE)) == [2, 3]


def test_what_comes_after_another_home_has_finished_it_is_not_delivered(made: Made) -> None:
    one, two = made(), made()
    publisher = one.publisher(5)
    for _ in range(4):
        publisher.publish()
    one.commit()
    one.reader(7, DURABLE, credit=3).acknowledge()
    tell(one, two)
    late = two.publisher(5)
    for _ in range(4):
        late.publish()
    two.commit()
    assert late.confirmed == [1, 2, 3, 4]
    assert numbers(two.reader(8, DURABLE)) == [4]
    two.restart()
    assert numbers(two.reader(8, DURABLE)) == [4]


@pytest.mark.parametrize("verdict", [AckVerdict.REJECT, AckVerdict.DONE])
def test_a_verdict_counts_everywhere_and_a_return_nowhere(made: Made, verdict: AckVerdict) -> None:
    one, two = made(), made()
    for home in (one, two):
        publisher = home.publisher(5)
        for _ in range(2):
            publisher.publish()
        home.commit()
    reader = one.reader(7, DURABLE, credit=1)
    reader.acknowledge(verdict)
    one.commit()
    other = one.reader(8, DURABLE, credit=1)
    other.acknowledge(AckVerdict.AGAIN)
    one.commit()
    tell(one, two)
    assert opened(two) == 1
    assert numbers(two.reader(9, DURABLE)) == [2]


def test_what_is_at_a_consumer_of_the_other_home_leaves_too_and_its_acknowledgement_is_none(made: Made) -> None:
    one, two = made(), made()
    for home in (one, two):
        home.publisher(5).publish()
        home.commit()
    first, second = one.reader(7, DURABLE), two.reader(8, DURABLE)
    first.acknowledge()
    tell(one, two)
    assert opened(two) == two.durables.figures(DURABLE).out == 0
    second.acknowledge()
    two.commit()
    assert two.durables.figures(DURABLE).acked == 1
    assert tell(two, one) == 0


def test_what_is_dropped_or_expires_at_one_home_stays_at_the_other(made: Made) -> None:
    one, two = made(replace(ALL, count=2)), made()
    for home in (one, two):
        publisher = home.publisher(5)
        for _ in range(5):
            publisher.publish()
        home.commit()
    assert one.reader(7, DURABLE, credit=1).lost == {LossReason.LOG_FULL: 3}
    tell(one, two)
    assert (opened(one), opened(two)) == (2, 5)


def test_a_range_that_was_read_does_not_grow_and_what_all_have_is_forgotten(made: Made) -> None:
    one, two = made(), made()
    publisher = one.publisher(5)
    for _ in range(3):
        publisher.publish()
    one.commit()
    for known in range(1, 4):
        one.reader(7 + known, DURABLE, credit=1).acknowledge()
        one.switch.end(one.readers[-1].connection, now=True)
        one.commit()
        if known < 3:
            at, packed = one.durables.finished(DURABLE, 0)
            assert len(packed) == 20 * known
            assert int.from_bytes(packed[-4:], "little") == 1
    one.durables.passed_on(DURABLE, at + 1)
    at, packed = one.durables.finished(DURABLE, 0)
    assert len(packed) == 20
    two.durables.finish(DURABLE, packed)
    late = two.publisher(5)
    for _ in range(3):
        late.publish()
    two.commit()
    assert numbers(two.reader(8, DURABLE)) == [1, 2]


def test_counters_that_follow_are_one_range_of_at_most_64(made: Made) -> None:
    one = made()
    publisher = one.publisher(5)
    for _ in range(100):
        publisher.publish(size=10)
    one.commit()
    one.reader(7, DURABLE).acknowledge()
    _, packed = one.durables.finished(DURABLE, 0)
    assert [int.from_bytes(packed[at + 16 : at + 20], "little") for at in (0, 20)] == [64, 36]


@pytest.mark.slow
def test_the_oldest_ranges_are_forgotten_at_the_bound(made: Made) -> None:
    """Publishers take turns, so that each message is a range of its own."""
    one = made()
    publishers = [one.publisher(number, credit=1 << 20) for number in (5, 6)]
    reader, counter, oldest = one.reader(7, DURABLE), 0, 0
    while 2 * counter < RANGES_MAX + 100:
        for _ in range(100):
            counter += 1
            for publisher in publishers:
                frame = encode_publish(publisher.number, counter, 0, {"n": 1}, b"", STORED)
                one.switch.feed(publisher.connection, frame)
        one.commit()
        reader.acknowledge()
        oldest = oldest or one.durables.finished(DURABLE, 0)[0]
    assert one.durables.finished(DURABLE, 0)[0] - oldest == 2 * counter - RANGES_MAX


def test_random_histories(made: Made) -> None:
    """The oracle knows what was published and what consumers finished. What a home was told of messages that are to
    come is in its memory alone, so a restart may deliver these again."""
    random, homes = Random(3900), [made(), made()]
    published: list[set[int]] = [set(), set()]
    done: set[int] = set()
    told_early: list[set[int]] = [set(), set()]
    at = [0, 0]
    publishers = [home.publisher(5, credit=1 << 20) for home in homes]
    number = 60
    for _ in range(400):
        which = random.randrange(2)
        home = homes[which]
        match random.randrange(6):
            case 0 | 1:
                for _ in range(random.randrange(5)):
                    published[which].add(publishers[which].publish(size=random.randrange(50)))
            case 2:
                home.commit()
                number += 1
                reader = home.reader(number, DURABLE, credit=random.randrange(1, 6))
                finished = {message.counter for message in reader.got}
                assert not finished - published[which]
                reader.acknowledge()
                done |= finished
                home.switch.end(reader.connection, now=True)
                home.turn()
            case 3:
                at[which] = tell(home, homes[1 - which], at=at[which])
                home.durables.passed_on(DURABLE, max(0, at[which] - 1))
            case 4:
                home.commit()
            case 5 if random.random() < 0.3:
                home.commit()
                at[which] = tell(home, homes[1 - which], at=at[which])
                homes[1 - which].commit()
                told_early[which] |= done - published[which]
                home.restart()
                at[which] = 0
                publishers[which] = home.publisher(5, credit=1 << 20)
                publishers[which].counters = iter(range(max(published[which], default=0) + 1, 1 << 20))
    for which, home in enumerate(homes):
        home.commit()
        tell(home, homes[1 - which], at=at[which])
    for which, home in enumerate(homes):
        home.commit()
        reader = home.reader(7 + which, DURABLE)
        got = numbers(reader)
        assert len(got) == len(set(got))
        assert published[which] - done <= set(got) <= (published[which] - done) | told_early[which]
