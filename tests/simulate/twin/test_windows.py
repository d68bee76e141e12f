"""What came before, against plain sets that forget nothing."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.simulate.twin.windows import (
    PUBLISHER_WINDOW,
    PUBLISHERS_MAX,
    SOURCES_MAX,
    TRANSIT_WINDOW,
    EntryVerdict,
    PublisherWindows,
    TransitWindows,
    Window,
)
from tests.router.core.graphs import checks

SIZE = 8


class PlainWindow:
    def __init__(self, size: int) -> None:
        self.size = size
        self.seen: set[int] = set()

    def fresh(self, counter: int) -> bool:
        if counter in self.seen or counter <= max(self.seen, default=counter) - self.size:
            return False
        self.seen.add(counter)
        return True


class PlainTransit:
    """Sources in the order in which they were asked about, the least recent first."""

    def __init__(self, sources_max: int) -> None:
        self.sources_max = sources_max
        self.sources: list[tuple[int, int, PlainWindow]] = []

    def fresh(self, source: int, epoch: int, counter: int) -> bool:
        known = [row for row in self.sources if row[0] == source]
        newest, window = known[0][1:] if known else (-1, PlainWindow(SIZE))
        if epoch > newest:
            newest, window = epoch, PlainWindow(SIZE)
        self.sources = [row for row in self.sources if row[0] != source]
        self.sources = [*self.sources, (source, newest, window)][-self.sources_max :]
        return epoch == newest and window.fresh(counter)


def near(size: int) -> st.SearchStrategy[int]:
    """Counters close to each other, at the edges of the window, and very far away."""
    return st.integers(0, 3 * size) | st.sampled_from([2**64 - 1, 2**64 - size, 2**64 - size - 1, 2**40])


@checks
@given(st.lists(near(SIZE), min_size=1, max_size=60))
def test_a_window_knows_what_a_set_knows(counters):
    window, plain = Window(SIZE, counters[0]), PlainWindow(SIZE)
    plain.fresh(counters[0])
    assert [window.fresh(counter) for counter in counters[1:]] == [plain.fresh(counter) for counter in counters[1:]]


@checks
@given(st.lists(st.integers(-3, 3).map(lambda step: step * (TRANSIT_WINDOW // 2)) | st.integers(-2, 2), max_size=30))
def test_the_window_of_transit_has_65536_counters(steps):
    windows, plain, counter = TransitWindows(), PlainWindow(65_536), 2**32
    for step in steps:
        counter += step
        assert windows.fresh(1, 1, counter) == plain.fresh(counter)


@checks
@given(st.lists(st.tuples(st.integers(1, 4), st.integers(1, 3), near(SIZE)), max_size=60))
def test_transit_windows_do_as_plain_sets(messages):
    windows, plain = TransitWindows(sources_max=3, size=SIZE), PlainTransit(3)
    for message in messages:
        assert windows.fresh(*message) == plain.fresh(*message)
        assert len(windows) == len(plain.sources)


class PlainPublisher:
    """One publisher, of whom nothing is forgotten."""

    def __init__(self) -> None:
        self.entered: set[int] = set()
        self.delivered: set[int] = set()


def starts() -> st.SearchStrategy[list[int]]:
    """Counters of a publisher that starts a few times, under clocks that may have been put back or forward."""
    starts_ = st.lists(st.integers(0, 3), min_size=1, max_size=4, unique=True)
    return starts_.map(lambda at: [10**18 + 3_600 * 10**9 * each for each in at])


@checks
@given(st.data())
def test_a_message_is_delivered_once_and_none_is_taken_for_one_that_came_before(data):
    """Two routers, each of which delivers what enters at either; second tries are of messages sent lately."""
    routers, plain = (PublisherWindows(), PublisherWindows()), (PlainPublisher(), PlainPublisher())
    runs = dict.fromkeys(data.draw(starts()), 0)
    for _ in range(data.draw(st.integers(1, 40))):
        start = data.draw(st.sampled_from(sorted(runs)))
        is_again = runs[start] > 0 and data.draw(st.booleans())
        runs[start] += not is_again
        counter = start + runs[start] - (data.draw(st.integers(0, min(runs[start] - 1, 50))) if is_again else 0)
        at = data.draw(st.integers(0, 1))
        entry = routers[at].enter(7, counter)
        assert (entry is EntryVerdict.DUPLICATE) is (counter in plain[at].entered)
        if entry in (EntryVerdict.DUPLICATE, EntryVerdict.TOO_OLD):
            assert entry is EntryVerdict.DUPLICATE or counter + 4_096 <= routers[at].newest(7)
            continue
        assert (entry is EntryVerdict.NEW) is (counter not in plain[at].delivered)
        plain[at].entered.add(counter)
        plain[at].delivered.add(counter)
        other = 1 - at
        assert routers[other].fresh(7, counter) is (counter not in plain[other].delivered)
        plain[other].delivered.add(counter)


def test_a_clock_an_hour_back_is_delivered_elsewhere_and_refused_where_the_newest_is_known():
    now, hour = 1_700_000_000 * 10**9, 3_600 * 10**9
    a, b, c = PublisherWindows(), PublisherWindows(), PublisherWindows()
    assert a.enter(1, now) is EntryVerdict.NEW
    assert c.fresh(1, now)
    assert b.enter(1, now - hour) is EntryVerdict.NEW, "b has carried nothing of it"
    assert c.fresh(1, now - hour), "c has delivered what is newer, and this it has not"
    assert not c.fresh(1, now - hour), "a second try by another router"
    assert a.enter(1, now - hour) is EntryVerdict.TOO_OLD
    assert a.enter(1, now) is EntryVerdict.DUPLICATE
    assert a.newest(1) == now


def test_a_second_try_goes_on_where_the_first_was_only_delivered():
    windows = PublisherWindows()
    assert windows.fresh(1, 5)
    assert windows.enter(1, 5) is EntryVerdict.NEW_AND_DELIVERED, "beyond this router it may not have come"
    assert windows.enter(1, 5) is EntryVerdict.DUPLICATE


def test_what_lags_far_behind_its_own_run_is_no_second_copy():
    """First tries in a queue come after thousands of later messages that went another way."""
    windows = PublisherWindows()
    assert windows.fresh(1, 10_000)
    assert all(windows.fresh(1, counter) for counter in range(10_001, 20_000))
    assert all(windows.fresh(1, counter) for counter in range(5_000, 9_000))
    assert not any(windows.fresh(1, counter) for counter in range(10_000, 20_000, 97))


def test_four_runs_of_a_publisher_are_remembered():
    windows = PublisherWindows()
    day = 86_400 * 10**9
    assert all(windows.fresh(1, start * day) for start in range(1, 5))
    assert not any(windows.fresh(1, start * day) for start in range(1, 5))
    assert windows.fresh(1, 5 * day)
    assert not windows.fresh(1, 2 * day)
    assert windows.fresh(1, 1 * day), "the run used least recently is forgotten"


@checks
@given(st.lists(st.integers(1, 4), max_size=30))
def test_publishers_are_forgotten_in_the_order_of_their_use(publishers):
    windows, kept = PublisherWindows(publishers_max=3), []
    for publisher in publishers:
        assert windows.fresh(publisher, 1) is (publisher not in kept)
        kept = [*(each for each in kept if each != publisher), publisher][-3:]
        assert len(windows) == len(kept)


@pytest.mark.parametrize("jump", [2, SIZE - 1, SIZE, SIZE + 1, 2 * SIZE, 2**63])
def test_what_a_jump_passes_is_fresh_although_its_place_was_taken_before(jump):
    window = Window(SIZE, 100)
    assert all(window.fresh(counter) for counter in range(101 - SIZE, 100))
    top = 100 + jump
    assert window.fresh(top)
    passed = range(max(101, top - SIZE + 1), top)
    assert all(window.fresh(counter) for counter in passed)
    assert not any(window.fresh(counter) for counter in (*passed, top, 100, top - SIZE))


def test_an_epoch_is_its_number():
    windows = TransitWindows()
    assert windows.fresh(1, 10**12, 7)
    assert windows.fresh(1, int(str(10**12)), 8)


def test_an_older_epoch_is_refused_and_a_newer_one_begins_anew():
    windows = TransitWindows()
    assert windows.fresh(1, 5, 7)
    assert not windows.fresh(1, 4, 8)
    assert windows.fresh(1, 6, 7)
    assert not windows.fresh(1, 6, 7)
    assert not windows.fresh(1, 5, 9)
    assert windows.fresh(2, 4, 7)


@pytest.mark.parametrize(("windows", "most"), [(TransitWindows(), 4_096), (PublisherWindows(), 10_000)])
def test_the_least_recent_is_forgotten_at_the_bound(windows, most):
    def fresh(sender):
        return windows.fresh(sender, 1, 1) if isinstance(windows, TransitWindows) else windows.fresh(sender, 1)

    assert all(fresh(sender) for sender in range(most))
    assert not fresh(0)
    assert fresh(most)
    assert len(windows) == most
    assert not fresh(0)
    assert fresh(1)


def test_the_bounds_are_those_of_the_rules():
    assert (TRANSIT_WINDOW, SOURCES_MAX, PUBLISHER_WINDOW, PUBLISHERS_MAX) == (65_536, 4_096, 4_096, 10_000)
    publishers = PublisherWindows()
    assert publishers.enter(1, 10_000) is EntryVerdict.NEW
    assert publishers.enter(1, 10_000 - 4_096) is EntryVerdict.TOO_OLD
    assert publishers.enter(1, 10_001 - 4_096) is EntryVerdict.NEW


def test_counters_far_apart_cost_no_memory():
    window = Window(TRANSIT_WINDOW, 0)
    tracemalloc.start()
    try:
        for step in range(1, 65):
            assert window.fresh(step * 2**58)
            assert window.fresh(step * 2**58 - TRANSIT_WINDOW + 1)
        assert tracemalloc.get_traced_memory()[1] < 12 * TRANSIT_WINDOW // 8
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("step", [1, SIZE - 1])
def test_a_window_that_moves_on_for_long_forgets_nothing_too_soon_and_does_not_grow(step):
    window = Window(SIZE, 0)
    for counter in range(step, 20 * SIZE, step):
        assert window.fresh(counter)
        seen = [at for at in range(0, counter + 1, step) if at > counter - SIZE]
        assert not any(map(window.fresh, seen))
        assert not any(window.fresh(counter - behind) for behind in range(SIZE, 3 * SIZE))
        assert window._seen.bit_length() <= 2 * SIZE


def test_a_router_that_was_forgotten_may_come_back_with_an_older_epoch():
    windows = TransitWindows()
    assert windows.fresh(1, 9, 5)
    assert not windows.fresh(1, 8, 1)
    windows.forget(1)
    windows.forget(2)
    assert windows.fresh(1, 8, 1)
    assert not windows.fresh(1, 8, 1)
