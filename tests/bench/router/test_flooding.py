"""The bench of flooding feeds what it says: every message leaves by the one link onward."""

from __future__ import annotations

import pytest

from tamis.bench.router.flooding import Asked
from tamis.bench.router.switches import BLOCK_MESSAGES
from tamis.bench.router.transit import fed


@pytest.mark.parametrize("forwarding", ["wanted", "flood"])
def test_every_message_is_passed_on(forwarding: str) -> None:
    router = Asked(forwarding, 4)
    assert fed(router, BLOCK_MESSAGES) > 0
    assert router.passed == BLOCK_MESSAGES
