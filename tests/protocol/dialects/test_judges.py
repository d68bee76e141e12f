"""Random filters and events: a predicate is never narrower than its filter, an exact one is equal to it, and so are a
predicate and its program together.

`DIALECT_EXAMPLES=100000` makes more of them than the 500 of each run.
"""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tamis.protocol import dialects, limits
from tamis.protocol.errors import DialectError
from tamis.protocol.normal import normalize_predicate
from tests.protocol.dialects.agreement import check
from tests.protocol.dialects.judges import JUDGES
from tests.protocol.dialects.strategies import EVENTS, FILTERS

EXAMPLES = int(os.environ.get("DIALECT_EXAMPLES", "500"))


@pytest.mark.slow
@pytest.mark.parametrize("name", dialects.names())
def test_a_predicate_is_as_wide_as_its_filter(name):
    dialect = dialects.get(name)

    @settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))
    @given(FILTERS[name], st.lists(EVENTS[name], min_size=1, max_size=4))
    def holds(text, events):
        try:
            found = dialect.translate(text)
        except DialectError as error:
            assert "can never match" in error.problem  # noqa: PT017 - most are translated
            assert not any(JUDGES[name](text, event) for event in events)
            return
        assert len(found.predicate.filters) <= limits.DISJUNCTS_MAX
        assert found.predicate == normalize_predicate(found.predicate)
        for event in events:
            check(dialect, found, event, JUDGES[name](text, event))

    holds()
