"""The bench of real routers under faults: its own arithmetic, and a run of a few operations."""

from __future__ import annotations

import pytest

from tamis.bench.networks.chaos.contents import CONTENTS, SHAPES, column_shape
from tamis.bench.networks.chaos.fleet import Sent
from tamis.bench.networks.chaos.outage import Outage, outage
from tamis.bench.networks.chaos.run import Plan, run
from tamis.protocol.evaluate import filter_matches
from tamis.protocol.language import parse
from tamis.testing import lasting_port

PAIR = (0, 1)


def messages(*arrivals: float | None) -> list[Sent]:
    """One is published every second, from second 1 on; None: it did not arrive."""
    return [
        Sent(number, 0, 0, 0, float(number), arrivals={} if at is None else {1: at})
        for number, at in enumerate(arrivals, start=1)
    ]


@pytest.mark.parametrize(
    ("arrivals", "anew", "expected"),
    [
        ((1.1, 2.1, 3.5), set(), Outage(0.0, 0, 0.5)),
        ((1.1, None, 3.1, 4.1), set(), Outage(2.6, 1, 0.1)),
        ((None, 2.1, None, 4.2), set(), Outage(3.7, 2, 0.2)),
        ((1.1, None), set(), Outage(float("inf"), 1, 0.1)),
        ((1.25, 2.1), {PAIR}, Outage(0.75, 0, 0.25)),
        ((), {PAIR}, Outage(float("inf"), 0, 0.0)),
    ],
)
def test_an_outage_ends_with_the_first_arrival_behind_the_last_loss(arrivals, anew, expected):
    found = outage(messages(*arrivals), [PAIR], 0.5, anew)
    assert (found.back_s, found.missing, found.slowest_s) == pytest.approx(
        (expected.back_s, expected.missing, expected.slowest_s)
    )


@pytest.mark.parametrize("shape", [*SHAPES, column_shape(2)], ids=lambda shape: shape.text)
def test_the_judge_reads_a_predicate_as_the_language_does(shape):
    predicate = parse(shape.text)
    wanted = [any(filter_matches(each, content) for each in predicate.filters) for content in CONTENTS]
    assert [bool(shape.contents >> number & 1) for number in range(len(CONTENTS))] == wanted
    assert 0 < sum(wanted) < len(CONTENTS)


def test_a_port_is_given_once():
    ports = [lasting_port() for _ in range(5)]
    assert len(set(ports)) == 5


@pytest.mark.slow
async def test_routers_that_are_killed_and_links_that_are_cut_cost_nobody_else_a_message(tmp_path):
    plan = Plan(routers=4, clients=8, rate=10, operations={"kill": 1, "cut": 1}, seed=1, seconds=60)
    found = await run(plan, tmp_path, print)
    assert found.is_clean, found
    assert len(found.outcomes) == 2
    assert found.counts["required at rest"] > 0
    assert found.counts["required in motion"] > 0
    assert not found.counts.get("unknown")
