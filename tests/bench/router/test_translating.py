"""The bench of translation translates distinct filters of all dialects, and none of them takes many calls."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from tamis.bench.router import translating
from tamis.protocol import dialects

CALLS_MAX = 2_200
"""Of one filter. A core that is idle makes seven million calls a second, so 3,000 filters have fewer each."""
CASES = Path(__file__).parents[2] / "protocol" / "dialects" / "cases"


def test_every_dialect_with_a_grammar_has_filters() -> None:
    assert {*dialects.names()} - {*translating.FILTERS} == {"amqp-headers"}


@pytest.mark.parametrize("name", translating.FILTERS)
def test_filters_are_distinct_and_take_few_calls(name: str) -> None:
    texts = translating.distinct(name, 5_000, 60)
    assert len(set(texts)) == 60
    assert 0 < translating.calls_of(name, texts) < CALLS_MAX


def test_a_row_tells_the_rate_and_what_is_wanted() -> None:
    arguments = ["--dialects", "jms,mqtt", "--filters", "8", "--rounds", "2", "--cases", str(CASES), "--json"]
    done = CliRunner().invoke(translating.main, arguments)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(row["dialect"], row["filters"]) for row in rows] == [
        ("jms", "distinct"),
        ("jms", "of the cases"),
        ("mqtt", "distinct"),
        ("mqtt", "of the cases"),
    ]
    assert all(row["a second"] > 0 and row["reached"] for row in rows)
