"""Paper 001's two ways to count: each alone gives what an engine gives, and they share the work between them."""

from __future__ import annotations

import numpy as np
import pytest

from tamis.papers.reproduce.figure import Disagreement
from tamis.papers.reproduce.paper001.boxes import boxes
from tamis.papers.reproduce.paper001.marking import COUNTS, MARKS, IntervalMatcher, marking_rows

SUBSCRIPTIONS = 400


def touched(density: float) -> dict[str, float]:
    made = boxes(SUBSCRIPTIONS, 20, density, seed=7)
    return {str(row["engine"]): float(str(row["updates"])) for row in marking_rows(made, passes=1)}


def test_what_one_way_touches_the_other_leaves() -> None:
    sparse, dense = touched(0.05), touched(0.4)
    assert sparse[COUNTS] + sparse[MARKS] == dense[COUNTS] + dense[MARKS] == 5 * SUBSCRIPTIONS
    assert dense[MARKS] < sparse[MARKS]


def test_a_way_that_is_wrong_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(IntervalMatcher, "mark", lambda *_asked: (np.array([SUBSCRIPTIONS]), 0))
    with pytest.raises(Disagreement, match="marks what is violated"):
        touched(0.2)
