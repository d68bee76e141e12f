"""R9: what this router says of itself is newer than all it said before, in this life or another."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tamis.protocol.wire.numbers import stable_number
from tamis.router.core.statements.freshness import Version
from tamis.router.core.statements.identity import OwnFreshness
from tamis.router.core.times import S
from tests.router.core.graphs import checks


def test_statements_are_counted_within_the_epoch():
    identity = OwnFreshness("a", 5)
    assert (identity.name, identity.number, identity.version) == ("a", stable_number("a"), Version(5, 0))
    assert [identity.next(), identity.next()] == [Version(5, 1), Version(5, 2)]
    assert identity.jumped_us is None


def test_a_newer_epoch_of_oneself_is_jumped_past():
    identity = OwnFreshness("a", 5)
    identity.next()
    identity.hear_of_me(Version(8, 4))
    identity.hear_of_me(Version(7, 9))
    identity.jump(3)
    assert identity.next() == (identity.epoch, 1)
    assert 8 < identity.epoch <= 8 + 2**24
    assert identity.jumped_us == 3


def test_what_another_life_said_in_the_same_epoch_is_jumped_past_into_one_of_ones_own():
    identity = OwnFreshness("a", 5)
    identity.hear_of_me(Version(5, 7))
    identity.jump(0)
    assert identity.epoch > 5
    assert identity.next().seq == 1


def test_lives_that_jump_from_one_epoch_come_to_different_ones():
    epochs = set()
    for started_ms in range(1_000):
        life = OwnFreshness("a", started_ms)
        life.hear_of_me(Version(2_000, 3))
        life.jump(0)
        epochs.add(life.epoch)
    assert len(epochs) == 1_000
    assert min(epochs) > 2_000


@checks
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 5), st.integers(0, 5))))
def test_the_version_never_goes_back_and_after_a_jump_is_newer_than_all_that_was_heard(steps):
    identity, said, heard = OwnFreshness("a", 2), Version(0, 0), Version(0, 0)
    for jumps, epoch, seq in steps:
        if jumps:
            identity.jump(0)
            assert identity.next() > max(said, heard)
        else:
            identity.hear_of_me(Version(epoch, seq))
            heard = max(heard, Version(epoch, seq))
            identity.next()
        assert identity.version > said
        said = identity.version


def test_three_jumps_within_a_minute_are_suspicious():
    identity = OwnFreshness("a", 1)
    assert [identity.jump(at * S) for at in (0, 20, 59, 81, 139, 141)] == [False, False, True, False, False, False]
    assert identity.jump(141 * S) is True
    assert identity.jumped_us == 141 * S


def test_three_jumps_in_exactly_a_minute_are_not():
    identity = OwnFreshness("a", 1)
    assert [identity.jump(at * S) for at in (0, 30, 60)] == [False, False, False]
