"""Every test of a table runs on every engine that the extension offers (test_engines says that all of them are)."""

from __future__ import annotations

import pytest

from tamis.native import Table


def offered_engines() -> list[str]:
    found = []
    for engine in Table.engines():
        try:
            Table(engine).close()
        except RuntimeError:  # the C says: no such engine
            continue
        found.append(engine)
    return found


# The scope is the session's because Hypothesis runs many examples in one test and wants no fixture made anew for each.
@pytest.fixture(params=offered_engines(), scope="session")
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)
