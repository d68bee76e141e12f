"""Templates of `tamis pub`: what fills a place, and what is refused before anything is sent."""

from __future__ import annotations

from random import Random

import pytest

from tamis.cli.messages.templates import Moment, Template
from tamis.protocol.errors import Refused


def rendered(text: str, count: int = 7) -> str:
    return Template(text).render(Moment(count, 1_700_000_000.25, Random(1)))


@pytest.mark.parametrize(
    ("text", "gives"),
    [
        ("plain", "plain"),
        ("", ""),
        ("{{count}}", "7"),
        ("n={{ count }}!", "n=7!"),
        ("{{count}}{{count}}", "77"),
        ("{{time}}", "1700000000.250000"),
        ("{{random 4 4}}", "4"),
        ("{{random -2 -2}}", "-2"),
        ("{{random 0.5 0.5}}", "0.500000"),
        ("{{pick only}}", "only"),
        ("} {", "} {"),
    ],
)
def test_a_place_is_filled(text, gives) -> None:
    assert rendered(text) == gives


def test_random_keeps_its_bounds_and_reaches_them() -> None:
    moment = Moment(1, 0.0, Random(5))
    template = Template("{{random 1 3}}")
    assert {template.render(moment) for _ in range(100)} == {"1", "2", "3"}
    between = Template("{{random 1.0 2}}")
    assert all(1 <= float(between.render(moment)) <= 2 for _ in range(100))
    pick = Template("{{pick a b}}")
    assert {pick.render(moment) for _ in range(100)} == {"a", "b"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{{}}", "no placeholder ''"),
        ("{{conut}}", "no placeholder 'conut'; use one of count, random, pick, time"),
        ("{{count 3}}", "this word takes no arguments"),
        ("{{random 1}}", "random needs two numbers"),
        ("{{random 2 1}}", "the smaller one first"),
        ("{{random a b}}", "random needs two numbers"),
        ("{{random 1e9 nan}}", "random needs two numbers"),
        ("{{pick}}", "pick needs at least one word"),
        ("a {{count", "closes with }}"),
    ],
)
def test_a_bad_place_is_refused_when_it_is_read(text, said) -> None:
    with pytest.raises(Refused, match="template") as refused:
        Template(text)
    assert said in str(refused.value)


def test_what_is_constant() -> None:
    assert Template("x").is_constant
    assert not Template("x{{count}}").is_constant
