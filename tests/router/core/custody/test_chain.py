"""The chain of an entry for one home: what is sent, sent again and given up, and within which limits."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tamis.protocol.limits import GAP_NUMBERS_MAX
from tamis.protocol.wire.custody_bodies import ChainGap, CustodyAck, CustodyAsk, LogLife
from tamis.router.core.custody.chain import ASKED_EVERY_US, NUMBER_BYTES, RESEND_MAX_US, RESEND_US, Chain
from tamis.router.core.custody.commands import Confirm, CustodyRefusal, Level, PassedOver, Refuse, SendTo, Write
from tamis.router.core.custody.entry import ChainBounds, EntryCustody, LevelWaiter
from tamis.router.core.custody.frames import Directed, Holds
from tamis.router.core.custody.home import HELD_BACK_BYTES, HomeCustody
from tamis.router.core.custody.records import GivenUp

ME, HOME, LOG = 1, 11, 77
LIFE = LogLife(5, 1, 0)


def filled(count: int, bytes_max: int = 10_000, window: int = 1_000) -> Chain:
    chain = Chain(bytes_max, window)
    for n in range(1, count + 1):
        chain.append(n, (0, n), 100)
    return chain


def sent(chain: Chain, now_us: int = 0) -> list[tuple[int, int]]:
    return [(link.n, previous) for link, previous in chain.to_send(now_us)]


def test_the_window_bounds_what_is_on_the_way() -> None:
    chain = filled(30)
    chain.acknowledge(0, 1_000, 0)
    assert sent(chain) == [(n, n - 1) for n in range(1, 11)]
    assert sent(chain) == []
    assert chain.acknowledge(4, 1_000, 0)
    assert sent(chain) == [(n, n - 1) for n in range(11, 15)]


def test_what_is_not_acknowledged_is_sent_again_later_each_time() -> None:
    chain, now_us = filled(2), 0
    waits = []
    sent(chain, now_us)
    for _ in range(8):
        waits.append(chain.due_us - now_us)
        assert not chain.is_due(chain.due_us - 1)
        now_us = chain.due_us
        assert chain.is_due(now_us)
        assert sent(chain, now_us) == [(1, 0), (2, 1)]
    assert waits[0] == RESEND_US
    assert waits == sorted(waits)
    assert waits[-1] == RESEND_MAX_US


def test_what_is_given_up_stays_as_its_numbers() -> None:
    chain = filled(11, bytes_max=1_000)
    assert chain.is_full
    numbers = chain.oldest()
    assert numbers == (1, 2, 3, 4, 5)
    chain.give_up(numbers)
    assert not chain.is_full
    links = [link for link, _ in chain.to_send(0)]
    assert (links[0].numbers, links[0].message, links[1].n) == (numbers, None, 6)


def test_another_log_of_the_home_begins_the_chain_anew() -> None:
    chain = filled(5)
    chain.begin(LOG)
    sent(chain)
    assert chain.acknowledge(3, 1_000, 0)
    chain.begin(LOG)
    assert sent(chain) == []
    chain.begin(LOG + 1)
    assert sent(chain) == [(4, 0), (5, 4)]


def test_a_home_that_asks_for_less_than_it_had_is_told_of_a_doubt_and_goes_on() -> None:
    chain = filled(9)
    sent(chain)
    assert chain.acknowledge(6, 1_000, 0)
    for now, (have, lowest) in enumerate(((4, 4), (2, 2), (3, 2))):
        assert chain.asked(have, 0, now * ASKED_EVERY_US) is None
        assert [(link.n, link.numbers, previous) for link, previous in chain.to_send(0)] == [
            (6, (), lowest),
            *((n, (n,), n - 1) for n in (7, 8, 9)),
        ]
        assert chain.bytes == 300 + NUMBER_BYTES
    assert not chain.acknowledge(6, 1_000, 0), "it had that before: nothing is to be written"
    assert (chain.have, len(chain), chain.bytes) == (6, 3, 300)
    assert chain.asked(0, 0, RESEND_US) is None
    chain.begin(LOG + 1)
    assert sent(chain) == [(7, 0), (8, 7), (9, 8)]


def entry(bytes_max: int = 10_000) -> EntryCustody:
    made = EntryCustody(ME, LIFE, ChainBounds(bytes_max, 1_000))
    made.is_in_step = True
    made.state(HOME, LOG)
    return made


def entered(made: EntryCustody, counter: int, level: Level = Level.STORED) -> list[object]:
    return list(made.enter((0, counter), 100, (HOME,), LevelWaiter(counter, level), 0))


def acked(have: int, log: int = LIFE.log) -> CustodyAck:
    return CustodyAck(HOME, LOG, ME, log, have, 1_000)


def test_a_number_that_was_never_given_is_not_acknowledged() -> None:
    made = entry()
    entered(made, 1)
    for wrong in (acked(2**64 - 1), acked(made.chains[HOME].have + 1, log=9), CustodyAck(99, LOG, ME, 5, 1, 1)):
        assert made.acknowledged(wrong, 0) == []
    assert len(made.chains[HOME]) == 1


def test_what_a_lying_home_says_is_bounded_and_counted() -> None:
    made = entry()
    for counter in range(1, 31):
        entered(made, counter)
    chain = made.chains[HOME]
    assert made.acknowledged(replace(acked(0), window=2**64 - 1), 0) == []
    again = [made.asked(CustodyAsk(HOME, LOG, ME, LIFE.log, 0), now) for now in range(0, 10 * ASKED_EVERY_US, 1_000)]
    assert [len(commands) for commands in again if commands] == [10] * 10, "a window each time"
    elsewhere = made.enter((1, 1), 100, (), LevelWaiter(31, Level.STORED), 0)[0].record.n  # type: ignore[union-attr]
    made.acknowledged(acked(2**64 - 1), 0)
    made.acknowledged(acked(elsewhere), 0)
    made.asked(CustodyAsk(99, LOG, ME, LIFE.log, 0), 0)
    made.acknowledged(acked(0, log=9), 0)
    made.acknowledged(replace(acked(0), home_log=2**64 - 1), 0)
    made.asked(CustodyAsk(HOME, LOG - 1, ME, LIFE.log, 0), 10**6)
    assert made.passed_over == {
        PassedOver.TOO_SOON: 240,
        PassedOver.NEVER_GIVEN: 2,
        PassedOver.UNKNOWN: 1,
        PassedOver.OTHER_LOG: 3,
    }
    assert (len(chain), list(made.chains)) == (30, [HOME])
    assert made.acknowledged(acked(chain.last), 0), "the home itself goes on"
    assert len(chain) == 0
    home = known()
    taken(home, *(replace(frame(n, n - 1), entry=99) for n in range(1, 1_000)))
    assert home.passed_over == {PassedOver.UNKNOWN: 999}
    assert home._chains == {}


def test_numbers_that_a_neighbour_says_were_given_up_do_not_move_a_chain() -> None:
    made, home = entry(bytes_max=300), known()
    last = 2**64 - 1
    lies = [
        ChainGap(ME, LIFE, HOME, LOG, last, 0, (last,)),
        ChainGap(ME, LIFE, HOME, LOG, last, 0, (), token=1),
        ChainGap(ME, LogLife(last, 1, 0), HOME, LOG, last, 0, (last,)),
    ]
    found = taken(home, *lies)
    assert found == [SendTo(ME, CustodyAsk(HOME, LOG, ME, LIFE.log, 0, token=token_of(home)))]
    assert home.passed_over == {PassedOver.UNASKED: 2, PassedOver.OTHER_LOG: 1}
    frames = [each.frame for n in range(1, 5) for each in entered(made, n) if isinstance(each, SendTo)]
    gaps = [frame for frame in frames if isinstance(frame, ChainGap)]
    moved = taken(home, *gaps, now_us=10**6)
    [ask] = [each.frame for each in moved if isinstance(each, SendTo) and isinstance(each.frame, CustodyAsk)]
    gap, *rest = [each.frame for each in made.asked(ask, 10**6) if isinstance(each, SendTo)]
    assert isinstance(gap, ChainGap)
    assert gap.token == token_of(home)
    stored = [each.record for each in taken(home, gap, *rest) if isinstance(each, Write)]  # type: ignore[arg-type]
    assert stored[-1].n == made.chains[HOME].last  # type: ignore[union-attr]


def test_a_second_try_waits_for_the_first() -> None:
    made = entry()
    written, _ = entered(made, 1)
    assert isinstance(written, Write)
    assert entered(made, 1) == []
    assert made.committed(written.record) == [Confirm(1, Level.STORED), Confirm(1, Level.STORED)]
    assert entered(made, 1) == [Confirm(1, Level.STORED)]


def test_held_is_refused_for_what_was_given_up() -> None:
    made = entry(bytes_max=300)
    entered(made, 1, Level.HELD)
    found = [command for counter in range(2, 5) for command in entered(made, counter, Level.HELD)]
    given_up = [command.record for command in found if isinstance(command, Write)]
    assert any(isinstance(record, GivenUp) for record in given_up)
    assert Refuse(1, CustodyRefusal.CUSTODY_FULL) in found
    assert entered(made, 1, Level.HELD) == [Refuse(1, CustodyRefusal.CUSTODY_FULL)]


def test_nothing_is_taken_before_the_entry_is_in_step() -> None:
    made = EntryCustody(ME, LIFE, ChainBounds())
    assert entered(made, 1) == [Refuse(1, CustodyRefusal.NOT_IN_STEP)]
    assert made.chains == {}


def frame(n: int, previous: int, size: int = 100) -> Directed:
    return Directed(ME, LIFE, HOME, LOG, n, previous, (0, n), size)


def known() -> HomeCustody:
    home = HomeCustody(HOME, LOG, 1_000)
    home.state(ME, LIFE.log)
    home.held(Holds(ME, LIFE, HOME))
    return home


def token_of(home: HomeCustody) -> int:
    [chain] = home._chains.values()
    return chain.token


def taken(home: HomeCustody, *frames: Directed | ChainGap, now_us: int = 0) -> list[object]:
    return [command for each in frames for command in home.take(each, lambda _: True, now_us)]


def test_a_home_holds_back_what_follows_a_missing_frame_and_asks_for_it_at_times() -> None:
    home = known()
    asks = [each for each in taken(home, frame(3, 2), frame(4, 3)) if isinstance(each, SendTo)]
    assert [each.frame for each in asks] == [CustodyAsk(HOME, LOG, ME, LIFE.log, 0, token=token_of(home))]
    taken(home, frame(1, 0))
    stored = [each for each in taken(home, frame(2, 1)) if isinstance(each, Write)]
    assert [each.record.n for each in stored] == [2, 3, 4]  # type: ignore[union-attr]


@pytest.mark.parametrize("size", [100, 100_000])
def test_bytes_that_a_home_holds_back_are_bounded(size: int) -> None:
    home = known()
    taken(home, *(frame(n, n - 1, size) for n in range(3, 10_000)))
    [chain] = home._chains.values()
    assert chain.bytes == sum(each.size for each in chain.held_back.values()) <= HELD_BACK_BYTES  # type: ignore[union-attr]
    assert chain.bytes + size > HELD_BACK_BYTES


def test_a_frame_for_another_log_or_by_an_earlier_one_is_not_taken() -> None:
    home = known()
    later = Directed(ME, LogLife(6, 1, 0), HOME, LOG, 1, 0, (0, 1), 100)
    assert taken(home, later) == []
    assert home.held(Holds(ME, later.written, HOME)) == []
    assert home.passed_over == {PassedOver.OTHER_LOG: 2}
    home.state(ME, later.written.log)
    assert any(isinstance(each, Write) for each in taken(home, later))
    assert taken(home, frame(9, 0)) == []
    other = Directed(ME, LogLife(6, 1, 0), HOME, LOG - 1, 2, 1, (0, 2), 100)
    assert [type(each) for each in taken(home, other)] == [SendTo]


def test_a_router_that_does_not_hold_the_statement_has_no_chain_and_an_earlier_log_none_any_more() -> None:
    home = HomeCustody(HOME, LOG, 1_000)
    assert taken(home, frame(1, 0)) == []
    assert home._chains == {}
    home = known()
    for log in range(5, 1_000):
        home.state(ME, log)
        taken(home, Directed(ME, LogLife(log, 1, 0), HOME, LOG, 1, 0, (0, log), 100))
    assert list(home._chains) == [(ME, 999)]


def test_a_long_gap_goes_in_frames_of_some_numbers_without_those_that_the_home_has() -> None:
    made = entry(bytes_max=100 * 1_000)
    for counter in range(1, 2_002):
        entered(made, counter)
    made.acknowledged(acked(made.chains[HOME]._links[0].numbers[9]), 0)
    gaps = [each.frame for each in made.tick(10_000_000) if isinstance(each.frame, ChainGap)]
    [*_, last] = gaps
    assert len(gaps) == 2
    assert all(0 < len(gap.numbers) <= GAP_NUMBERS_MAX for gap in gaps)
    assert [gap.previous for gap in gaps] == [gaps[0].numbers[0] - 1, *(gap.n for gap in gaps[:-1])]
    assert last.n - gaps[0].previous == sum(len(gap.numbers) for gap in gaps)
    home = known()
    taken(home, *gaps)
    gaps = [replace(gap, token=token_of(home)) for gap in gaps]
    taken(home, replace(gaps[0], previous=0), *gaps[1:])
    assert home._chain((ME, LIFE.log)).have == last.n  # type: ignore[arg-type]
