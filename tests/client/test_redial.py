from __future__ import annotations

from tamis.client.connection.address import parse_address
from tamis.client.connection.redial import PAUSE_S_MIN, REDIAL_S, STEADY_S, Redial

A, B = (parse_address(f"tamis+unix:/{name}") for name in "ab")


def fail(redial: Redial, count: int) -> list[tuple[str, float]]:
    """The addresses tried, and the pauses before."""
    tried = []
    for _ in range(count):
        address, pause_s = redial.next()
        tried.append((address.path, pause_s))
        redial.ended("refused", now=0.0)
    return tried


def test_addresses_in_order_and_pauses_that_double_to_their_bound() -> None:
    redial = Redial((A, B), random=lambda: 1.0)
    tried = fail(redial, 20)
    assert [path for path, _ in tried] == ["/a", "/b"] * 10
    assert [pause for path, pause in tried if path == "/b"] == [0.0] * 10
    expected = [0.0, *(min(PAUSE_S_MIN * 2**n, REDIAL_S) for n in range(9))]
    assert [pause for path, pause in tried if path == "/a"] == expected
    assert redial.rounds == 10
    assert redial.failures == {A: "refused", B: "refused"}


def test_jitter_leaves_at_least_half() -> None:
    pauses = []
    for drawn in 0.0, 0.5, 1.0:
        redial = Redial((A,), random=lambda drawn=drawn: drawn)  # type: ignore[misc]
        fail(redial, 1)
        pauses.append(redial.next()[1])
    assert pauses == [PAUSE_S_MIN / 2, PAUSE_S_MIN * 3 / 4, PAUSE_S_MIN]


def test_after_a_cut_the_first_address_again_soon() -> None:
    redial = Redial((A, B), random=lambda: 1.0)
    fail(redial, 9)
    assert redial.next()[0] == B
    redial.opened(now=10.0)
    assert redial.failures == {}
    redial.ended("cut", now=10.0 + STEADY_S)
    assert redial.next() == (A, PAUSE_S_MIN)


def test_the_first_pause_after_a_cut_is_short_however_long_the_way_here_was() -> None:
    redial = Redial((A,), random=lambda: 1.0)
    fail(redial, 20)
    assert redial.next()[1] == REDIAL_S
    for _ in range(3):
        redial.opened(now=10.0)
        redial.ended("cut", now=10.1)
        assert redial.next()[1] <= 0.2
        fail(redial, 20)


def test_the_longest_pause_is_as_told() -> None:
    redial = Redial((A,), random=lambda: 1.0, pause_s_max=0.3)
    assert [pause for _, pause in fail(redial, 6)][1:] == [0.05, 0.1, 0.2, 0.3, 0.3]


def test_a_router_that_closes_at_once_is_not_hammered() -> None:
    redial = Redial((A,), random=lambda: 1.0)
    pauses = []
    for _ in range(4):
        redial.opened(now=10.0)
        redial.ended("cut", now=10.1)
        pauses.append(redial.next()[1])
    assert pauses == [PAUSE_S_MIN, 2 * PAUSE_S_MIN, 4 * PAUSE_S_MIN, 8 * PAUSE_S_MIN]
