"""Filters AND-ed with rules: they have the messages that are wanted and allowed, and no others."""

from __future__ import annotations

import random

import pytest

from tamis.protocol.access.narrow import NARROWED_FILTERS_MAX, narrowed
from tamis.protocol.evaluate import filter_matches
from tamis.protocol.filters import Filter
from tamis.protocol.language import parse
from tests.configs.access.oracle import COUNT, as_attributes, possible_tree


def filters(text: str) -> tuple[Filter, ...]:
    return parse(text).filters


@pytest.mark.parametrize(
    ("wanted", "allowed", "denied", "found"),
    [
        ('kind = "alert" and n > 3', 'kind in {"alert", "reading"}', "false", 'kind = "alert" and n > 3'),
        ("n > 3", 'kind = "alert"', "exists salary", 'kind = "alert" and n > 3 and not exists salary'),
        ("n > 3", 'kind = "a" or plant = "b"', "false", '(kind = "a" and n > 3) or (n > 3 and plant = "b")'),
        ("n > 3", "true", "n > 2", "false"),
        ("n > 3", "true", "n < 2", "n > 3"),
        ("true", "true", "a = 1 and b = 2", "not a = 1 or not b = 2"),
    ],
)
def test_filters_with_rules(wanted: str, allowed: str, denied: str, found: str) -> None:
    expected = set(parse(found).filters)
    assert set(narrowed(filters(wanted), filters(allowed), filters(denied))) == expected


def test_random_filters_have_what_is_wanted_and_allowed() -> None:
    rng, judged, bounded = random.Random(38), 0, 0
    for _ in range(400):
        wanted, allowed, denied = (filters(possible_tree(rng).text.replace("${name}", "n1")) for _ in range(3))
        found = narrowed(wanted, allowed, denied)
        if found is None:
            bounded += 1
            continue
        for _ in range(50):
            message = as_attributes(rng.randrange(COUNT), "n1")
            is_in = [any(filter_matches(each, message) for each in some) for some in (wanted, allowed, denied, found)]
            assert is_in[3] is (is_in[0] and is_in[1] and not is_in[2])
            judged += is_in[3]
    assert judged > 1_000
    assert bounded < 40


@pytest.mark.parametrize("more", [0, 1])
def test_what_is_too_large_is_not_bounded(more: int) -> None:
    allowed = [Filter(filters(f"a{n} = 1")[0].constraints) for n in range(NARROWED_FILTERS_MAX + more)]
    found = narrowed(filters("n = 1"), allowed, [])
    assert (found is None) is bool(more)
    long = filters(" and ".join(f"b{n} = 1" for n in range(16 - 1 + more)))
    assert (narrowed(long, filters("c = 1"), []) is None) is bool(more)
