"""How many subscriptions were in force, and satisfied, when a message came: counted one by one."""

from __future__ import annotations

from random import Random

import pytest

pytest.importorskip("pyarrow")

import pyarrow as pa

from tamis.analysis.questions.content import HeldFilters


@pytest.mark.slow
def test_counts_are_those_of_looking_at_each() -> None:
    random = Random(3)
    spans = [(random.randrange(5), since := random.randrange(50), since + random.randrange(20)) for _ in range(200)]
    messages = [(random.randrange(80), sorted(random.sample(range(7), random.randrange(4)))) for _ in range(300)]
    columns = zip(*spans, strict=True)
    held = HeldFilters.of(pa.table(dict(zip(("filter", "since_us", "until_us"), map(list, columns), strict=True))))
    at_us, filters = (list(column) for column in zip(*messages, strict=True))
    each = [
        (
            sum(since <= at <= until for _, since, until in spans),
            sum(f in wants and since <= at <= until for f, since, until in spans),
        )
        for at, wants in messages
    ]
    expected = (300, sum(bool(hits) for _, hits in each), sum(hits for _, hits in each), sum(all_ for all_, _ in each))
    counts = held.counts(pa.array(at_us, pa.int64()).to_numpy(), pa.array(filters, pa.list_(pa.int32())))
    assert counts == expected
