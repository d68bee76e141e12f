from __future__ import annotations

import pytest

pytest.importorskip("pyspark")

from tamis.analysis.advice.graph import depths, links_between, links_needed, parents

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


def test_links_between_are_those_that_some_lie_behind_and_not_all() -> None:
    before = parents(NEIGHBOURS, "a")  # d -> c -> b -> a
    assert links_between(before, ["c", "d"]) == 1
    assert links_between(before, ["b", "d", "c"]) == 2
    assert links_between(before, ["a", "d"]) == 3
    assert links_between(before, ["c"]) == 0
    assert links_between(before, ["c", "elsewhere"]) == 0


def test_depths_are_counted_from_the_root() -> None:
    assert depths(parents(NEIGHBOURS, "a")) == {"a": 0, "b": 1, "c": 2, "d": 3}
