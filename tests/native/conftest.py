"""Every test of a table runs on every engine of the registry."""

from __future__ import annotations

import pytest

from tamis.native import ENGINES


# The scope is the session's because Hypothesis runs many examples in one test and wants no fixture made anew for each.
@pytest.fixture(params=ENGINES, scope="session")
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)
