from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from tamis.simulate.faults.topologies import KINDS, NetworkPlan, make, read

RING5 = Path(__file__).parents[2] / "configs" / "topologies" / "ring5.yaml"


def _in_one_piece(network: NetworkPlan) -> bool:
    reached, edges = {0}, list(network.links)
    for _ in network.names:
        for a, b, _cost in edges:
            if a in reached or b in reached:
                reached |= {a, b}
    return len(reached) == len(network.names)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [1, 2, 3, 4, 7, 12, 64])
def test_a_shape_is_one_piece_without_doubles(kind: str, size: int) -> None:
    network = make(kind, size, 5)
    assert len(network.names) == size
    assert _in_one_piece(network)
    assert all(0 <= a < b < size and cost >= 1 for a, b, cost in network.links)
    assert len({link[:2] for link in network.links}) == len(network.links)
    assert network == make(kind, size, 5)


def test_shapes_are_what_they_are_called() -> None:
    pairs = {kind: {link[:2] for link in make(kind, 9, 1).links} for kind in KINDS}
    assert pairs["line"] == set(pairwise(range(9)))
    assert pairs["ring"] == pairs["line"] | {(0, 8)}
    assert pairs["grid"] >= {(0, 1), (0, 3), (4, 7)}
    assert len(pairs["grid"]) == 12
    assert len(pairs["tree"]) == 8
    assert len([1 for a, b in pairs["dumbbell"] if a < 4 <= b]) == 1


def test_a_file_is_a_network_too() -> None:
    network = read(str(RING5), 1)
    assert len(network.names) == 5
    assert _in_one_piece(network)


@pytest.mark.parametrize("what", ["blob:4", "ring:0", "ring:x", "ring:99999"])
def test_what_is_no_network_is_refused(what: str) -> None:
    with pytest.raises(ValueError, match=r"no kind of network|routers, not"):
        read(what, 1)
