"""An entry whose switch is in C brings a home what it stored, or tells what it gave up, through crashes of both, lost
frames, little room, and a neighbour that lies."""

from __future__ import annotations

import random
import shutil
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Self

import pytest

from tamis.native._tm import lib
from tamis.native.log import Log
from tamis.protocol.errors import FrameError
from tamis.protocol.limits import GAP_NUMBERS_MAX
from tamis.protocol.wire.custody_bodies import ChainGap, CustodyAck, CustodyAsk, CustodyBody, LogLife
from tamis.protocol.wire.data_frames import decode_data, encode_data
from tamis.protocol.wire.extensions import ExtensionType
from tamis.protocol.wire.home_bodies import StatedDurable, packed_durable
from tamis.router.core.custody.chain import ASKED_EVERY_US, RESEND_MAX_US, RESEND_US
from tamis.router.core.custody.commands import PassedOver
from tamis.router.durable.arriving_chains import ArrivingChains
from tamis.router.durable.custody import HOME_WINDOW, RouterCustody, message_id
from tamis.router.durable.departing_chains import ALL_BYTES_MAX, BYTES_MAX, DepartingChains
from tests.native.test_arrivals import HomeRouter
from tests.native.test_departures import EntryRouter, numbers, place_of
from tests.native.test_others import EAST, FAR, LINK, ME, WEST, packed
from tests.router.durable.test_custody import DURABLE, SMALL

LAST = 2**64 - 1
STEP_US = 20_000
LIVES = {0: 8, 100: 100}


def stated_durable(predicate: str) -> bytes:
    return packed_durable(StatedDurable("jobs", "", (packed(predicate),), 0, 0, 0))


WANTED = {5: stated_durable("x = 1")}


class Home(RouterCustody):
    """A home of which the rules are in Python; what it sends is taken from its list."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.log = folder, Log(folder, **SMALL)
        self.out: list[CustodyAck | CustodyAsk] = []
        state = self.log.state()
        self.life = LogLife(state["log_id"], state["life"], state["life_before"])
        super().__init__(EAST, self.log, self.life, self)

    def homes_for(self, _frame: bytes) -> Collection[int]:
        return ()

    def durables_for(self, _frame: bytes) -> Sequence[int]:
        return (DURABLE,)

    def send(self, _router: int, frame: bytes | CustodyBody) -> None:
        assert isinstance(frame, CustodyAck | CustodyAsk)
        self.out.append(frame)

    def read(self, home: int, after: int, size: int) -> None:
        raise AssertionError(home, after, size)

    answer = store_statement = say_holds = read  # type: ignore[assignment]

    def crash(self, after: Path) -> Home:
        """Lose what is not on disk."""
        shutil.copytree(self.folder, after)
        self.log.close()
        return Home(after)

    def commit(self, _now_us: int) -> None:
        while self.log.commit():
            pass
        self.committed()

    def close(self) -> None:
        self.log.close()

    def greet(self, entry: LogLife) -> None:
        self.know(ME, entry.log)
        self.held(ME, entry)

    @property
    def lost(self) -> tuple[int, int]:
        """The numbers that were given up for it, and its doubts."""
        return next((chain.lost, chain.doubts) for chain in self.log.chains() if chain.router == ME)


class SwitchHome:
    """A home whose switch is in C. It is ME for itself, and west is its entry."""

    def __init__(self, folder: Path) -> None:
        self.router, self.entry_log = HomeRouter(folder), 0
        self.out: list[CustodyAck | CustodyAsk] = []
        self.begin(folder)

    def begin(self, folder: Path) -> None:
        self.folder, self.log = folder, self.router.log
        state = self.log.state()
        self.life = LogLife(int(state["log_id"]), int(state["life"]), int(state["life_before"]))
        custody, chains = self.router.custody, self.log.chains()
        logs = (lambda _: self.entry_log), (lambda _: False)
        self.chains = ArrivingChains(
            *(ME, self.life.log, custody, chains, self.send), *logs, lambda _, __, then: then(), lambda: None
        )

    def crash(self, after: Path) -> Self:
        shutil.copytree(self.folder, after)
        self.router._folder = after
        self.router.restart()
        self.begin(after)
        return self

    def send(self, body: CustodyAck | CustodyAsk) -> None:
        self.out.append(replace(body, home=EAST, entry=ME))

    def commit(self, now_us: int) -> None:
        self.chains.news(self.router.commit(), now_us)

    def greet(self, entry: LogLife) -> None:
        self.entry_log = entry.log
        self.chains.held(WEST, entry)

    def tick(self, _now_us: int) -> None:
        self.chains.tick()

    def hear(self, gap: ChainGap, now_us: int) -> None:
        self.chains.gap(replace(gap, entry=WEST, home=ME), now_us)

    def directed(self, frame: bytes, now_us: int) -> None:
        found = decode_data(frame)
        extensions = {ExtensionType.CUSTODY: place_of(found)._replace(home=ME)}
        found = replace(found, transit=found.transit._replace(source=WEST), extensions=extensions)
        self.chains.news(self.router.take(found), now_us)

    @property
    def lost(self) -> tuple[int, int]:
        return self.router.chain.lost, self.router.chain.doubts

    def close(self) -> None:
        self.router.close()


class Entry(EntryRouter):
    """An entry with one home; the frames of the chain that leave are taken from `gaps` and `directed`."""

    def __init__(self, folder: Path, room: int = BYTES_MAX, for_all: int = ALL_BYTES_MAX) -> None:
        super().__init__(folder, ())
        self.room, self.for_all = room, for_all
        self.gaps: list[ChainGap] = []
        self.begin()

    def begin(self) -> None:
        state = self.log.state()
        self.life = LogLife(int(state["log_id"]), int(state["life"]), int(state["life_before"]))
        self.chains = DepartingChains(ME, self.life, self.homes, self.gaps.append, self.room, self.for_all)

    def state(self, log: int) -> None:
        self.chains.state(EAST, log, WANTED, ())

    def crash(self, folder: Path) -> None:
        """Lose what is not on disk."""
        shutil.copytree(self._folder, folder)
        self._folder = folder
        self.restart()
        self.begin()

    def serve(self, now_us: int) -> None:
        """Let the log read what was requested."""
        while self.log.serve():
            pass
        self.chains.answered(now_us)
        self.durables.validate()


class Pair:
    """An entry and a home, and what is on the way between them."""

    def __init__(self, folder: Path, seed: int, kind: type[Home | SwitchHome] = Home) -> None:
        self.chance, self.folder, self.now_us = random.Random(seed), folder, 0
        self.loss = self.chance.choice((0.0, 0.1, 0.3))
        self.is_small = self.chance.random() < 0.5
        self.crashes, self.asks, self.passed_over = 0, 0, 0
        self.confirmed: set[int] = set()
        self.unwanted: set[int] = set()
        self.gone: set[int] = set()
        """Numbers of which the home was told that they are given up."""
        self.home = kind(folder / "home")
        self.entry = Entry(folder / "entry", 3_000 if self.is_small else BYTES_MAX)
        self.meet()

    def meet(self) -> None:
        """Each knows what the other states."""
        self.home.greet(self.entry.life)
        self.entry.state(self.home.life.log)

    def step(self) -> None:
        self.now_us += STEP_US
        roll = self.chance.random()
        if roll < 0.4:
            x, size = self.chance.choice((1, 1, 1, 2)), self.chance.choice((10, 200))
            counter = self.entry.publish(x, payload=bytes(size))
            self.unwanted.update([counter] if x == 2 else [])
        elif roll < 0.55:
            self.entry.commit()
        elif roll < 0.65:
            self.home.commit(self.now_us)
        elif roll < 0.75:
            self.entry.serve(self.now_us)
        elif roll < 0.77:
            self.crash_home()
        elif roll < 0.79:
            self.crash_entry()
        elif roll < 0.85:
            self.lie()
        else:
            self.tick()
        self.carry(self.loss)

    def tick(self) -> None:
        self.entry.chains.tick(self.now_us)
        self.home.tick(self.now_us)

    def crash_home(self) -> None:
        self.crashes += 1
        self.home = self.home.crash(self.folder / f"home{self.crashes}")
        self.meet()

    def crash_entry(self) -> None:
        self.crashes += 1
        self.note()
        self.entry.crash(self.folder / f"entry{self.crashes}")
        self.meet()

    def note(self) -> None:
        self.confirmed.update(self.entry.confirmed)
        self.passed_over += sum(self.entry.chains.passed_over.values())

    def lie(self) -> None:
        """Say what is not so, as a neighbour that knows all but the logs of others, and the last number."""
        chains, log, now_us = self.entry.chains, self.home.life.log, self.now_us
        n = self.chance.choice((LAST, self.entry.log.next_number + 9))
        for home, home_log, entry_log, have in (
            (WEST, log, self.entry.life.log, 0),
            (EAST, LAST, self.entry.life.log, 0),
            (EAST, log, LAST, 0),
            (EAST, log, self.entry.life.log, n),
        ):
            chains.acknowledge(CustodyAck(home, home_log, ME, entry_log, have, HOME_WINDOW))
            chains.ask(CustodyAsk(home, home_log, ME, entry_log, have), now_us)
        token = self.chance.randrange(LAST)
        chains.ask(CustodyAsk(EAST, log, ME, self.entry.life.log, 0, token=token), now_us)

    def carry(self, loss: float) -> None:
        """Let what is on the way arrive, or not; a GAP may come before or after messages."""
        gaps, self.entry.gaps[:] = [*self.entry.gaps], []
        frames: list[ChainGap | bytes] = [encode_data(frame) for frame in self.entry.directed()[EAST]]
        frames = [*gaps, *frames] if self.chance.random() < 0.5 else [*frames, *gaps]
        for frame in frames:
            if self.chance.random() < loss:
                continue
            if isinstance(frame, ChainGap):
                self.gone.update(frame.numbers)
                self.home.hear(frame, self.now_us)
            else:
                self.home.directed(frame, self.now_us)
        bodies, self.home.out[:] = [*self.home.out], []
        for body in bodies:
            self.asks += isinstance(body, CustodyAsk)
            if self.chance.random() >= loss:
                self.hear(body)

    def hear(self, body: CustodyAck | CustodyAsk) -> None:
        if isinstance(body, CustodyAsk):
            self.entry.chains.ask(body, self.now_us)
        else:
            self.entry.chains.acknowledge(body)

    def settle(self) -> None:
        for _ in range(400):
            self.now_us += 10 * STEP_US
            self.entry.commit()
            self.entry.serve(self.now_us)
            self.home.commit(self.now_us)
            self.tick()
            self.carry(0.0)
            chain = self.entry.chain(EAST)
            if chain.have == chain.last:
                break
        self.entry.commit()
        self.home.commit(self.now_us)
        self.note()

    def close(self) -> None:
        self.entry.close()
        self.home.close()


def lived(folder: Path, seed: int, kind: type[Home | SwitchHome]) -> Pair:
    """Let a pair live, and check what the home has at the end."""
    (folder / str(seed)).mkdir()
    pair = Pair(folder / str(seed), seed, kind)
    for _ in range(300):
        pair.step()
    pair.settle()
    chain, records = pair.entry.chain(EAST), list(pair.home.log.read(DURABLE))
    stored = [message_id(record.body)[1] for record in records]
    assert (chain.have, chain.bytes) == (chain.last, 0), seed
    assert stored == sorted(set(stored)), seed
    lost, doubts = pair.home.lost
    missing = pair.confirmed - set(stored) - pair.unwanted
    assert len(missing) <= lost, seed
    assert lost == len(pair.gone - {record.source[1] for record in records}), seed
    assert doubts == 0, seed
    assert pair.is_small or lost == 0, seed
    assert len(stored) > (0 if pair.is_small else 20), seed
    pair.close()
    return pair


@pytest.mark.parametrize("kind", [Home, SwitchHome])
@pytest.mark.parametrize("first", [0, pytest.param(100, marks=pytest.mark.slow)])
def test_a_home_gets_what_the_entry_stored_or_is_told_what_was_given_up(
    tmp_path: Path, first: int, kind: type[Home | SwitchHome]
) -> None:
    pairs = [lived(tmp_path, seed, kind) for seed in range(first, first + LIVES[first])]
    counts = ((pair.crashes, pair.asks, pair.passed_over, len(pair.gone)) for pair in pairs)
    assert all(sum(each) for each in zip(*counts, strict=True))


# --- one after the other ----------------------------------------------------------------------------------------------


@pytest.fixture(name="entry")
def _entry(tmp_path: Path) -> Iterator[Entry]:
    entry = Entry(tmp_path / "entry")
    entry.state(7)
    yield entry
    entry.close()


def ack(entry: Entry, have: int, log: int = 7, window: int = HOME_WINDOW) -> None:
    entry.chains.acknowledge(CustodyAck(EAST, log, ME, entry.life.log, have, window))


def ask(entry: Entry, have: int, now_us: int, token: int = 3) -> None:
    entry.chains.ask(CustodyAsk(EAST, 7, ME, entry.life.log, have, token=token), now_us)


def published(entry: Entry, count: int) -> list[int]:
    """Publish messages, and return their numbers; they are sent and on disk."""
    for _ in range(count):
        entry.publish()
    entry.commit()
    entry.directed()
    return [record.n for record in entry.log.read(EAST, is_home=True)][-count:]


def served(entry: Entry, now_us: int = 0) -> list[int]:
    """Return the numbers of the messages that leave for the home."""
    entry.serve(now_us)
    return [n for _, n in numbers(entry.directed()[EAST])]


def test_a_home_that_asks_for_what_it_had_acknowledged_is_told_a_doubt_until_it_goes_on(entry: Entry) -> None:
    first, second, third = published(entry, 3)
    ack(entry, second)
    entry.commit()
    ask(entry, first, 0)
    doubt = ChainGap(ME, entry.life, EAST, 7, second, first, (), token=3)
    assert entry.gaps == [doubt]
    assert served(entry) == [third]
    entry.chains.tick(0)
    entry.chains.tick(RESEND_US)
    assert entry.gaps == [doubt] * 2
    ack(entry, second)
    entry.chains.tick(9 * RESEND_US)
    entry.chains.tick(99 * RESEND_US)
    assert entry.gaps == [doubt] * 2
    ack(entry, third)
    assert entry.chain(EAST).have == third


def test_what_is_not_acknowledged_is_sent_again_later_each_time(entry: Entry) -> None:
    sent = published(entry, 2)
    times = []
    for now_us in range(0, 10 * RESEND_MAX_US, RESEND_US // 4):
        entry.chains.tick(now_us)
        if served(entry, now_us) == sent:
            times.append(now_us)
    between = [later - earlier for earlier, later in pairwise(times)]
    assert between[:3] == [2 * RESEND_US, 4 * RESEND_US, 8 * RESEND_US]
    assert set(between[-3:]) == {RESEND_MAX_US}
    ack(entry, sent[0])
    entry.chains.tick(times[-1] + RESEND_US)
    entry.chains.tick(times[-1] + 2 * RESEND_US)
    assert served(entry) == sent[1:], "the first time is the shortest again"


def test_homes_for_which_something_is_stored_have_equal_parts_of_what_is_for_all(tmp_path: Path) -> None:
    entry = Entry(tmp_path / "entry", for_all=40_000)
    entry.state(7)
    entry.chains.state(FAR, 7, {5: stated_durable("x = 2")}, ())
    for _ in range(30):
        entry.publish(payload=bytes(1_000))

    def rounds() -> int:
        for now_us in range(8):
            entry.commit()
            entry.chains.tick(now_us)
            entry.serve(now_us)
        return entry.chain(EAST).bytes

    assert 30_000 < rounds() < 40_000
    assert entry.chain(EAST).given_up == 0
    entry.publish(2)
    assert rounds() <= 20_000
    assert (entry.chain(EAST).given_up > 0, entry.chain(FAR).given_up) == (True, 0)
    entry.close()


def test_a_home_is_silent_while_it_acknowledges_nothing_of_what_waits(entry: Entry) -> None:
    def silent_s(now_us: int) -> float:
        entry.chains.tick(now_us)
        [standing] = entry.chains.standings(now_us)
        assert (standing.home, standing.bytes) == (EAST, entry.chain(EAST).bytes)
        return standing.silent_s

    assert silent_s(1_000_000) == 0
    first, second = published(entry, 2)
    assert (silent_s(2_000_000), silent_s(5_000_000)) == (0, 3)
    ack(entry, first)
    assert (silent_s(6_000_000), silent_s(8_000_000)) == (0, 2)
    ack(entry, first)
    assert silent_s(9_000_000) == 3
    ack(entry, second)
    assert silent_s(10_000_000) == 0


def test_a_home_is_granted_one_request_in_a_time(entry: Entry) -> None:
    first, second = published(entry, 2)
    ask(entry, 0, 100)
    assert served(entry) == [first, second]
    ask(entry, 0, 99 + ASKED_EVERY_US)
    assert served(entry) == []
    ask(entry, first, 100 + ASKED_EVERY_US)
    assert served(entry) == [second]
    assert entry.chains.passed_over == {PassedOver.TOO_SOON: 1}


def test_frames_about_other_logs_or_numbers_say_nothing(entry: Entry) -> None:
    [n] = published(entry, 1)
    before = entry.chain(EAST)
    for home, home_log, entry_log, have in ((EAST, 8, 0, n), (EAST, 7, 1, n), (FAR, 7, 0, n), (EAST, 7, 0, n + 1)):
        log = entry_log or entry.life.log
        entry.chains.acknowledge(CustodyAck(home, home_log, ME, log, have, HOME_WINDOW))
        entry.chains.ask(CustodyAsk(home, home_log, ME, log, have), 0)
    assert entry.chain(EAST) == before
    assert entry.chains.passed_over == {PassedOver.OTHER_LOG: 4, PassedOver.UNKNOWN: 2, PassedOver.NEVER_GIVEN: 2}
    ack(entry, n)
    ack(entry, 0)
    assert entry.chain(EAST).have == n, "one of less is late"


def test_a_home_that_states_another_log_gets_all_that_is_stored(entry: Entry) -> None:
    first, second = published(entry, 2)
    ack(entry, first)
    entry.commit()
    entry.chains.state(EAST, 8, {}, ())
    assert served(entry) == [second]
    ack(entry, second)
    assert entry.chains.passed_over == {PassedOver.OTHER_LOG: 1}
    ack(entry, second, 8)
    assert entry.chain(EAST).have == second


def test_statements_say_what_is_stored(entry: Entry) -> None:
    entry.chains.state(EAST, 7, {6: stated_durable("x = 2")}, (5,))
    entry.publish(1)
    entry.publish(2)
    entry.chains.state(EAST, 7, {6: stated_durable("x = 3")}, ())
    entry.publish(2)
    entry.publish(3)
    assert [frame.message.id.counter for frame in entry.directed()[EAST]] == [2, 4]
    with pytest.raises(FrameError):
        entry.chains.state(EAST, 7, {9: b"?"}, ())


def test_a_home_that_is_out_of_reach_is_tried_once_in_a_time_and_at_once_when_it_is_back(entry: Entry) -> None:
    entry.switch.end(entry.east, now=True)
    for _ in range(3):
        entry.publish()
    entry.commit()
    asked = []
    for now_us in range(0, 10 * RESEND_US, RESEND_US // 4):
        entry.chains.tick(now_us)
        asked += [now_us] * entry.log.serve()
    assert len(asked) > 2
    assert all(later - earlier >= RESEND_US for earlier, later in pairwise(asked))
    entry.east = entry.opened(replace(LINK, number=EAST, version=3))
    entry.chains.reachable(EAST)
    assert len(served(entry)) == 3


def test_many_numbers_are_given_up_in_frames_of_which_each_fits(tmp_path: Path) -> None:
    entry = Entry(tmp_path / "entry", 1 << 17)
    entry.state(7)
    entry.switch.end(entry.east, now=True)
    for _ in range(900):
        entry.publish()
        if entry.chain(EAST).bytes % 5 == 0:
            entry.commit()
    for now_us in range(0, 40 * RESEND_US, RESEND_US):
        entry.commit()
        entry.chains.tick(now_us)
        entry.serve(now_us)
    chain = entry.chain(EAST)
    assert 0 < chain.bytes <= 1 << 17
    gaps = entry.gaps[: entry.gaps.index(entry.gaps[0], 1)]  # they are sent again
    gone = [n for gap in gaps for n in gap.numbers]
    assert len(gaps[0].numbers) == GAP_NUMBERS_MAX
    assert (len(gone), gone[-1]) == (entry.durables.departures().given_up, chain.given_up)
    assert [gap.previous for gap in gaps] == [0, *(gap.n for gap in gaps[:-1])]
    entry.close()


def test_a_record_that_cannot_be_read_is_a_doubt(entry: Entry) -> None:
    needle = b"cannot be read"
    for payload in (b"", needle, b""):
        entry.publish(payload=payload)
    entry.commit()
    first, second, third = (n for _, n in numbers(entry.directed()[EAST]))
    [segment] = (path for path in entry._folder.glob("segment-*") if needle in path.read_bytes())
    with segment.open("r+b") as file:
        file.seek(segment.read_bytes().index(needle))
        file.write(b"C")
    ask(entry, 0, 0)
    assert served(entry) == [first, third]
    assert entry.gaps == [ChainGap(ME, entry.life, EAST, 7, second, first, (), token=3)]


def test_a_home_takes_doubts_and_gaps_with_the_token_of_its_request(tmp_path: Path) -> None:
    """The whole way: a home is put back to a backup, and an entry has given up what it lacks."""
    pair = Pair(tmp_path, 2)
    backup = tmp_path / "backup"
    for _ in range(2):
        pair.entry.publish()
        pair.settle()
        if not backup.exists():
            shutil.copytree(pair.home.folder, backup)
    pair.home.log.close()
    pair.home = Home(backup)
    pair.meet()
    pair.entry.publish()
    pair.settle()
    assert pair.home.lost == (0, 1)
    assert len(list(pair.home.log.read(DURABLE))) == 2
    pair.close()


@pytest.mark.slow
def test_so_long_away_that_the_first_numbers_are_a_doubt(entry: Entry) -> None:
    """At the bound of records that give up, the oldest of them become one doubt."""
    entry.homes.bound(1)
    entry.switch.end(entry.east, now=True)
    most = int(lib.TM_CUSTODY_GAPS_MAX)
    for _ in range(most + 1):
        entry.publish()
        entry.commit()
        entry.homes.make_room(EAST)
        entry.serve(0)
    entry.commit()
    assert entry.durables.departures().given_up == most
    entry.gaps.clear()
    ask(entry, 0, 0)
    chain = entry.chain(EAST)
    assert chain.gap == chain.doubt > 0
    for now_us in range(3):
        entry.serve(now_us)
    doubt, after = entry.gaps[:2]
    assert (doubt.numbers, doubt.n, after.previous) == ((), chain.gap_last, chain.gap_last)
    assert after.numbers
