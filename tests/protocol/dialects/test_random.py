"""Random filters and events of each dialect, many more than hypothesis has time for: what predicate and program say
together is what the judge says.

    DIALECT_PAIRS=100000 DIALECT_SEED=1 pytest -s tests/protocol/dialects/test_random.py -k mqtt

Filters and events are drawn once, from the strategies, and meet each other; `-s` shows how they came out.
"""

from __future__ import annotations

import os
from random import Random

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from tamis.protocol import dialects
from tamis.protocol.errors import DialectError
from tests.protocol.dialects import random_jms
from tests.protocol.dialects.agreement import said
from tests.protocol.dialects.judges import JUDGES
from tests.protocol.dialects.strategies import EVENTS, FILTERS

PAIRS = int(os.environ.get("DIALECT_PAIRS", "500"))
SEED = int(os.environ.get("DIALECT_SEED", "7"))
FILTERS_MIN = 125
EVENTS_OF_A_FILTER_MAX = 100


def drawn(strategy, count):
    """Values of a strategy, as many as it has up to `count`; the seed makes them."""
    found = []

    @seed(SEED)
    @settings(max_examples=count, phases=[Phase.generate], database=None, suppress_health_check=list(HealthCheck))
    @given(strategy)
    def collect(value):
        found.append(value)

    collect()
    return found


def filters_and_events(name, count):
    if name == "jms":
        random = Random(SEED)
        filters = [random_jms.selector(random, random.randint(0, 3)) for _ in range(count)]
        return filters, [random_jms.event(random) for _ in range(count)]
    return drawn(FILTERS[name], count), drawn(EVENTS[name], count)


@pytest.mark.slow
@pytest.mark.parametrize("name", dialects.names())
def test_predicate_and_program_are_the_filter(name):
    random, dialect = Random(SEED), dialects.get(name)
    filters, events = filters_and_events(name, max(FILTERS_MIN, PAIRS // EVENTS_OF_A_FILTER_MAX))
    pairs = wanted = by_program = undecided = refused = 0
    while pairs < PAIRS:
        text = random.choice(filters)
        try:
            found = dialect.translate(text)
        except DialectError as error:
            if "can never match" in error.problem:
                assert not any(JUDGES[name](text, event) for event in events), text
            else:
                assert "no result" in error.problem  # noqa: PT017 - a division by 0, or beyond 64 bits
            filters.remove(text)
            refused += 1
            continue
        for event in random.choices(events, k=max(1, PAIRS // len(filters))):
            wants, verdict = JUDGES[name](text, event), said(found, dialect.attributes(event))
            assert verdict in (wants, None), (text, event)
            pairs, wanted, undecided = pairs + 1, wanted + wants, undecided + (verdict is None)
            by_program += found.residual is not None
    print(
        f"{name}: {pairs} pairs, {wanted} wanted, {by_program} by a program, {undecided} undecided; {refused} refused"
    )
    assert 0 < wanted < pairs
    assert undecided < pairs / 10
    assert name != "jms" or by_program > pairs / 3


def test_the_seed_makes_the_filters():
    assert drawn(FILTERS["nats"], 20) == drawn(FILTERS["nats"], 20)
    assert drawn(st.integers(0, 3), 20)
