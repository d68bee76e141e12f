from __future__ import annotations

import pytest

pytest.importorskip("pyspark")

from tamis.analysis.advice.graph import links_needed, parents

#   a - b - c        a - d costs 5
#    \     /         d - c costs 1
#     - d -
COSTS = {("a", "b"): 1, ("b", "c"): 1, ("a", "d"): 5, ("d", "c"): 1}
NEIGHBOURS = {
    router: [(other, cost) for ends, cost in COSTS.items() if router in ends for other in ends if other != router]
    for router in "abcd"
}


def test_ways_are_of_least_cost_and_shared_links_count_once() -> None:
    before = parents(NEIGHBOURS, "a")
    assert before == {"a": "a", "b": "a", "c": "b", "d": "c"}
    assert links_needed(before, ["d"]) == 3
    assert links_needed(before, ["b", "c", "d", "a"]) == 3
    assert links_needed(before, ["a", "elsewhere"]) == 0
