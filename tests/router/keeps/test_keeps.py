"""What a keep does, step by step."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tamis.protocol.errors import Refused
from tamis.protocol.messages import Message, MessageId
from tamis.protocol.wire.client_bodies import AckVerdict, Range
from tamis.protocol.wire.codes import RefusalCode
from tamis.protocol.wire.keep_bodies import Attach, Keep, KeepTerms, Overflow, StartAt
from tamis.router.keeps import events as e
from tamis.router.keeps.keeps import Keeps
from tamis.router.keeps.life import KEEP_TABLE, TRY_TABLE, KeepState, TryState
from tamis.router.keeps.living import KeepQuotas
from tamis.router.keeps.records import Leaving, LogRecord
from tests.router.keeps.world import packed

EVERYTHING = KeepTerms(packed("exists x"), idle_ms=0)


class Bench:
    """Keeps on a disk that takes everything at once, unless told otherwise."""

    def __init__(self, quotas: KeepQuotas | None = None) -> None:
        self.steady, self.wall, self.disk = 0, 10**12, list[tuple[int, LogRecord]]()
        self.quotas = quotas or KeepQuotas()
        self.keeps = Keeps(1, [], self.quotas, self.now)
        self.token, self.is_slow = 0, False

    @property
    def now(self) -> e.Clocks:
        return e.Clocks(self.steady, self.wall)

    def do(self, event: e.KeepEvent) -> list[e.KeepCommand]:
        commands = self.keeps.handle(event, self.now)
        added = [(command.n, command.record) for command in commands if isinstance(command, e.AppendRecord)]
        self.disk += added
        if added and not self.is_slow:
            commands += self.do(e.LogCommitted(added[-1][0]))
        return [command for command in commands if not isinstance(command, e.AppendRecord)]

    def restart(self) -> None:
        self.keeps = Keeps(2, self.disk, self.quotas, self.now)

    def keep(self, name: str, terms: KeepTerms = EVERYTHING, **more: object) -> list[e.KeepCommand]:
        self.token += 1
        return self.do(e.KeepAsked(self.token, "maker", Keep(1, name, terms, **more)))

    def attach(self, member: int, name: str, credit: int = 100, **more: object) -> list[e.KeepCommand]:
        return self.do(e.AttachAsked(0, member, Attach(1, member, name, credit, **more)))

    def publish(self, counter: int, *, size: int = 100, ttl_ms: int = 0, **attributes: object) -> list[e.KeepCommand]:
        message = Message({"x": counter} | attributes, b"", MessageId(1, counter))
        wanted = tuple(self.keeps.ledger.keeps)
        return self.do(e.MessageCame(99, message, size, wanted, self.wall + ttl_ms if ttl_ms else 0))

    def ack(self, member: int, positions: list[int], verdict: AckVerdict = AckVerdict.DONE, **more: object):
        return self.do(e.MemberAcked(member, [Range(p, p) for p in positions], verdict, **more))

    def pass_ms(self, ms: int) -> list[e.KeepCommand]:
        self.steady, self.wall = self.steady + ms, self.wall + ms
        return self.do(e.TimePassed())


def given(commands: list[e.KeepCommand]) -> list[tuple[int, int, int]]:
    """(member, x, deliveries) of each delivery."""
    return [(c.member, c.message.attributes["x"], c.deliveries) for c in commands if isinstance(c, e.DeliverKept)]


def positions(commands: list[e.KeepCommand]) -> list[int]:
    return [c.position for c in commands if isinstance(c, e.DeliverKept)]


def refusals(commands: list[e.KeepCommand]) -> list[tuple[RefusalCode, str]]:
    return [(c.code, c.reason) for c in commands if isinstance(c, e.AnswerRefused)]


def test_a_keep_is_there_again_with_equal_terms_and_differs_by_name_with_others() -> None:
    bench = Bench()
    assert bench.keep("k") == [e.AnswerDone(1)]
    assert bench.keep("k") == [e.AnswerDone(2)]
    other = replace(EVERYTHING, count=7, order_by="x")
    assert refusals(bench.keep("k", other)) == [(RefusalCode.KEEP_DIFFERS, "it differs in count, order_by")]


def test_quotas_are_named() -> None:
    bench = Bench(KeepQuotas(keeps=2, keeps_per_client=1, bytes_per_client=2**31))
    bench.keep("k")
    assert refusals(bench.keep("l")) == [(RefusalCode.OVER_QUOTA, "a client may make 1 keeps")]
    bench = Bench(KeepQuotas(bytes_per_client=1_000))
    assert refusals(bench.keep("k")) == [(RefusalCode.OVER_QUOTA, "the keeps of a client may have 1,000 bytes in all")]


def test_who_attaches_to_nothing_is_told_its_name() -> None:
    bench = Bench()
    [refused] = bench.do(e.AttachAsked(5, 1, Attach(1, 1, "nowhere", 1)))
    assert refused == e.AnswerRefused(5, RefusalCode.NO_SUCH_KEEP, "there is no keep 'nowhere'")


def test_the_member_with_the_most_free_credit_gets_the_next_message() -> None:
    bench = Bench()
    bench.keep("k")
    bench.attach(1, "k", 2)
    bench.attach(2, "k", 3)
    assert [given(bench.publish(n)) for n in range(1, 7)] == [
        *([(2, 1, 1)], [(1, 2, 1)], [(2, 3, 1)], [(1, 4, 1)], [(2, 5, 1)]),
        [],
    ]


def test_a_message_comes_again_after_each_pause_and_dies_with_reason_and_count() -> None:
    bench = Bench()
    bench.keep("k", replace(EVERYTHING, ack_wait_ms=1_000, backoff_ms=(10, 500), deliveries_max=3, dead_letter="dead"))
    bench.keep("dead", KeepTerms(packed('y = "no"'), idle_ms=0))
    bench.attach(1, "k")
    message = Message({"x": 1}, b"", MessageId(1, 1))
    bench.do(e.MessageCame(0, message, 100, (next(iter(bench.keeps.ledger.keeps)),)))
    assert given(bench.pass_ms(1_000)) == []
    assert given(bench.pass_ms(10)) == [(1, 1, 2)]
    assert given(bench.pass_ms(1_000)) == []
    assert given(bench.pass_ms(499)) == []
    assert given(bench.pass_ms(1)) == [(1, 1, 3)]
    bench.pass_ms(1_000)
    moved = bench.disk[-1][1]
    assert (moved.deliveries, moved.reason) == (3, "given out 3 times")
    assert given(bench.attach(2, "dead")) == [(2, 1, 1)]


def test_without_a_dead_letter_place_a_rejected_message_is_a_loss_that_is_told() -> None:
    bench = Bench()
    bench.keep("k")
    bench.attach(1, "k")
    told = bench.ack(1, positions(bench.publish(1)), AckVerdict.REJECT)
    assert told == [e.TellLost(1, Leaving.UNDELIVERABLE, 1)]
    bench.restart()
    assert e.TellLost(2, Leaving.UNDELIVERABLE, 1) in bench.attach(2, "k")


def test_an_expired_message_and_those_past_the_bounds_are_told() -> None:
    bench = Bench()
    bench.keep("k", replace(EVERYTHING, bytes=250))
    bench.publish(1, ttl_ms=1_000)
    bench.pass_ms(1_000)
    for n in (2, 3, 4):
        bench.publish(n)
    commands = bench.attach(1, "k")
    assert commands[:2] == [e.TellLost(1, Leaving.EXPIRED, 1), e.TellLost(1, Leaving.DROPPED, 1)]
    assert [x for _, x, _ in given(commands)] == [3, 4]


def test_a_keep_that_refuses_tells_the_publisher_its_name() -> None:
    bench = Bench()
    bench.keep("k", replace(EVERYTHING, count=1, overflow=Overflow.REFUSE))
    assert bench.publish(1) == [e.AnswerDone(99)]
    refused = e.AnswerRefused(99, RefusalCode.LOG_FULL, "stored in 0 of 1: keep 'k' is full")
    assert bench.publish(2) == [refused]


def test_a_full_keep_stops_no_message_and_a_second_try_is_for_those_that_lack_it() -> None:
    bench = Bench()
    bench.keep("k", replace(EVERYTHING, count=1, overflow=Overflow.REFUSE))
    bench.keep("other")
    bench.publish(1)
    refused = [(RefusalCode.LOG_FULL, "stored in 1 of 2: keep 'k' is full")]
    assert [refusals(bench.publish(2)) for _ in range(3)] == [refused] * 3
    bench.ack(1, positions(bench.attach(1, "k")))
    assert e.AnswerDone(99) in bench.publish(2)
    assert bench.publish(2) == [e.AnswerDone(99)]
    assert [len(keep.open) for keep in bench.keeps.ledger.keeps.values()] == [1, 2]


def test_a_keep_loses_what_nobody_is_told_of() -> None:
    bench = Bench()
    bench.keep("k", replace(EVERYTHING, count=1, overflow=Overflow.REFUSE))
    bench.publish(1)
    bench.attach(1, "k")
    message = Message({"x": 2}, b"", MessageId(1, 2))
    [told] = [
        c
        for c in bench.do(e.MessageCame(0, message, 100, tuple(bench.keeps.ledger.keeps)))
        if isinstance(c, e.TellLost)
    ]
    assert told == e.TellLost(1, Leaving.DROPPED, 1)


def test_nothing_is_answered_before_the_disk_has_it_and_a_failed_log_is_told() -> None:
    bench = Bench()
    bench.keep("k")
    bench.attach(1, "k")
    bench.is_slow = True
    assert bench.publish(1) == []
    failed = (RefusalCode.LOG_FAILED, "the log cannot be written")
    assert refusals(bench.do(e.LogStands(is_full=False, has_failed=True))) == [failed]
    assert refusals(bench.publish(2)) == [(failed[0], f"stored in 0 of 1: {failed[1]}")]
    bench.do(e.LogStands(is_full=True, has_failed=False))
    assert refusals(bench.publish(3)) == [(RefusalCode.LOG_FULL, "stored in 0 of 1: the log has no room")]


def test_the_last_value_of_each_key_is_replayed_to_who_asks() -> None:
    bench = Bench()
    bench.keep("k", replace(EVERYTHING, latest_by="key"))
    bench.attach(1, "k")
    for n, key in enumerate(("a", "b", "a"), start=1):
        bench.ack(1, positions(bench.publish(n, key=key)))
    replayed = bench.attach(2, "k", latest=True)
    assert given(replayed) == [(2, 2, 0), (2, 3, 0)]
    assert all(command.replayed for command in replayed if isinstance(command, e.DeliverKept))
    assert given(bench.attach(3, "k")) == []


def test_a_position_that_an_application_stored_acknowledges_what_was_before() -> None:
    bench = Bench()
    bench.keep("k")
    bench.attach(1, "k")
    stored = [positions(bench.publish(n))[0] for n in (1, 2, 3)]
    bench.do(e.MemberGone(1))
    assert [x for _, x, _ in given(bench.attach(2, "k", after=stored[1]))] == [3]


def test_a_keep_starts_with_what_the_log_holds_and_it_wants() -> None:
    bench = Bench()
    bench.keep("archive")
    for n in range(1, 5):
        bench.pass_ms(1_000)
        bench.publish(n)
    since = (bench.wall - 1_000) * 1_000_000
    starts = {"earliest": {"start": StartAt.EARLIEST}, "time": {"start": StartAt.TIME, "start_ns": since}}
    starts["after"] = {"start": StartAt.AFTER, "after_origin": 1, "after_counter": 3}
    for name, start in starts.items():
        bench.keep(name, replace(EVERYTHING, filters=packed("x >= 2")), **start)
    found = {name: [x for _, x, _ in given(bench.attach(n, name))] for n, name in enumerate(starts, start=1)}
    assert found == {"earliest": [2, 3, 4], "time": [3, 4], "after": [4]}


def test_who_leaves_gives_back_at_once_and_no_message_dies_of_it() -> None:
    bench = Bench()
    bench.keep("k", replace(EVERYTHING, deliveries_max=1))
    bench.attach(1, "k")
    bench.publish(1)
    bench.do(e.MemberGone(1))
    assert given(bench.attach(2, "k")) == [(2, 1, 2)]


def test_a_lease_runs_while_nobody_is_attached() -> None:
    bench = Bench()
    bench.keep("k", replace(EVERYTHING, idle_ms=1_000))
    bench.attach(1, "k")
    bench.pass_ms(5_000)
    bench.do(e.MemberGone(1))
    assert bench.keeps.due_ms() == 6_000
    bench.pass_ms(999)
    assert bench.keeps.ledger.named("k")
    bench.pass_ms(1)
    assert bench.keeps.ledger.named("k") is None


def test_what_is_delivered_after_a_start_may_be_a_duplicate() -> None:
    bench = Bench()
    bench.keep("k")
    bench.publish(1)
    bench.restart()
    [old] = [command for command in bench.attach(1, "k") if isinstance(command, e.DeliverKept)]
    [new] = [command for command in bench.publish(2) if isinstance(command, e.DeliverKept)]
    assert (old.maybe_duplicate, new.maybe_duplicate) == (True, False)


def test_every_state_is_reached_and_left() -> None:
    for table, states in ((KEEP_TABLE, KeepState), (TRY_TABLE, TryState)):
        assert {state for state, _ in table} == set(states)
    assert set(TRY_TABLE.values()) == set(TryState)
    assert set(KEEP_TABLE.values()) == {KeepState.IDLE, KeepState.SERVED}


def test_terms_are_within_their_bounds() -> None:
    with pytest.raises(Refused, match="unacked_max is 1 to 100000"):
        replace(EVERYTHING, unacked_max=100_001)
    with pytest.raises(Refused, match="its own dead letter place"):
        Keep(1, "k", replace(EVERYTHING, dead_letter="k"))
