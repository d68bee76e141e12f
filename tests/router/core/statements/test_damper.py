"""R1: how long a change waits after those before it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tamis.router.core.statements.damper import Damper
from tests.router.core.graphs import checks

FIRST_US, MOST_US = 100, 1_000


def test_the_first_change_goes_out_at_once():
    assert Damper(FIRST_US).ready_us(MOST_US) == 0


def test_changes_that_keep_coming_wait_twice_as_long_each_time_up_to_the_bound():
    damper, now_us, waits = Damper(FIRST_US), 0, []
    for _ in range(6):
        damper.issued(now_us, MOST_US)
        waits.append(damper.ready_us(MOST_US) - now_us)
        now_us += waits[-1]
    assert waits == [100, 200, 400, 800, 1_000, 1_000]


def test_what_widens_waits_for_its_own_bound_only():
    damper = Damper(FIRST_US)
    for now_us in range(0, 1_000, 100):
        damper.issued(now_us, 5_000)
    assert damper.ready_us(5_000) == 5_900
    assert damper.ready_us(MOST_US) == 1_900


@checks
@given(st.lists(st.tuples(st.integers(0, 900), st.sampled_from([300, 1_000])), max_size=12))
def test_after_twice_the_wait_in_peace_a_change_is_a_first_one_again(issues):
    damper, now_us, wait_us, last_us = Damper(FIRST_US), 0, FIRST_US, None
    for gap_us, most_us in issues:
        now_us += gap_us
        graceful = last_us is None or now_us >= last_us + 2 * wait_us
        wait_us = FIRST_US if graceful else min(2 * wait_us, most_us)
        last_us = now_us
        damper.issued(now_us, most_us)
        for most in (50, 300, 1_000):
            assert damper.ready_us(most) == now_us + min(wait_us, most)
