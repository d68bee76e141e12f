"""A home whose switch is in C gets the chain of an entry whole, through crashes of both, lost frames and a neighbour
that lies."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

import pytest

from tamis.native.log import Log
from tamis.protocol.messages import Message as PublishedMessage
from tamis.protocol.messages import MessageId
from tamis.protocol.wire.codes import LossReason
from tamis.protocol.wire.custody_bodies import ChainGap, CustodyAck, CustodyAsk, CustodyBody, LogLife
from tamis.protocol.wire.data_frames import DataFrame, encode_data
from tamis.protocol.wire.header import Transit
from tamis.protocol.wire.kinds import FrameKind
from tamis.router.core.custody.commands import Level, PassedOver
from tamis.router.core.custody.entry import ChainBounds, LevelWaiter
from tamis.router.durable.arriving_chains import WINDOW, ArrivingChains
from tamis.router.durable.custody import RouterCustody, message_id
from tests.native.test_arrivals import HomeRouter
from tests.native.test_others import ME, WEST
from tests.router.durable.test_custody import SMALL

LAST = 2**64 - 1
STEP_US = 20_000


def publish(counter: int) -> bytes:
    body = PublishedMessage({"x": 1}, b"...", MessageId(7, counter))
    return encode_data(DataFrame(FrameKind.PUBLISH, body, hop_limit=5, transit=Transit(WEST, 1, counter)))


class Entry(RouterCustody):
    """The entry; what it sends and has read is taken from its lists."""

    def __init__(self, folder: Path, home_log: int, room: int) -> None:
        self.log = Log(folder, **SMALL)
        self.out: list[bytes | ChainGap] = []
        self.reads: list[tuple[int, int]] = []
        self.confirmed: list[int] = []
        state = self.log.state()
        self.life = LogLife(state["log_id"], state["life"], state["life_before"])
        super().__init__(WEST, self.log, self.life, self, {ME: home_log}, ChainBounds(room, 1_000))
        self.entry.is_in_step = True

    def homes_for(self, _frame: bytes) -> Collection[int]:
        return (ME,)

    def durables_for(self, _frame: bytes) -> Sequence[int]:
        return ()

    def send(self, _router: int, frame: bytes | CustodyBody) -> None:
        assert isinstance(frame, bytes | ChainGap)
        self.out.append(frame)

    def read(self, home: int, after: int, size: int) -> None:
        assert size > 0
        self.reads.append((home, after))

    def answer(self, waiter: object, result: object) -> None:
        assert (isinstance(waiter, int), result) == (True, Level.STORED)
        self.confirmed.append(waiter)  # type: ignore[arg-type]

    def store_statement(self, home: int, log: int) -> None:
        raise AssertionError(home, log)

    say_holds = store_statement  # type: ignore[assignment]

    def commit(self) -> None:
        while self.log.commit():
            pass
        self.committed()
        reads, self.reads = self.reads, []
        for home, after in reads:
            self.was_read(home, list(self.log.read(home, after, is_home=True)))


class Pair:
    """An entry and a home, and what is on the way between them."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.chance, self.folder, self.now_us = random.Random(seed), folder, 0
        self.room = self.chance.choice((1_500, 1 << 20))
        self.loss = self.chance.choice((0.0, 0.1, 0.3))
        self.count, self.restarts, self.asks = 0, 0, 0
        self.confirmed: set[int] = set()
        self.gone: set[int] = set()
        """Numbers of which the home was told that they are given up."""
        self.told = 0
        """Of how many missing messages the durable subscriptions were told."""
        self.pending: list[Callable[[], None]] = []
        self.to_entry: list[CustodyAck | CustodyAsk] = []
        self.home = HomeRouter(folder / "home")
        self.passed_over = 0
        self.entry = Entry(folder / "entry", self.home_log, self.room)
        self.begin_home()
        self.chains.held(WEST, self.entry.life)

    @property
    def home_log(self) -> int:
        return int(self.home.log.state()["log_id"])

    def begin_home(self) -> None:
        chains = self.home.log.chains()
        self.pending.clear()
        self.chains = ArrivingChains(
            *(ME, self.home_log, self.home.custody, chains, self.to_entry.append),
            stated=lambda _: self.entry.life.log,
            has_no_log=lambda _: False,
            missing=self.missing,
            began=lambda: None,
        )

    def missing(self, reason: LossReason, messages: int, then: Callable[[], None]) -> None:
        assert reason is LossReason.CUSTODY_FULL
        assert not self.pending, "a chain waits until its range is appended"
        self.told += messages
        self.pending.append(then)
        if self.chance.random() < 0.5:
            self.append()

    def append(self) -> None:
        while self.pending:
            self.pending.pop()()

    def step(self) -> None:
        self.now_us += STEP_US
        roll = self.chance.random()
        if roll < 0.4:
            self.count += 1
            self.entry.publish(publish(self.count), LevelWaiter(self.count, Level.STORED), self.now_us)
        elif roll < 0.6:
            self.entry.commit()
        elif roll < 0.8:
            self.chains.news(self.home.commit(), self.now_us)
        elif roll < 0.82:
            self.restart_home()
        elif roll < 0.84:
            self.restart_entry()
        elif roll < 0.9:
            self.lie()
        else:
            self.tick()
        self.carry(self.loss)

    def tick(self) -> None:
        self.append()
        self.entry.tick(self.now_us)
        self.chains.tick()

    def restart_home(self) -> None:
        self.restarts += 1
        self.passed_over += sum(self.chains.passed_over.values())
        self.home.restart()
        self.begin_home()
        if self.home.custody.chain_of(WEST) is None:  # the record of it was not on disk
            self.chains.held(WEST, self.entry.life)

    def restart_entry(self) -> None:
        self.restarts += 1
        self.confirmed.update(self.entry.confirmed)
        self.entry.log.close()
        self.entry = Entry(self.folder / "entry", self.home_log, self.room)

    def lie(self) -> None:
        """Say what is not so, as a neighbour that knows all but the token."""
        written = self.entry.life
        n = self.chance.choice((LAST, self.entry.log.next_number + 9))
        token = self.chance.randrange(LAST)
        self.chains.gap(ChainGap(WEST, written, ME, self.home_log, n, 0, (n,), token=token), self.now_us)
        self.chains.gap(ChainGap(WEST, LogLife(LAST, 9, 0), ME, self.home_log, n, 0, (n,)), self.now_us)
        self.chains.held(WEST, LogLife(LAST, 9, 0))
        self.entry.hear(CustodyAck(ME, LAST, WEST, written.log, 0, WINDOW), self.now_us)
        self.entry.hear(CustodyAck(ME, self.home_log, WEST, written.log, n, WINDOW), self.now_us)

    def carry(self, loss: float) -> None:
        """Let what is on the way arrive, or not."""
        frames, self.entry.out = self.entry.out, []
        for frame in frames:
            if self.chance.random() < loss:
                continue
            if isinstance(frame, ChainGap):
                self.gone.update(frame.numbers)
                self.chains.gap(frame, self.now_us)
            else:
                self.chains.news(self.home.look(self.home.switch.feed(self.home.west, frame)), self.now_us)
        bodies, self.to_entry[:] = [*self.to_entry], []
        for body in bodies:
            self.asks += isinstance(body, CustodyAsk)
            if self.chance.random() >= loss:
                self.entry.hear(body, self.now_us)

    def settle(self) -> None:
        for _ in range(400):
            self.now_us += 10 * STEP_US
            self.entry.commit()
            self.chains.news(self.home.commit(), self.now_us)
            self.tick()
            self.carry(0.0)
            if not len(self.entry.entry.chains[ME]):
                break
        self.confirmed.update(self.entry.confirmed)

    def close(self) -> None:
        self.passed_over += sum(self.chains.passed_over.values())
        self.entry.log.close()
        self.home.close()


def lived(folder: Path, seed: int) -> Pair:
    """Let a pair live, and check what the home has at the end."""
    (folder / str(seed)).mkdir()
    pair = Pair(folder / str(seed), seed)
    for _ in range(300):
        pair.step()
    pair.settle()
    chain = pair.home.chain
    stored = [message_id(record.body)[1] for record in pair.home.stored]
    assert len(pair.entry.entry.chains[ME]) == 0, seed
    assert stored == sorted(set(stored)), seed
    missing = pair.confirmed - set(stored)
    assert len(missing) <= chain.lost, seed
    assert chain.lost == len(pair.gone - {record.source[1] for record in pair.home.stored}), seed
    assert chain.lost <= pair.told, seed
    assert chain.lost == pair.told or pair.restarts, seed
    assert chain.doubts == 0, seed
    assert pair.room < 1 << 20 or chain.lost == 0, seed
    assert len(stored) > 20, seed
    pair.close()
    return pair


@pytest.mark.parametrize("first", [0, pytest.param(100, marks=pytest.mark.slow)])
def test_a_home_gets_what_the_entry_stored_or_is_told_what_was_given_up(tmp_path: Path, first: int) -> None:
    pairs = [lived(tmp_path, seed) for seed in range(first, first + (8 if first == 0 else 100))]
    assert all(sum(counts) for counts in zip(*((p.restarts, p.asks, p.passed_over) for p in pairs), strict=True))


def test_another_log_and_an_earlier_state_of_an_entry_are_doubts(tmp_path: Path) -> None:
    home = HomeRouter(tmp_path)
    sent: list[CustodyAck | CustodyAsk] = []
    log = int(home.log.state()["log_id"])
    stated = {WEST: 9}
    told: list[tuple[LossReason, int]] = []

    def missing(reason: LossReason, messages: int, then: Callable[[], None]) -> None:
        told.append((reason, messages))
        then()

    logs = (lambda router: stated.get(router, 0)), (lambda router: stated.get(router) == 0)
    chains = ArrivingChains(ME, log, home.custody, [], sent.append, *logs, missing, lambda: None)
    for written, doubts in ((LogLife(9, 3, 2), 0), (LogLife(9, 5, 3), 0), (LogLife(9, 4, 3), 0), (LogLife(9, 7, 4), 1)):
        chains.held(WEST, written)
        assert home.chain.doubts == doubts
    chains.held(WEST, LogLife(10, 1, 0))
    assert (home.chain.log, chains.passed_over) == (9, {PassedOver.OTHER_LOG: 1})
    stated[WEST] = 10
    chains.held(WEST, LogLife(10, 1, 0))
    assert (home.chain.log, home.chain.have, home.chain.doubts) == (10, 0, 2)
    chains.tick()
    assert sent == [CustodyAck(ME, log, WEST, 10, 0, WINDOW)]
    stated.clear()
    chains.tick()
    assert chains.log_of(WEST) == 10, "an entry that has stated nothing since the start may have its log"
    stated[WEST] = 0
    chains.tick()
    assert (chains.log_of(WEST), home.custody.chain_of(WEST)) == (0, None)
    assert told == [(LossReason.ENTRY_LOST, 0)] * 3, "what waited at an entry without a log does not come"
    assert chains.missed[WEST].doubts == 3
    home.close()
