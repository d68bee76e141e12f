"""Every test of a table runs on every engine of the registry, and on those with options once more with others.

Law: quick are the runs on the default engine, on one of the others, and on one with other options: the ones that the
test's name decides. The rest are slow.
"""

from __future__ import annotations

from zlib import crc32

import pytest

from tamis.native import DEFAULT_ENGINE, ENGINES

OTHERS = tuple(engine for engine in ENGINES if engine != DEFAULT_ENGINE)
OTHERWISE = (
    "counting:circuit=each:counters=hash",
    "counting:circuit=off:counters=tree",
    "sff:rounds=2:circuit=each:counters=tree:determinants=typed",
    "pst:order=names:annotate=off:delay=1",
    "pst:delay=16",
    "pst:factor=3",
    "pst:factor=1:delay=3",
    "sff:rounds=256:circuit=off:counters=hash:determinants=typed",
    "interval:form=tree:reorder=messages:dense_from=0:grow_percent=0:spare_percent=0",
    "interval:form=whole:reorder=off:partition=off:dense_from=100001:grow_percent=400:spare_percent=100:tree_bytes=65536",
)
"""Each value of each option stands here or is the standard (test_engine_options.py)."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the runs on other engines and with other options `slow`, but for one of each kind for each test."""
    for item in items:
        cases = getattr(item, "callspec", None)
        engine = cases.params.get("engine") if cases is not None else None
        number = crc32(getattr(item, "originalname", "").encode())
        for kind in (OTHERS, OTHERWISE):
            if engine in kind and engine != kind[number % len(kind)]:
                item.add_marker(pytest.mark.slow)


# The scope is the session's because Hypothesis runs many examples in one test and wants no fixture made again for each.
@pytest.fixture(params=[*ENGINES, *OTHERWISE], ids=[*ENGINES, *OTHERWISE], scope="session")
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)
