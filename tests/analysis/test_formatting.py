"""Figures as people write them are right to the digits they show."""

from __future__ import annotations

import pytest

pytest.importorskip("pyspark")

from tamis.analysis.page import formatting

START_US = 1_700_000_000_000_000


@pytest.mark.parametrize(
    ("us", "words"),
    [
        (0, "0 s"),
        (0.5, "500 ns"),
        (0.0123, "12.3 ns"),
        (1, "1 µs"),
        (-40, "-40 µs"),
        (999, "999 µs"),
        (1_000, "1 ms"),
        (3_609_673, "3.61 s"),
        (61_000_000, "1.02 min"),
        (7_200_000_000, "2 h"),
        (90_000_000_000, "1.04 d"),
    ],
)
def test_durations_have_the_largest_unit_they_fill(us: float, words: str) -> None:
    assert formatting.duration(us) == words


def test_bytes_counts_and_shares() -> None:
    assert [formatting.volume(each) for each in (0, 999, 1_000, 43_537_000)] == ["0 B", "999 B", "1 kB", "43.5 MB"]
    assert [formatting.count(each) for each in (9_999, 12_430, 4_567_890, 2.5)] == ["9,999", "12.4k", "4.57M", "2.5"]
    assert [formatting.so_many(each, "link") for each in (0, 1, 12_430)] == ["0 links", "1 link", "12.4k links"]
    assert [formatting.share(each) for each in (0, 0.04562, 0.000482, 1)] == ["0%", "4.56%", "0.0482%", "100%"]


@pytest.mark.parametrize("power", range(-9, 15))
@pytest.mark.parametrize("lead", [1.0, 1.2345, 3.999, 9.996])
def test_digits_are_near(power: int, lead: float) -> None:
    number = lead * 10.0**power
    assert float(formatting.digits(number).replace(",", "")) == pytest.approx(number, rel=5e-3)


def test_moments_are_those_of_utc() -> None:
    assert formatting.moment(START_US) == "2023-11-14 22:13:20.000"
    assert (formatting.moment(-(1 << 62)), formatting.moment(1 << 62)) == ("the beginning", "the end")
    assert formatting.span(START_US, START_US + 60_000_000) == "2023-11-14 22:13:20 to 22:14:20 UTC"
    assert formatting.span(START_US, START_US + 86_400_000_000) == "2023-11-14 22:13:20 to 2023-11-15 22:13:20 UTC"


def test_filters_and_messages_are_in_the_language() -> None:
    assert formatting.predicate('[["price", "<", 5], ["to", "in", ["a", "b"]]]') == 'price < 5 and to in {"a", "b"}'
    assert formatting.predicate("[]") == "true"
    assert formatting.predicate('[["x", "~~", 1]]') == '[["x", "~~", 1]]'
    assert formatting.attributes('{"price": 5, "to": "a b"}') == 'price=5 to="a b"'
    assert formatting.attributes("half of a mess") == "half of a mess"
