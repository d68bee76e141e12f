"""A full subscription stops no message: live subscribers and all other subscriptions get it once, however often it is
sent; one with storage is refused, and confirmed at a retry once no subscription lacks it."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from tamis.client.durable.policy import durable_of
from tamis.protocol.messages import MessageId
from tamis.protocol.wire.codes import LossReason, RefusalCode
from tamis.protocol.wire.header import Flags
from tests.native.slow_router import SlowRouter

REFUSING, ALL, OTHER = 1, 2, 3
POLICY = {
    REFUSING: durable_of("refusing", "true", count=1, overflow="refuse").policy,
    ALL: durable_of("all", "true").policy,
}


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Callable[..., SlowRouter]]:
    routers: list[SlowRouter] = []

    def make(**options: object) -> SlowRouter:
        routers.append(SlowRouter(tmp_path / str(len(routers)), **{"durables": POLICY, **options}))
        return routers[-1]

    yield make
    for each in routers:
        each.close()


def names(counters: list[int], origin: int = 1) -> list[MessageId]:
    return [MessageId(origin, counter) for counter in counters]


def test_a_full_durable_concerns_nobody_else(made):
    router = made()
    publisher, live = router.publisher(1), router.reader(7)
    first = publisher.publish()
    refused = [publisher.publish() for _ in range(4)]
    router.commit()
    assert publisher.confirmed == [first]
    assert publisher.refused == dict.fromkeys(refused, RefusalCode.LOG_FULL)
    assert set(publisher.reasons.values()) == {"stored in 1 of 2: a matching durable subscription has no room"}
    for _ in range(3):
        for counter in refused:
            publisher.publish(again=counter)
        router.commit()
    assert publisher.confirmed == [first]
    assert live.got == names([first, *refused])
    assert router.durables.figures(ALL).open == 5
    assert router.durables.figures(REFUSING).open == 1
    assert router.durables.figures(REFUSING).refused == 16
    assert router.reader(8, ALL).got == names([first, *refused])


def test_a_second_try_is_confirmed_once_no_durable_lacks_it(made):
    router = made()
    publisher, live = router.publisher(1), router.reader(7)
    first, second = publisher.publish(), publisher.publish()
    router.commit()
    reader = router.reader(8, REFUSING)
    assert reader.got == names([first])
    reader.acknowledge()
    router.commit()
    assert publisher.publish(again=second) == second
    assert publisher.confirmed == [first], "it is not on disk yet"
    router.commit()
    assert publisher.confirmed == [first, second]
    assert reader.got == names([first, second])
    publisher.publish(again=second)
    router.commit()
    assert publisher.confirmed == [first, second, second]
    assert (router.durables.figures(ALL).open, router.durables.figures(REFUSING).appended) == (2, 2)
    assert live.got == names([first, second])


@pytest.mark.parametrize("is_late", [False, True])
def test_a_durable_that_is_forgotten_lacks_nothing(made, is_late):
    router = made()
    publisher = router.publisher(1, credit=10_000)
    _, second = publisher.publish(), publisher.publish()
    router.commit()
    if is_late:
        publisher.counters = count(second + 5_000)
        publisher.publish()
        router.commit()
    while router.durables.remove(REFUSING, 9):
        pass
    publisher.publish(again=second)
    router.commit()
    assert publisher.confirmed[-1] == second
    assert router.durables.figures(ALL).open == 2 + is_late


def test_a_durable_that_was_made_meanwhile_gets_it_with_the_second_try(made):
    router = made()
    publisher = router.publisher(1)
    first, second = publisher.publish(), publisher.publish()
    router.commit()
    router.durables.open(OTHER, durable_of("other", "true").policy)
    publisher.publish(again=second)
    router.commit()
    assert publisher.confirmed == [first]
    assert publisher.reasons[second].startswith("stored in 2 of 3")
    publisher.publish(again=second)
    assert router.reader(8, OTHER).got == names([second])


def test_plain_messages_are_never_refused_and_the_durable_tells_of_its_loss(made):
    router = made()
    publisher, live = router.publisher(1), router.reader(7)
    sent = [publisher.publish(flags=Flags.CONFIRM) for _ in range(5)]
    sent += [publisher.publish(flags=Flags(0)) for _ in range(5)]
    router.commit()
    assert (publisher.confirmed, publisher.refused) == (sent[:5], {})
    assert live.got == names(sent)
    assert router.durables.figures(ALL).open == 10
    full = router.durables.figures(REFUSING)
    assert (full.open, full.appended, full.dropped, full.refused) == (1, 10, 9, 0)
    router.commit()
    assert router.reader(8, REFUSING).lost == {LossReason.LOG_FULL: 9}
    router.restart()
    full = router.durables.figures(REFUSING)
    assert (full.open, full.appended, full.dropped) == (1, 10, 9)
    assert router.reader(8, REFUSING).lost == {LossReason.LOG_FULL: 9}


def test_a_consumer_is_told_of_what_never_came(made):
    router = made()
    publisher, reader = router.publisher(1), router.reader(8, REFUSING)
    for _ in range(5):
        publisher.publish(flags=Flags(0))
    router.commit()
    assert reader.lost == {LossReason.LOG_FULL: 4}
    publisher.publish(flags=Flags(0))
    router.commit()
    assert reader.lost == {LossReason.LOG_FULL: 5}


def test_a_start_knows_which_durables_have_it(made):
    router = made()
    publisher = router.publisher(1)
    first, *refused = [publisher.publish() for _ in range(4)]
    router.commit()
    router.restart()
    publisher, live = router.publisher(1), router.reader(7)
    for _ in range(3):
        for counter in refused:
            publisher.publish(again=counter)
        router.commit()
    assert publisher.refused == dict.fromkeys(refused, RefusalCode.LOG_FULL)
    assert (publisher.confirmed, live.got, router.durables.figures(ALL).open) == ([], [], 4)
    publisher.publish(again=first)
    reader = router.reader(8, REFUSING)
    for counter in refused:
        reader.acknowledge()
        publisher.publish(again=counter)
        router.commit()
    assert publisher.confirmed == [first, *refused]
    assert router.durables.figures(ALL).open == 4
    router.restart()
    publisher = router.publisher(1)
    for counter in refused:
        publisher.publish(again=counter)
    router.commit()
    assert (publisher.confirmed, publisher.refused) == (refused, {})
    assert router.durables.figures(ALL).appended == 4


def test_a_full_log_stops_no_message(made):
    router = made(bytes_max=1 << 20, durables={ALL: POLICY[ALL], OTHER: durable_of("other", "true").policy})
    publisher, live = router.publisher(1, credit=100_000), router.reader(7)
    while not publisher.refused:
        publisher.publish(size=5_000)
        router.commit()
    counter = next(iter(publisher.refused))
    assert publisher.refused[counter] == RefusalCode.LOG_FULL
    plain = [publisher.publish(flags=Flags.CONFIRM) for _ in range(20)]
    durable = [publisher.publish() for _ in range(10)]
    for each in durable:
        publisher.publish(again=each)
    router.commit()
    assert live.got[-30:] == names(plain + durable)
    assert plain == [each for each in publisher.confirmed if each in plain]
    assert {publisher.refused[each] for each in durable} == {RefusalCode.LOG_FULL}
    assert publisher.reasons[durable[-1]] == "stored in 0 of 2: the log has no room"
    assert len(live.got) == len(set(live.got))
    assert router.durables.figures(ALL).dropped == 20


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("has_starts", [False, True])
def test_whatever_happens_each_durable_has_it_once_and_no_confirmation_is_wrong(made, seed, has_starts):
    """Messages, second tries of any of them, acknowledgements; and starts, where what a start reads is still in the
    log, as one subscription acknowledges nothing."""
    print("seed", seed)
    dice = random.Random(seed)
    router, confirmed, sent = made(), set[int](), list[int]()
    positions: dict[int, dict[MessageId, set[int]]] = {REFUSING: {}, ALL: {}}

    def end_life() -> None:
        confirmed.update(publisher.confirmed)
        for durable, reader in readers.items():
            for name, position in zip(reader.got, reader.positions, strict=True):
                positions[durable].setdefault(name, set()).add(position)

    publisher, readers = (
        router.publisher(1),
        {durable: router.reader(10 + durable, durable) for durable in (REFUSING, ALL)},
    )
    for _ in range(200):
        what = dice.randrange(10)
        if what < 4 or not sent:
            sent.append(publisher.publish(size=10))
        elif what < 8:
            publisher.publish(size=10, again=dice.choice(sent))
        elif what < 9:
            router.commit()
            readers[REFUSING if has_starts else dice.choice([REFUSING, REFUSING, ALL])].acknowledge()
        elif has_starts and dice.randrange(3) == 0:
            router.commit()
            end_life()
            router.restart()
            counters = publisher.counters
            publisher, readers = (
                router.publisher(1),
                {durable: router.reader(10 + durable, durable) for durable in readers},
            )
            publisher.counters = counters
        router.turn()
    router.commit()
    end_life()
    for of_durable in positions.values():
        assert max(map(len, of_durable.values())) == 1
        assert set(names(list(confirmed))) <= set(of_durable)
    assert set(names(sent)) == set(positions[ALL])
    assert len(confirmed) > 5
