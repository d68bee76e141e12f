"""Every test of a table runs on every engine of the registry, and on those with options once more with others.

Law: of the runs with other options one is quick for each test, the one that the test's name decides; the rest are slow.
"""

from __future__ import annotations

from zlib import crc32

import pytest

from tamis.native import ENGINES

OTHERWISE = (
    "counting:circuit=each:counters=hash",
    "counting:circuit=off:counters=tree",
    "sff:rounds=2:circuit=each:counters=tree:determinants=typed",
    "pst:order=names:annotate=off:delay=1",
    "pst:delay=16",
    "sff:rounds=256:circuit=off:counters=hash:determinants=typed",
    "interval:form=tree:reorder=messages:dense_from=0:grow_percent=0:spare_percent=0",
    "interval:form=whole:reorder=off:partition=off:dense_from=100001:grow_percent=400:spare_percent=100:tree_bytes=65536",
)
"""Each value of each option stands here or is the standard (test_engine_options.py)."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark all runs but one of a test with other options `slow`."""
    for item in items:
        cases = getattr(item, "callspec", None)
        engine = cases.params.get("engine") if cases is not None else None
        if engine in OTHERWISE and engine != OTHERWISE[crc32(item.originalname.encode()) % len(OTHERWISE)]:
            item.add_marker(pytest.mark.slow)


# The scope is the session's because Hypothesis runs many examples in one test and wants no fixture made anew for each.
@pytest.fixture(params=[*ENGINES, *OTHERWISE], ids=[*ENGINES, *OTHERWISE], scope="session")
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)
