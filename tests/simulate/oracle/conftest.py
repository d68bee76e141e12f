"""A court in which one judge is heard."""

from __future__ import annotations

import pytest

from tests.simulate.oracle.court import GROUP, C, Court, S


@pytest.fixture
def court() -> Court:
    return Court()


@pytest.fixture
def shared(court: Court) -> Court:
    court.now_us = 0
    court.groups.joined(1, C, GROUP, 0, 0b1)
    court.now_us = 10 * S
    return court
