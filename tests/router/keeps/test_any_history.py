"""Keeps under any history: consumers that acknowledge late, never, twice or what another has; crashes that lose what
was not on disk; clocks that jump. Each planted bug is found by the same judge."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from tamis.protocol.wire.client_bodies import AckVerdict, Range
from tamis.protocol.wire.keep_bodies import StartAt
from tamis.router.keeps.keeps import Keeps
from tests.router.keeps.oracle import Wrong
from tests.router.keeps.planted import PLANTED
from tests.router.keeps.walks import walk
from tests.router.keeps.world import NAMES, World

NAMED = st.sampled_from(NAMES)
VERDICTS = st.sampled_from(list(AckVerdict))
WHICH = st.integers(0, 99)


class AnyHistory(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.world = World()
        for name in NAMES[:3]:
            self.world.keep(name)
        self.world.commit(3)

    def member(self, which: int) -> int:
        members = sorted(self.world.of)
        return members[which % len(members)] if members else 0

    @rule(name=NAMED, start=st.sampled_from([StartAt.NEW, StartAt.EARLIEST]))
    def keep(self, name: str, start: StartAt) -> None:
        self.world.keep(name, start)

    @rule(name=NAMED)
    def forget(self, name: str) -> None:
        self.world.forget(name)

    @rule(name=NAMED, credit=st.integers(0, 6), latest=st.booleans())
    def attach(self, name: str, credit: int, latest: bool) -> None:
        self.world.attach(name, credit, latest=latest)

    @rule(which=WHICH)
    def detach(self, which: int) -> None:
        self.world.detach(self.member(which))

    @rule(which=WHICH, more=st.integers(1, 5))
    def credit(self, which: int, more: int) -> None:
        self.world.add_credit(self.member(which), more)

    @rule(
        kind=st.sampled_from("abc"), value=st.integers(0, 1), origin=st.integers(1, 2), ttl=st.sampled_from([0, 20_000])
    )
    def publish(self, kind: str, value: int, origin: int, ttl: int) -> None:
        self.world.publish(kind, value, origin=origin, ttl_ms=ttl if kind == "b" and self.only_small() else 0)

    def only_small(self) -> bool:
        """Losses by age are judged for keeps whose terms let something go."""
        return not self.world.is_kept("ordered")

    @rule(which=WHICH)
    def publish_again(self, which: int) -> None:
        sent = sorted(self.world.judge.sent)
        if sent:
            self.world.publish("", 0, again=sent[which % len(sent)])

    @rule(which=WHICH, verdict=VERDICTS, delay=st.sampled_from([0, 2_000]))
    def ack_all(self, which: int, verdict: AckVerdict, delay: int) -> None:
        member = self.member(which)
        got = sorted(self.world.got.get(member, ()))
        self.world.ack_ranges(member, (Range(0, 2**64 - 1),), got, verdict, delay_ms=delay)

    @rule(which=WHICH, of=WHICH, verdict=VERDICTS)
    def ack_anything_given(self, which: int, of: int, verdict: AckVerdict) -> None:
        given = sorted({position for got in self.world.got.values() for position in got})
        if given:
            self.world.ack(self.member(which), [given[of % len(given)]], verdict)

    @rule(records=st.integers(1, 6))
    def commit(self, records: int) -> None:
        self.world.commit(records)

    @rule()
    def crash(self) -> None:
        self.world.crash()

    @rule(
        steady=st.sampled_from([0, 1_000, 20_000, 29_999, 31_000]), jump=st.sampled_from([0, 0, 3_600_000, -3_600_000])
    )
    def pass_time(self, steady: int, jump: int) -> None:
        self.world.pass_time(steady, steady + jump)

    def teardown(self) -> None:
        self.world.settle()


TestAnyHistory = AnyHistory.TestCase
TestAnyHistory.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestAnyHistory = pytest.mark.slow(TestAnyHistory)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 100, 25))
def test_random_walks_break_no_rule(first: int) -> None:
    for seed in range(first, first + 25):
        walk(World(), seed)


@pytest.mark.slow
@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_bug_is_found(name: str) -> None:
    broken = PLANTED[name]()
    with pytest.raises(Wrong):
        walk_often(broken, lives_are_counted=True)


def test_numbers_that_begin_again_after_a_crash_are_found() -> None:
    with pytest.raises(Wrong, match="D7"):
        walk_often(Keeps, lives_are_counted=False)


def walk_often(make: type[Keeps], *, lives_are_counted: bool) -> None:
    for seed in range(200):
        walk(World(make, lives_are_counted=lives_are_counted), seed)
