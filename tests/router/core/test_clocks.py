"""The bounds of epochs, each at the very number where it lies, by the clocks and the statements of neighbours."""

from __future__ import annotations

import pytest

from tamis.router.core.epochs import DAY_MS, EPOCH_MAX, EpochValidator, no_clock
from tamis.router.core.times import S

NOW = 1_700_000_000_000
FAR = NOW + 3_650 * DAY_MS
TWO_DAYS = NOW + 2 * DAY_MS


def with_clocks(*ahead_ms: int, silent: int = 0, own: int = NOW) -> EpochValidator:
    """Each neighbour's clock is so far ahead of NOW; `silent` further ones have stated something, but not their
    clocks."""
    epoch_validator = EpochValidator(lambda: own)
    for neighbour, ahead in enumerate(ahead_ms):
        epoch_validator.takes(neighbour, NOW + ahead + DAY_MS, 0)
    for neighbour in range(silent):
        epoch_validator.stated(len(ahead_ms) + neighbour, 9, 1)
    return epoch_validator


# --- which clock counts


@pytest.mark.parametrize(
    ("days", "silent", "clock"),
    [
        ((), 0, 0),
        ((), 3, 0),
        ((9,), 0, 0),
        ((-9,), 0, -9),
        ((-9,), 1, 0),
        ((-9, -8), 1, -8),
        ((-9, -8), 2, 0),
        ((9, 8), 0, 8),
        ((9, 8), 1, 8),
        ((9, 8), 2, 0),
        ((-9, 8), 0, 0),
        ((-9, -8), 0, -8),
        ((0, 5, 9), 0, 5),
        ((0, 0, 9), 0, 0),
        ((-9, -5, 0), 0, -5),
        ((-9, 0, 0), 0, 0),
        ((0, 5, 6, 9), 0, 5),
        ((0, 0, 6, 9), 0, 0),
        ((-9, -6, -5, 0), 0, -5),
        ((-9, -6, 0, 0), 0, 0),
        ((-9, -8, 5, 6, 7), 0, 5),
        ((-9, -8, -5, 6, 7), 0, -5),
    ],
)
def test_the_clock_is_the_one_nearest_to_the_own_that_more_than_half_of_the_neighbours_have_passed(days, silent, clock):
    assert with_clocks(*(day * DAY_MS for day in days), silent=silent).clock_ms(0) == NOW + clock * DAY_MS


@pytest.mark.parametrize("side", [-1, 1])
def test_clocks_that_are_a_day_off_do_not_count_and_those_a_millisecond_further_do(side):
    assert with_clocks(*(side * DAY_MS,) * 2).clock_ms(0) == NOW
    assert with_clocks(*(side * (DAY_MS + 1),) * 2).clock_ms(0) == NOW + side * (DAY_MS + 1)


def test_a_clock_goes_on_from_when_it_was_heard():
    epoch_validator = with_clocks()
    for neighbour in (1, 2):
        epoch_validator.takes(neighbour, FAR + DAY_MS, 7 * S)
    assert epoch_validator.clock_ms(7 * S) == FAR
    assert epoch_validator.clock_ms(10 * S) == FAR + 3_000


def test_a_clock_before_the_first_day_counts_as_zero():
    epoch_validator = with_clocks()
    for acceptable in (0, DAY_MS - 1, DAY_MS):
        epoch_validator.takes(1, acceptable, 0)
        assert epoch_validator.clock_ms(0) == 0
    epoch_validator.takes(1, DAY_MS + 1, 0)
    assert epoch_validator.clock_ms(0) == 1


def test_no_clock_passes_the_highest_epoch():
    assert with_clocks(EPOCH_MAX, EPOCH_MAX).clock_ms(0) == EPOCH_MAX
    assert with_clocks(own=EPOCH_MAX + 1).clock_ms(0) == EPOCH_MAX
    assert EpochValidator().clock_ms(0) == no_clock() == EPOCH_MAX


def test_the_clock_that_neighbours_are_told_never_follows_a_single_one():
    off = -9 * DAY_MS
    assert with_clocks(off).clock_ms(0) == NOW + off
    assert with_clocks(off).sure_ms(0) == NOW
    assert with_clocks(off, off).sure_ms(0) == NOW + off
    assert with_clocks(own=EPOCH_MAX - DAY_MS).sure_ms(0) == EPOCH_MAX - DAY_MS
    assert with_clocks(own=EPOCH_MAX - DAY_MS + 1).sure_ms(0) == EPOCH_MAX - DAY_MS


def test_of_a_neighbour_that_is_gone_neither_clock_nor_statement_counts():
    epoch_validator = with_clocks(9 * DAY_MS, 9 * DAY_MS)
    assert epoch_validator.knows_clock(1)
    epoch_validator.gone(1)
    epoch_validator.gone(7)
    assert [epoch_validator.knows_clock(neighbour) for neighbour in (0, 1, 2)] == [True, False, False]
    assert epoch_validator.clock_ms(0) == NOW


# --- up to where epochs are believed


@pytest.mark.parametrize(
    ("held", "bound"),
    [
        (0, NOW + DAY_MS),
        (1, NOW + DAY_MS),
        (NOW, NOW + DAY_MS),
        (NOW + 1, NOW + DAY_MS + 1),
        (NOW + DAY_MS, TWO_DAYS),
        (NOW + DAY_MS + 1, TWO_DAYS),
        (EPOCH_MAX, TWO_DAYS),
    ],
)
def test_the_clock_allows_a_day_ahead_of_it_or_of_what_is_held_and_never_more_than_two(held, bound):
    epoch_validator = with_clocks()
    assert epoch_validator.by_clock(held, 0) == epoch_validator.acceptable(held, 0) == bound
    assert epoch_validator.is_so(bound, held, 0)
    assert not epoch_validator.is_so(bound + 1, held, 0)


@pytest.mark.parametrize("own", [EPOCH_MAX - DAY_MS, EPOCH_MAX - 1, EPOCH_MAX, EPOCH_MAX + 1])
def test_no_clock_allows_more_than_the_highest_epoch(own):
    epoch_validator = with_clocks(own=own)
    for neighbour in (1, 2, 3):
        epoch_validator.stated(neighbour, 9, EPOCH_MAX + 1)
    for held in (0, EPOCH_MAX):
        assert epoch_validator.by_clock(held, 0) == epoch_validator.acceptable(held, 0) == EPOCH_MAX
        assert epoch_validator.is_so(EPOCH_MAX, held, 0)
        assert not epoch_validator.is_so(EPOCH_MAX + 1, held, 0)


@pytest.mark.parametrize(
    ("stated", "vouched"),
    [
        ((FAR,), FAR),
        ((FAR, 1), 0),
        ((FAR, FAR + 1), FAR),
        ((FAR, FAR + 1, 1), FAR),
        ((FAR, FAR + 1, FAR + 2), FAR + 1),
        ((FAR, FAR, 1, 1), 0),
        ((FAR, FAR, FAR + 1, 1), FAR),
    ],
)
def test_more_than_half_of_the_links_vouch_for_the_epoch_that_each_of_them_reaches(stated, vouched):
    epoch_validator = with_clocks()
    for neighbour, epoch in enumerate(stated):
        epoch_validator.stated(neighbour, 9, epoch)
    assert epoch_validator.acceptable(0, 0) == max(vouched, NOW + DAY_MS)


def test_a_neighbour_vouches_for_its_highest_epoch_until_it_states_a_lower_one_of_that_issuer():
    epoch_validator = with_clocks()
    for issuer, epoch, vouched in ((8, FAR, FAR), (9, 1, FAR), (9, FAR, FAR), (8, FAR - 1, FAR - 1), (9, 0, FAR - 1)):
        epoch_validator.stated(1, issuer, epoch)
        assert epoch_validator.acceptable(0, 0) == vouched


def test_an_epoch_of_this_day_is_refused_where_the_clocks_of_the_neighbours_are_behind():
    assert with_clocks().is_so(NOW, 0, 0)
    assert not with_clocks(-9 * DAY_MS).is_so(NOW, 0, 0)
    assert with_clocks(-9 * DAY_MS).is_so(NOW - 8 * DAY_MS, 0, 0)


@pytest.mark.parametrize(
    ("heard", "most"),
    [
        (0, NOW + DAY_MS),
        (NOW + DAY_MS - 1, NOW + DAY_MS),
        (NOW + DAY_MS, TWO_DAYS),
        (TWO_DAYS - 1, TWO_DAYS),
        (TWO_DAYS, TWO_DAYS),
        (TWO_DAYS + 1, TWO_DAYS + 1 + DAY_MS),
        (EPOCH_MAX - DAY_MS, EPOCH_MAX),
        (EPOCH_MAX - 1, EPOCH_MAX),
    ],
)
def test_a_router_jumps_up_to_what_all_believe_or_else_to_what_those_believe_that_hold_what_was_heard(heard, most):
    assert with_clocks().above(heard, 0) == most


def test_neighbours_refuse_an_epoch_more_than_a_day_ahead_of_their_clocks():
    epoch_validator = with_clocks(0, 1, 2_000, 9 * DAY_MS)
    epoch = NOW + DAY_MS
    assert [epoch_validator.refusing(each, 0) for each in (0, epoch, epoch + 1, epoch + 2)] == [0, 0, 1, 2]
    assert epoch_validator.refusing(FAR, 0) == 4
    assert epoch_validator.refusing(epoch + 2_000, 1 * S) == 2, "their clocks go on"
