"""Promises are held against what the same rule finds later; the files of the shapes are ones that routers take."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest

from tamis.bench.logs.advice import SHAPES, Network, _rows, kept
from tamis.configs import parse_topology
from tamis.protocol.language import parse


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_is_a_sound_network_with_traffic(name: str, tmp_path: Path) -> None:
    shape = SHAPES[name]
    topology = parse_topology(Network(tmp_path, shape).text)
    assert set(topology.routers) == set(shape.routers) >= set(shape.wanted())
    assert [router for router, _ in islice(shape.said(), 9) if router not in topology.routers] == []
    assert list(islice(shape.said(), 9)) == list(islice(shape.said(), 9))
    for clients in shape.wanted().values():
        assert all(parse(predicate).filters for predicates in clients for predicate in predicates[:9])


@pytest.mark.parametrize(
    ("promised", "got", "is_kept"),
    [(100, 50, True), (100, 200, True), (100, 49, False), (100, 201, False), (0, 0, True), (0, 1, False)],
)
def test_a_promise_is_kept_within_a_factor_of_two(promised: float, got: float, is_kept: bool) -> None:
    assert kept(promised, got) is is_kept


def test_what_came_of_a_promise_stands_under_its_rule() -> None:
    change = {"rule": "engine", "verdict": "change", "now": "sff", "then": "tamis", "figure": "ns"}
    first = [change | {"before": 90.0, "promised": 30.0}, {"rule": "queues", "verdict": "nothing to change"}]
    second = [{"rule": "engine", "before": 40.0}, {"rule": "rounds", "before": 7.0}, {"rule": "engine", "before": None}]
    (row,) = _rows("few", first, second, (5.0, 4.0))
    assert (row.before, row.promised, row.got, row.kept) == (90.0, 30.0, 40.0, True)
