"""The bench of changing trees feeds what it says: every message leaves by both links, whatever the trees."""

from __future__ import annotations

import pytest

from tamis.bench.router.moving import BLOCK_MESSAGES
from tamis.bench.router.rerouting import ENGINES, TREES, Rerouted
from tamis.bench.router.transit import fed


@pytest.mark.parametrize("trees", TREES)
def test_every_message_is_passed_on_by_both_links(trees: str) -> None:
    router = Rerouted(trees, "pst", 300)
    assert fed(router, BLOCK_MESSAGES) > 0
    assert router.passed == BLOCK_MESSAGES
    assert router.switch.figures().generations == (1 if trees == "one" else 2)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_routers_that_moved_are_not_looked_for_where_a_message_goes_anyway(engine):
    """Those that moved do not want it, and lie behind neighbours that others want it behind."""
    steps = []
    for trees in TREES:
        router = Rerouted(trees, engine, 300)
        fed(router, BLOCK_MESSAGES)
        steps.append(router.switch.figures().steps)
    assert max(steps) <= 1.02 * steps[0]
