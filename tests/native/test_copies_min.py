"""An entry whose messages need some copies of a durable subscription (copies_min): which are confirmed as held, which
are refused, and when. A judge of its own follows random histories."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tamis.native.durables import SwitchDurables
from tamis.native.log import Log
from tamis.protocol.wire.codes import RefusalCode
from tamis.protocol.wire.custody_bodies import ChainRange
from tamis.protocol.wire.data_frames import encode_publish
from tamis.protocol.wire.durable_bodies import DurablePolicy
from tamis.protocol.wire.header import Flags
from tests.native.test_arrivals import DURABLE, RING, STORED
from tests.native.test_departures import HOME_LOG, WINDOW, EntryRouter
from tests.native.test_others import ALICE, EAST, FAR, packed

HELD = STORED | Flags.EVERY_HOME
THIRD, FOURTH = 31, 32
HOMES = (EAST, FAR, THIRD, FOURTH)
HISTORIES, STEPS, PUBLISHED_MAX = 60, 160, 90
NEITHER = "waits"


class Entry(EntryRouter):
    """An entry whose homes want what `copy` and `sole` say."""

    def __init__(self, folder: Path, homes: Sequence[int] = HOMES, waits_max: int = 0) -> None:
        self._waits_max = waits_max
        super().__init__(folder, homes)
        for router in homes:
            self.homes.unwant(router, 5)

    def _open(self) -> None:
        super()._open()
        if self._waits_max:
            self.durables.close()
            self.log.close()
            self.log = Log(self._folder, bytes_max=1 << 24, segment_bytes=1 << 18, ring_bytes=RING, has_no_threads=True)
            limits = {"ring_bytes": RING, "waits_max": self._waits_max, "has_no_thread": True}
            self.durables = SwitchDurables(self.switch, self.log, **limits)
            self.homes = type(self.homes)(self.durables, self.log)

    def wants(self, router: int, number: int, what: str, copies: int = 0, copies_min: int = 0) -> None:
        self.homes.want(router, number, [packed(f"{what} = 1")])
        self.homes.copy(router, number, copies, copies_min)

    def has_copy(self, number: int, what: str, copies: int, copies_min: int) -> None:
        policy = DurablePolicy((packed(f"{what} = 1"),), copies_min=copies_min)
        self.durables.open(number, policy, copies=copies)

    def hold(self, *what: str) -> int:
        """Publish a message for these durable subscriptions, to be held."""
        counter = next(self.counters)
        self.feed_alice(encode_publish(ALICE, counter, 0, dict.fromkeys(what or ("other",), 1), b"", HELD))
        return counter

    def has(self, router: int, n: int | None = None, log: int = HOME_LOG) -> None:
        """Let a home acknowledge up to number `n`, or all of its chain."""
        self.homes.acknowledged(router, log, self.chain(router).last if n is None else n, WINDOW)
        self.read()

    def lacks(self, router: int) -> None:
        """Let a home say that it lacks all that it has not acknowledged."""
        chain = self.chain(router)
        self.homes.lacks(router, ChainRange(chain.have + 1, chain.last))
        self.read()

    def read(self) -> None:
        self.switch.poll(1)
        self.durables.validate()
        self.take_acks()

    def state_of(self, counter: int) -> str:
        assert (counter in self.confirmed) + (counter in self.refused) <= 1
        return "held" if counter in self.confirmed else "refused" if counter in self.refused else NEITHER


@pytest.fixture(name="entry")
def _entry(tmp_path: Path) -> Iterator[Entry]:
    entry = Entry(tmp_path / "entry")
    yield entry
    entry.close()


@pytest.fixture(name="pair")
def _pair(entry: Entry) -> Entry:
    """One of east and far is enough for `jobs`."""
    for router in (EAST, FAR):
        entry.wants(router, 6, "jobs", 99, 1)
    return entry


# --- by hand ----------------------------------------------------------------------------------------------------------


def test_one_of_two_homes_is_enough_once_the_disk_here_has_it_too(pair):
    first = pair.hold("jobs")
    pair.has(FAR)
    assert pair.state_of(first) == NEITHER
    pair.commit()
    assert pair.state_of(first) == "held"
    second = pair.hold("jobs")
    pair.commit()
    assert pair.state_of(second) == NEITHER
    pair.has(EAST)
    assert pair.state_of(second) == "held"
    assert pair.durables.departures().waiting == 0


def test_another_durable_subscription_at_a_home_needs_that_home(pair):
    pair.wants(EAST, 7, "mail")
    both, jobs = pair.hold("jobs", "mail"), pair.hold("jobs")
    pair.commit()
    pair.has(FAR)
    assert (pair.state_of(both), pair.state_of(jobs)) == (NEITHER, "held")
    pair.has(EAST)
    assert pair.state_of(both) == "held"


def test_each_of_several_conditions_holds(entry):
    for router in (EAST, FAR):
        entry.wants(router, 6, "jobs", 98, 1)
    for router in (FAR, THIRD, FOURTH):
        entry.wants(router, 7, "mail", 99, 2)
    counter = entry.hold("jobs", "mail")
    entry.commit()
    entry.has(EAST)
    entry.has(THIRD)
    assert entry.state_of(counter) == NEITHER
    entry.has(FOURTH)
    assert entry.state_of(counter) == "held"


def test_what_one_home_lacks_is_refused_if_too_few_others_are_left(entry):
    for router in (EAST, FAR, THIRD):
        entry.wants(router, 6, "jobs", 99, 2)
    counter = entry.hold("jobs")
    entry.commit()
    entry.lacks(EAST)
    assert entry.state_of(counter) == NEITHER
    entry.lacks(FAR)
    assert entry.refused == {counter: RefusalCode.NOT_HELD}
    again = entry.hold("jobs")
    entry.commit()
    entry.lacks(FAR)
    entry.has(FAR)
    entry.has(THIRD)
    assert entry.state_of(again) == NEITHER, "one that lacks it does not count, though its chain goes on"
    entry.has(EAST)
    assert entry.state_of(again) == "held"


def test_what_is_given_up_for_one_home_is_held_by_the_other(pair):
    pair.homes.bound(1_000)
    for _ in range(9):
        pair.publish(flags=STORED)
        counter = pair.hold("jobs")
    pair.commit()
    while pair.chain(EAST).bytes > 1_000:
        pair.homes.make_room(EAST)
        pair.catch_up(EAST)
        pair.commit()
    assert pair.chain(EAST).gone
    assert pair.refused == {}
    pair.has(FAR)
    assert pair.state_of(counter) == "held"


def test_with_fewer_copies_than_it_needs_a_message_is_refused_at_once(entry):
    entry.wants(EAST, 6, "jobs", 99, 2)
    counter = entry.hold("jobs")
    assert entry.refused == {counter: RefusalCode.NOT_HELD}
    entry.wants(FAR, 6, "jobs", 99, 2)
    entry.acks.clear()
    entry.feed_alice(encode_publish(ALICE, counter, 0, {"jobs": 1}, b"", HELD | Flags.RETRY))
    entry.commit()
    for router in (EAST, FAR):
        assert entry.state_of(counter) == NEITHER
        entry.has(router)
    assert entry.state_of(counter) == "held"


@pytest.mark.parametrize(("copies_min", "state"), [(1, "held"), (2, NEITHER), (3, "refused")])
def test_the_copy_of_this_router_counts(entry, copies_min, state):
    entry.has_copy(DURABLE, "jobs", 99, copies_min)
    entry.wants(EAST, 6, "jobs", 99, copies_min)
    counter = entry.hold("jobs")
    entry.commit()
    assert entry.state_of(counter) == state
    entry.has(EAST)
    assert entry.state_of(counter) == ("refused" if copies_min == 3 else "held")


def test_a_copy_here_alone_counts_as_one(entry):
    entry.has_copy(DURABLE, "jobs", 99, 2)
    counter = entry.hold("jobs")
    assert entry.refused == {counter: RefusalCode.NOT_HELD}


def test_a_new_log_of_a_home_does_not_count_for_what_waits(pair):
    """What its disk had is lost, and its chain may pass over what has no copy to go to yet."""
    counter = pair.hold("jobs")
    pair.commit()
    pair.has(EAST, 0, HOME_LOG + 1)
    pair.has(EAST, log=HOME_LOG + 1)
    assert pair.state_of(counter) == NEITHER
    pair.has(FAR)
    assert pair.state_of(counter) == "held"


def test_a_home_without_its_copy_does_not_count(pair):
    counter = pair.hold("jobs")
    pair.commit()
    pair.homes.unwant(EAST, 6)
    pair.homes.copy(EAST, 6, 0, 0)
    pair.has(EAST)
    assert pair.state_of(counter) == NEITHER
    pair.homes.unwant(FAR, 6)
    pair.homes.copy(FAR, 6, 0, 0)
    pair.read()
    assert pair.refused == {counter: RefusalCode.NOT_HELD}


def test_a_home_that_is_stated_again_counts(pair):
    counter = pair.hold("jobs")
    pair.commit()
    pair.homes.unwant(EAST, 6)
    pair.wants(EAST, 6, "jobs", 99, 1)
    pair.has(EAST)
    assert pair.state_of(counter) == "held"


def test_a_home_that_leaves_does_not_count(pair):
    counter = pair.hold("jobs")
    while pair.homes.close(EAST, 1):
        pass
    pair.commit()
    assert pair.state_of(counter) == NEITHER
    pair.has(FAR)
    assert pair.state_of(counter) == "held"
    pair.homes.open(EAST)
    pair.wants(EAST, 6, "jobs")
    alone = pair.hold("jobs")
    pair.commit()
    pair.has(FAR)
    assert pair.state_of(alone) == NEITHER, "it is no copy any more"


def test_one_that_comes_again_is_answered_once(pair):
    counter = pair.hold("jobs")
    pair.feed_alice(encode_publish(ALICE, counter, 0, {"jobs": 1}, b"", HELD | Flags.RETRY))
    pair.commit()
    for router in (FAR, EAST):
        pair.has(router)
    assert pair.confirmed == [counter]


def test_past_the_bound_of_conditions_each_home_is_needed(entry):
    """Six conditions, of which four are counted: two of the pairs need both homes. No message is confirmed too soon."""
    pairs = [(EAST, FAR), (EAST, THIRD), (EAST, FOURTH), (FAR, THIRD), (FAR, FOURTH), (THIRD, FOURTH)]
    for number, homes in enumerate(pairs, 10):
        for router in homes:
            entry.wants(router, number, "jobs", number, 1)
    counter = entry.hold("jobs")
    entry.commit()
    waiting = set(HOMES)
    for router in (THIRD, FOURTH, EAST, FAR):
        if any({*pair} <= waiting for pair in pairs):
            assert entry.state_of(counter) == NEITHER
        entry.has(router)
        waiting.discard(router)
    assert entry.state_of(counter) == "held"


def test_a_home_that_is_away_takes_no_room_from_those_who_wait(tmp_path):
    """Marks of answered messages are dropped: 900 messages pass while 64 may wait, and one waits for that home."""
    entry = Entry(tmp_path / "entry", waits_max=64)
    try:
        entry.wants(EAST, 7, "mail")
        for router in (EAST, FAR):
            entry.wants(router, 6, "jobs", 99, 1)
        first = entry.hold("mail")
        for _ in range(900):
            counter = entry.hold("jobs")
            entry.commit()
            entry.has(FAR)
            assert entry.state_of(counter) == "held"
            entry.acks.clear()
        late = entry.hold("mail")
        assert entry.refused == {}
        entry.commit()
        entry.has(EAST)
        assert sorted(entry.confirmed) == [first, late]
    finally:
        entry.close()


# --- random histories -------------------------------------------------------------------------------------------------


@dataclass
class Stated:
    """A durable subscription that `homes` state, and this router if `is_here`; `copies_min` 0: each is needed."""

    what: str
    copies_min: int
    homes: set[int]
    is_here: bool = False


@dataclass
class Waiting:
    """What a message needs, and has: `at`, its number in the chain of each home."""

    counter: int
    needs: list[tuple[frozenset[int], int]]
    sole: frozenset[int]
    at: dict[int, int]
    n: int
    had: set[int] = field(default_factory=set)
    lost: set[int] = field(default_factory=set)
    lost_wholly: set[int] = field(default_factory=set)
    is_on_disk: bool = False
    state: str = NEITHER

    def look(self) -> None:
        if self.state != NEITHER:
            return
        counted = self.had - self.lost
        if any(len(homes - self.lost) < needed for homes, needed in self.needs) or self.sole & self.lost_wholly:
            self.state = "refused"
        elif (
            self.is_on_disk and self.sole <= self.had and all(len(of & counted) >= needed for of, needed in self.needs)
        ):
            self.state = "held"


class Judged:
    """An entry, and what it should have answered, which is found here from what happened."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.dice = random.Random(seed)
        self.entry = Entry(folder)
        self.logs = dict.fromkeys(HOMES, HOME_LOG)
        self.messages: list[Waiting] = []
        self.stated = [self._stated(number) for number in range(4)]
        self.counts = {"held": 0, "refused": 0, NEITHER: 0}

    def _stated(self, number: int) -> Stated:
        dice, what = self.dice, f"s{number}"
        homes = dice.sample(HOMES, dice.randint(1, 3))
        copies_min = dice.choice((0, *range(1, len(homes) + 1)))
        is_here = copies_min > 0 and len(homes) < 3 and dice.random() < 0.4
        for router in homes:
            self.entry.wants(router, number, what, 100 + number, copies_min)
        if is_here:
            self.entry.has_copy(number + 1, what, 100 + number, copies_min)
        return Stated(what, copies_min, set(homes), is_here)

    def publish(self) -> None:
        if len(self.messages) == PUBLISHED_MAX:
            return
        asked = [each for each in self.stated if self.dice.random() < 0.5]
        some = [each for each in asked if each.homes or each.is_here]
        before = {router: self.entry.chain(router).last for router in HOMES}
        written = self.entry.log.next_number
        counter = self.entry.hold(*(each.what for each in asked))
        at = {
            router: self.entry.chain(router).last for router in HOMES if self.entry.chain(router).last > before[router]
        }
        assert set(at) == {router for each in some for router in each.homes}
        needs = [(frozenset(each.homes), each.copies_min - each.is_here) for each in some if each.copies_min]
        sole = frozenset(router for each in some if not each.copies_min for router in each.homes)
        message = Waiting(counter, [need for need in needs if need[1] > 0], sole, at, written)
        if not some:
            message.state = "held"  # nothing wants it
        message.look()
        self.messages.append(message)

    def acknowledge(self, router: int) -> None:
        chain = self.entry.chain(router)
        numbers = [m.at[router] for m in self.messages if chain.have < m.at.get(router, 0)]
        if numbers:
            have = self.dice.choice(numbers)
            self._note(router, have)
            self.entry.has(router, have, self.logs[router])

    def _note(self, router: int, have: int) -> None:
        for message in self.messages:
            if 0 < message.at.get(router, 0) <= have:
                message.had.add(router)

    def lack(self, router: int) -> None:
        for message in self._open(router):
            message.lost.add(router)
            message.lost_wholly.add(router)
        self.entry.lacks(router)

    def _open(self, router: int) -> list[Waiting]:
        return [m for m in self.messages if router in m.at and router not in m.had]

    def lose_disk(self, router: int) -> None:
        """A home comes back with another log."""
        for message in self._open(router):
            message.lost.add(router)
        self.logs[router] += 1
        self.entry.has(router, 0, self.logs[router])

    def lose_copy(self, router: int) -> None:
        stated = self.dice.choice(self.stated)
        if router in stated.homes:
            number = self.stated.index(stated)
            if stated.copies_min:
                for message in self._open(router):
                    message.lost.add(router)
            stated.homes.discard(router)
            self.entry.homes.unwant(router, number)
            self.entry.homes.copy(router, number, 0, 0)
            self.entry.read()
        elif len(stated.homes) < 3 - stated.is_here:
            stated.homes.add(router)
            self.entry.wants(router, self.stated.index(stated), stated.what, *self._copies(stated))

    def _copies(self, stated: Stated) -> tuple[int, int]:
        return 100 + self.stated.index(stated), stated.copies_min

    def commit(self) -> None:
        for message in self.messages:
            message.is_on_disk = True
        self.entry.commit()

    def step(self) -> None:
        router, kind = self.dice.choice(HOMES), self.dice.random()
        if kind < 0.45:
            self.publish()
        elif kind < 0.6:
            self.commit()
        elif kind < 0.9:
            self.acknowledge(router)
        elif kind < 0.94:
            self.lack(router)
        elif kind < 0.97:
            self.lose_copy(router)
        else:
            self.lose_disk(router)
        for message in self.messages:
            message.look()
            found = self.entry.state_of(message.counter)
            assert found == message.state, f"{message} is {found}"

    def end(self) -> None:
        for message in self.messages:
            self.counts[message.state] += 1
        self.entry.close()


@pytest.mark.parametrize("first", range(0, HISTORIES, 20))
def test_a_message_is_answered_when_its_conditions_say_so(tmp_path, first):
    counts: dict[str, int] = {}
    for seed in range(first, first + 20):
        judged = Judged(tmp_path / str(seed), seed)
        try:
            for _ in range(STEPS):
                judged.step()
        finally:
            judged.end()
        for state, count in judged.counts.items():
            counts[state] = counts.get(state, 0) + count
    assert min(counts.values()) > 20, counts
