"""Twenty power cuts of a recorded block device: nothing that was committed is missing; without fdatasync something is.

Thousands of them: `python -m tests.power`.
"""

from __future__ import annotations

import pytest

from tests.power.cuts import cut_run
from tests.power.device import what_is_not_here

LACK = what_is_not_here()
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(LACK is not None, reason=f"no block device can be recorded here: {LACK}"),
]


def test_a_power_cut_loses_nothing_that_was_committed() -> None:
    found = cut_run(1, 20)
    assert found.cuts == 20
    assert found.records > 20
    assert found.wrong == []


def test_without_fdatasync_it_loses_something() -> None:
    assert cut_run(1, 20, has_sync=False).wrong
