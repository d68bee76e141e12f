"""A switch that is an entry: messages that durable subscriptions elsewhere want are stored, and sent to their homes, of
which one is a real switch with a log of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from tamis.native import EventType
from tamis.native.custody import HomeChain, SwitchHomes
from tamis.native.durables import SwitchDurables
from tamis.native.guards import NO_GUARD, Border, GuardRules
from tamis.native.log import GIVEN_UP, Log
from tamis.protocol.language import parse
from tamis.protocol.wire.client_bodies import Ack
from tamis.protocol.wire.codes import RefusalCode
from tamis.protocol.wire.custody_bodies import LogLife
from tamis.protocol.wire.data_frames import DataFrame, encode_data, encode_publish
from tamis.protocol.wire.directed_frames import undirected
from tamis.protocol.wire.durable_bodies import Overflow
from tamis.protocol.wire.extensions import Custody, ExtensionType
from tamis.protocol.wire.header import Flags
from tamis.protocol.wire.kinds import FrameKind
from tamis.router.durable.custody_log import given_up_numbers
from tamis.router.durable.pace import READ_BYTES
from tests.native.test_arrivals import BEGUN, DURABLE, JOBS, RING, STORED, HomeRouter
from tests.native.test_directed import DirectingRouter
from tests.native.test_others import ALICE, EAST, EVERYTHING, FAR, LINK, ME, WEST, message, packed
from tests.native.test_route import sent

HOME_LOG, WINDOW = 77, 4 << 20


class EntryRouter(DirectingRouter):
    """An entry, of which Alice is a client: east and far are homes; its log commits on command."""

    def __init__(self, folder: Path, homes: Sequence[int] = (EAST, FAR)) -> None:
        super().__init__()
        self._folder = folder
        self.counters = count(1)
        self.acks: list[Ack] = []
        self.told: list[tuple[int, tuple[int, ...]]] = []
        self._open()
        for router in homes:
            self.homes.open(router)
            self.homes.want(router, 5, [packed("x = 1")])
            self.homes.acknowledged(router, HOME_LOG, 0, WINDOW)
        self.commit()

    def _open(self) -> None:
        self.log = Log(self._folder, bytes_max=1 << 24, segment_bytes=1 << 18, ring_bytes=RING, has_no_threads=True)
        self.durables = SwitchDurables(self.switch, self.log, ring_bytes=RING, has_no_thread=True)
        self.homes = SwitchHomes(self.durables, self.log)
        self.homes.follow(6)

    def restart(self) -> None:
        """End it with what was committed, and begin it again without homes."""
        self.durables.close()
        self.log.close()
        super().close()
        super().__init__()
        self._open()

    def publish(self, x: int = 1, flags: Flags = STORED, payload: bytes = b"") -> int:
        counter = next(self.counters)
        self.feed_alice(encode_publish(ALICE, counter, 0, {"x": x}, payload, flags))
        return counter

    def feed_alice(self, frame: bytes) -> None:
        events = self.switch.feed(self.alice, frame)
        assert not [event for event in events if event.type == EventType.FAULT]
        self.durables.validate()
        self.take_acks()

    def commit(self) -> None:
        while self.log.commit():
            pass
        self.switch.poll(1_000)
        self.durables.validate()
        self.take_acks()

    def take_acks(self) -> None:
        self.acks += [body for body in self.sent(self.alice) if isinstance(body, Ack)]

    def directed(self) -> dict[int, list[DataFrame]]:
        """Return what leaves for each home since the last call."""
        found: dict[int, list[DataFrame]] = {EAST: [], FAR: []}
        for frame in sent(self, self.east):
            if frame.kind is FrameKind.DIRECTED:
                found[place_of(frame).home].append(frame)
        return found

    def catch_up(self, router: int) -> None:
        """Send from the log what a home is behind by, and its link takes now."""
        self.homes.catch_up(router, READ_BYTES)
        while self.log.serve():
            pass
        list(self.homes.answered(self.tell))
        self.durables.validate()

    def tell(self, chain: HomeChain, n: int, body: bytes) -> None:
        numbers = given_up_numbers(body) if body else (n,)
        self.told.append((chain.router, numbers if body else ()))
        self.homes.sent_gap(chain.router, numbers[-1])

    def chain(self, router: int) -> HomeChain:
        found = self.homes.chain_of(router)
        assert found is not None
        return found

    @property
    def confirmed(self) -> list[int]:
        return [n for ack in self.acks for first, last in ack.ranges for n in range(first, last + 1)]

    @property
    def refused(self) -> Mapping[int, RefusalCode]:
        return {each.number: RefusalCode(each.code) for ack in self.acks for each in ack.refusals}

    def close(self) -> None:
        self.durables.close()
        self.log.close()
        super().close()


@pytest.fixture(name="entry")
def _entry(tmp_path: Path) -> Iterator[EntryRouter]:
    entry = EntryRouter(tmp_path / "entry")
    yield entry
    entry.close()


def place_of(frame: DataFrame) -> Custody:
    place = frame.extensions[ExtensionType.CUSTODY]
    assert isinstance(place, Custody)
    return place


def numbers(frames: list[DataFrame]) -> list[tuple[int, int]]:
    return [(place_of(frame).previous, place_of(frame).n) for frame in frames]


# --- what leaves ------------------------------------------------------------------------------------------------------


def test_a_message_is_one_record_and_leaves_at_once_for_each_home_that_wants_it(entry):
    entry.homes.want(FAR, 6, [packed("x = 2")])
    entry.publish(1)
    entry.publish(2)
    entry.publish(3)
    left = entry.directed()
    first, second = (place_of(frame).n for frame in left[FAR])
    assert numbers(left[EAST]) == [(0, first)]
    assert numbers(left[FAR]) == [(0, first), (first, second)]
    state = entry.log.state()
    assert place_of(left[EAST][0]).written == LogLife(int(state["log_id"]), int(state["life"]), 6)
    assert place_of(left[EAST][0]).home_log == HOME_LOG
    assert entry.confirmed == [3], "stored is said when it is on disk"
    entry.commit()
    assert entry.confirmed == [3, 1, 2]
    records = list(entry.log.read(FAR, is_home=True))
    assert [record.n for record in records] == [first, second]
    assert [dict(record.homes) for record in records] == [{EAST: 0, FAR: 0}, {FAR: first}]
    assert undirected(encode_data(left[FAR][1]))[2][8:] == records[1].body[8:]
    assert entry.durables.departures().entered == 2


def test_what_no_home_wants_leaves_as_ever(entry):
    entry.publish(3)
    assert entry.directed() == {EAST: [], FAR: []}
    entry.homes.unwant(FAR, 5)
    entry.publish()
    assert [len(frames) for frames in entry.directed().values()] == [1, 0]
    while entry.homes.close(EAST, 1):
        pass
    entry.publish()
    assert entry.directed() == {EAST: [], FAR: []}
    assert entry.switch.subscribed(0) is None
    with pytest.raises(KeyError):
        entry.homes.want(EAST, 5, [EVERYTHING])
    entry.homes.open(EAST)
    entry.homes.want(EAST, 5, [EVERYTHING])
    entry.publish(9)
    [frame] = entry.directed()[EAST]
    assert place_of(frame).previous > 0, "its chain goes on"


def test_own_subscribers_durable_or_not_get_it_as_well(entry):
    entry.durables.open(DURABLE, JOBS)
    entry.subscribe(1, "x = 1")
    entry.publish()
    entry.commit()
    assert [len(frames) for frames in entry.directed().values()] == [1, 1]
    [record] = entry.log.read(DURABLE)
    assert len(record.homes) == 2
    assert entry.durables.figures(DURABLE).open == 1


def test_messages_of_other_routers_enter_elsewhere(entry):
    entry.switch.feed(entry.west, encode_data(message()))
    assert entry.directed() == {EAST: [], FAR: []}


# --- publishers -------------------------------------------------------------------------------------------------------


def test_a_message_without_room_in_the_log_is_refused_and_taken_when_it_comes_again(entry):
    entry.publish(payload=bytes(RING * 2 // 5))
    entry.commit()
    entry.publish(payload=bytes(RING * 9 // 20))
    body = bytes(RING * 12 // 25)
    counter = entry.publish(payload=body)  # the ring has no such stretch
    assert entry.refused == {counter: RefusalCode.OVERLOADED}
    assert len(entry.directed()[EAST]) == 2
    assert not entry.chain(EAST).is_behind
    entry.commit()
    entry.feed_alice(encode_publish(ALICE, counter, 0, {"x": 1}, body, STORED | Flags.RETRY))
    entry.commit()
    assert entry.confirmed == [1, 2, 3]
    assert len(entry.directed()[EAST]) == 1


def test_homes_get_it_once_where_a_subscription_here_has_no_room_for_it(entry):
    entry.durables.open(DURABLE, replace(JOBS, bytes=10, overflow=Overflow.REFUSE))
    counter = entry.publish()
    again = encode_publish(ALICE, counter, 0, {"x": 1}, b"", STORED | Flags.RETRY)
    entry.feed_alice(again)
    assert entry.refused == {counter: RefusalCode.LOG_FULL}
    assert len(entry.directed()[EAST]) == 1


def test_without_room_for_its_place_it_is_refused(entry):
    large = Flags.CONFIRM | Flags.DURABLE
    counter = entry.publish(payload=bytes((1 << 20) - 130), flags=large)
    assert entry.refused == {counter: RefusalCode.TOO_LARGE}
    assert entry.directed() == {EAST: [], FAR: []}


# --- a home that is behind --------------------------------------------------------------------------------------------


def test_what_finds_no_link_is_sent_from_the_log_in_order(entry):
    entry.publish()
    entry.switch.end(entry.east, now=True)
    for _ in range(5):
        entry.publish()
    entry.commit()
    entry.publish()  # not on disk
    assert entry.chain(EAST).is_behind
    entry.east = entry.opened(replace(LINK, number=EAST, version=3))
    entry.publish()
    assert entry.directed()[EAST] == [], "what is behind comes first"
    entry.catch_up(EAST)
    frames = entry.directed()[EAST]
    assert [frame.message.id.counter for frame in frames] == [2, 3, 4, 5, 6, 7, 8]
    chained = numbers(frames)
    assert [previous for previous, _ in chained[1:]] == [n for _, n in chained[:-1]]
    assert not entry.chain(EAST).is_behind
    entry.publish()
    assert len(entry.directed()[EAST]) == 1
    assert entry.durables.departures().resent == 7


def test_a_window_bounds_what_is_on_the_way(entry):
    entry.homes.acknowledged(EAST, HOME_LOG, 0, 500)
    for _ in range(20):
        entry.publish(payload=bytes(100))
    sent_first = entry.directed()[EAST]
    assert 0 < len(sent_first) < 20
    entry.commit()
    entry.catch_up(EAST)
    assert entry.directed()[EAST] == [], "the window is full"
    while entry.chain(EAST).is_behind:
        entry.homes.acknowledged(EAST, HOME_LOG, entry.chain(EAST).sent, 500)
        entry.catch_up(EAST)
        sent_first += entry.directed()[EAST]
    assert [frame.message.id.counter for frame in sent_first] == list(range(1, 21))
    assert len(entry.directed()[FAR]) == 0
    entry.homes.acknowledged(EAST, HOME_LOG, entry.chain(EAST).sent, 0)
    entry.publish()
    assert entry.directed()[EAST] == [], "a window of 0 lets nothing go"


def test_after_a_restart_the_chain_goes_on_from_what_was_acknowledged(entry):
    for _ in range(4):
        entry.publish()
    second = place_of(entry.directed()[EAST][1]).n
    entry.commit()
    entry.homes.acknowledged(EAST, HOME_LOG, second, WINDOW)
    entry.commit()
    entry.restart()
    entry.homes.open(EAST)
    chain = entry.chain(EAST)
    assert (chain.log, chain.have, chain.sent) == (HOME_LOG, second, second)
    assert chain.is_behind
    entry.catch_up(EAST)
    assert [frame.message.id.counter for frame in entry.directed()[EAST]] == [3, 4]


def test_another_log_of_a_home_gets_all_that_is_stored_from_the_beginning(entry):
    entry.publish()
    entry.publish()
    first = place_of(entry.directed()[EAST][0]).n
    entry.commit()
    entry.homes.acknowledged(EAST, HOME_LOG, first, WINDOW)
    entry.commit()
    entry.homes.acknowledged(EAST, HOME_LOG + 1, 0, WINDOW)
    entry.catch_up(EAST)
    [frame] = entry.directed()[EAST]
    assert (place_of(frame).previous, place_of(frame).home_log) == (0, HOME_LOG + 1)
    entry.homes.acknowledged(EAST, HOME_LOG + 1, place_of(frame).n, WINDOW)
    entry.commit()
    entry.homes.acknowledged(EAST, HOME_LOG + 2, 0, WINDOW)
    assert not entry.chain(EAST).is_behind
    entry.publish()
    assert place_of(entry.directed()[EAST][0]).previous == 0


def test_numbers_that_were_never_given_are_refused(entry):
    entry.publish()
    last = entry.chain(EAST).last
    for have in (entry.log.next_number, (1 << 64) - 1):
        with pytest.raises(ValueError, match="never given"):
            entry.homes.acknowledged(EAST, HOME_LOG, have, WINDOW)
        with pytest.raises(ValueError, match="never given"):
            entry.homes.go_back(EAST, have)
    entry.homes.acknowledged(EAST, HOME_LOG, last, WINDOW)
    with pytest.raises(ValueError, match="less than before"):
        entry.homes.acknowledged(EAST, HOME_LOG, 0, WINDOW)
    with pytest.raises(ValueError, match="never given"):
        entry.homes.acknowledged(EAST, HOME_LOG - 1, last, WINDOW)
    with pytest.raises(KeyError):
        entry.homes.acknowledged(WEST, HOME_LOG, 0, WINDOW)


def test_an_answer_of_the_log_from_before_the_home_went_back_sends_nothing(entry):
    for _ in range(3):
        entry.publish()
    entry.commit()
    entry.directed()
    second = sorted(record.n for record in entry.log.read(EAST, is_home=True))[1]
    entry.homes.go_back(EAST, second)
    entry.homes.catch_up(EAST, READ_BYTES)
    entry.homes.go_back(EAST, 0)
    entry.catch_up(EAST)
    assert entry.directed()[EAST] == []
    entry.catch_up(EAST)
    assert [frame.message.id.counter for frame in entry.directed()[EAST]] == [1, 2, 3]


def test_the_border_of_a_link_holds_for_what_is_sent(entry):
    guard = entry.switch.new_guard(GuardRules(parse("x = 1 and y = 1").filters))
    entry.switch.border(entry.east, Border(NO_GUARD, guard, None))
    entry.publish()
    assert entry.directed()[EAST] == []
    assert entry.chain(EAST).is_behind
    assert entry.dropped("not_allowed") == 0


# --- what is given up -------------------------------------------------------------------------------------------------


def test_many_filters_of_homes_are_held_once_and_match(entry):
    """The bytes of a filter are in the table alone, but for those few that a plan may have."""
    before = entry.switch.figures().memory_bytes
    for number in range(1_000):
        entry.homes.want(EAST, 10 + number, [packed(f'x = {number} and text = "{"t" * 1_000}"')])
    assert entry.switch.figures().memory_bytes - before < 256 * 1_100 + 1_000 * 200
    entry.homes.want(FAR, 2_000, [packed("x = 700")])
    entry.publish(x=700)
    entry.commit()
    assert [len(frames) for frames in entry.directed().values()] == [0, 1]
    for number in range(1_000):
        entry.homes.unwant(EAST, 10 + number)
    entry.homes.unwant(FAR, 2_000)
    entry.publish(x=700)
    entry.publish(x=1)
    entry.commit()
    assert [len(frames) for frames in entry.directed().values()] == [1, 1]


def make_room(entry: EntryRouter, router: int) -> None:
    entry.commit()
    entry.homes.make_room(router)
    entry.catch_up(router)


def test_past_the_bound_the_oldest_are_given_up_and_told_before_what_follows(entry):
    entry.homes.bound(3_000)
    entry.switch.end(entry.east, now=True)
    for _ in range(20):
        entry.publish(payload=bytes(100))
    assert entry.chain(EAST).bytes > 3_000
    entry.commit()
    before = [record.n for record in entry.log.read(EAST, is_home=True)]
    while entry.chain(EAST).bytes > 3_000:
        make_room(entry, EAST)
    entry.commit()
    left = [record.n for record in entry.log.read(EAST, is_home=True) if record.kind == GIVEN_UP]
    assert len(left) > 1
    given_up = entry.durables.departures().given_up
    assert 10 < given_up < 20
    assert entry.chain(EAST).given_up == before[given_up - 1]
    entry.east = entry.opened(replace(LINK, number=EAST, version=3))
    entry.publish()
    assert entry.directed()[EAST] == [], "what was given up comes first"
    for _ in range(9):
        make_room(entry, EAST)
    assert [n for _, numbers in entry.told for n in numbers] == before[:given_up]
    frames = entry.directed()[EAST]
    assert numbers(frames)[0] == (before[given_up - 1], before[given_up])
    assert [frame.message.id.counter for frame in frames] == list(range(given_up + 1, 22))
    entry.homes.acknowledged(EAST, HOME_LOG, entry.chain(EAST).sent, WINDOW)
    assert (entry.chain(EAST).bytes, entry.chain(EAST).given_up) == (0, 0)
    assert entry.chain(FAR).gap == 0


def test_a_start_knows_what_was_given_up(entry):
    entry.homes.bound(2_000)
    for _ in range(30):
        entry.publish(payload=bytes(100))
    entry.commit()
    sent_before = [place_of(frame).n for frame in entry.directed()[EAST]]
    while entry.chain(EAST).bytes > 2_000:
        make_room(entry, EAST)
    entry.commit()
    chain = entry.chain(EAST)
    entry.restart()
    entry.homes.open(EAST)
    found = entry.chain(EAST)
    assert (found.given_up, found.last, found.have) == (chain.given_up, chain.last, chain.have)
    assert found.gap > 0
    assert 0 < found.bytes <= 2_000
    for _ in range(9):
        entry.catch_up(EAST)
    told = [n for _, numbers in entry.told for n in numbers]
    left = [place_of(frame).n for frame in entry.directed()[EAST]]
    assert told + left == sent_before
    assert left


def test_another_log_of_a_home_is_told_what_was_given_up_as_well(entry):
    entry.homes.bound(1_000)
    for _ in range(9):
        entry.publish(payload=bytes(100))
    make_room(entry, EAST)
    entry.commit()
    chain = entry.chain(EAST)
    entry.homes.acknowledged(EAST, HOME_LOG, chain.given_up, WINDOW)
    entry.homes.acknowledged(EAST, HOME_LOG + 1, 0, WINDOW)
    found = entry.chain(EAST)
    assert (found.have, found.sent, found.given_up, found.last) == (0, 0, chain.given_up, chain.last)
    assert found.gap > 0


# --- with a real home -------------------------------------------------------------------------------------------------


def test_a_home_gets_what_it_lacks_however_links_and_disks_behave(entry, tmp_path):
    """Links lose and repeat frames; entry and home are restarted; in the end the home has each message once."""
    home = HomeRouter(tmp_path / "home")
    try:
        _lives(entry, home)
    finally:
        home.close()


def _lives(entry: EntryRouter, home: HomeRouter) -> None:
    """West is the entry of `home`, whose frames are carried by hand, as one that is for ME."""
    home.custody.set_chain(replace(BEGUN, log=int(entry.log.state()["log_id"]), life=int(entry.log.state()["life"])))
    home_log = int(home.log.state()["log_id"])
    entry.homes.acknowledged(EAST, home_log, 0, WINDOW)
    published = 0
    for round_ in range(40):
        entry.publish()
        published += 1
        frames = entry.directed()[EAST]
        if round_ % 5 == 2:
            frames = frames[1:]
        if round_ % 7 == 3:
            frames = frames * 2
        _carry(frames, home)
        if round_ % 3 == 0:
            entry.commit()
            home.commit()
        if round_ % 8 == 7:
            _acknowledge(entry, home)
    entry.commit()
    for _ in range(3):
        _acknowledge(entry, home)
    stored = [undirected_counter(record.body) for record in home.stored]
    assert stored == list(range(1, published + 1))
    assert home.chain.have == entry.chain(EAST).last == entry.chain(EAST).have
    assert list(entry.log.read(EAST, is_home=True)) == []


def undirected_counter(body: bytes) -> int:
    return int.from_bytes(body[40:48], "little")


def _carry(frames: list[DataFrame], home: HomeRouter) -> None:
    for frame in frames:
        place = place_of(frame)._replace(home=ME)
        transit = frame.transit._replace(source=WEST)
        home.take(replace(frame, transit=transit, extensions={ExtensionType.CUSTODY: place}))


def _acknowledge(entry: EntryRouter, home: HomeRouter) -> None:
    """The home says what it has on disk, and the entry sends the rest again."""
    home.commit()
    have = next(chain.have for chain in home.log.chains() if chain.router == WEST)
    entry.homes.acknowledged(EAST, int(home.log.state()["log_id"]), have, WINDOW)
    entry.homes.go_back(EAST, have)
    entry.commit()
    entry.catch_up(EAST)
    _carry(entry.directed()[EAST], home)
    home.commit()
