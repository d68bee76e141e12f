"""The benchmark of covering asks what it says it does."""

from __future__ import annotations

import pytest

from tamis.bench.matching.cover_index import TABLES, measure


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("engine", [None, "interval"])
def test_all_are_kept_or_only_those_that_no_other_one_covers(name, engine):
    everything = measure(TABLES[name], 400, keeps_all=True, engine=engine)
    uncovered = measure(TABLES[name], 400, keeps_all=False, engine=engine)
    assert everything["kept"] == 400
    assert (everything["compared"] < 400) == (engine is not None and name == "attributes")
    assert uncovered["kept"] <= 400
    assert (uncovered["kept"] < 390) == (name in ("attributes", "orders"))
    assert all(uncovered[figure] > 0 for figure in ("covering_us", "covered_us", "add_us", "worst_ms", "memory_mb"))
