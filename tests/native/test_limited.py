"""A match that stops after some filters of each interface or group, as reuse by keys needs it."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.native import ENGINES, InterfaceKind, Table
from tamis.protocol.filters import Constraint, Filter, Op
from tests.native.test_engines import Scene, built, patient, scenes
from tests.native.twin import link_of


@pytest.fixture(scope="session")
def limiting(engine: str) -> str:
    if not ENGINES[engine.partition(":")[0]].limits:
        pytest.skip("it sets covered filters aside")
    return engine


def test_all_engines_but_the_one_that_sets_covered_filters_aside_have_limits() -> None:
    assert [name for name, engine in ENGINES.items() if not engine.limits] == ["tamis"]


def test_an_engine_without_limits_refuses() -> None:
    table = Table("tamis")
    table.add(Filter(), 0)
    with pytest.raises(ValueError, match="cannot stop a match"):
        table.match_limited({}, 1)


@patient
@given(scene=scenes(), limit=st.integers(1, 4))
def test_the_rows_are_the_twins_up_to_the_limit(limiting: str, scene: Scene, limit: int) -> None:
    table, twin = built(limiting, scene)
    for message in scene.messages:
        rows, counts = table.match_limited(message, limit, scene.candidates, scene.grouping)
        links = ((link_of(interface, scene.grouping), handle) for interface, handle in twin.match_all(message))
        group_count = 1 + max((group for group in scene.grouping or () if group is not None), default=-1)
        true = {
            (link, handle)
            for link, handle in links
            if link is not None
            and (scene.candidates is None or link in scene.candidates)
            and (scene.grouping is None or link < group_count)
        }
        found, expected = Counter(link for link, _ in rows), Counter(link for link, _ in true)
        assert set(rows) <= true
        assert len(set(rows)) == len(rows)
        assert found == {link: min(matching, limit) for link, matching in expected.items()}
        assert counts == {link: min(matching, limit + 1) for link, matching in expected.items()}
        assert table.match(message, scene.candidates, scene.grouping) == sorted(expected)
    table.validate()


@pytest.mark.parametrize("kind", list(InterfaceKind))
def test_a_group_of_many_filters_stops_at_its_limit_while_others_are_complete(
    limiting: str, kind: InterfaceKind
) -> None:
    table = Table(limiting)
    for interface in range(3):
        table.set_interface(interface, kind)
    for bound in range(300):
        table.add(Filter((Constraint("a", Op.GE, (bound,)), Constraint("b", Op.LE, (bound,)))), 0)
    few = {table.add(Filter((Constraint("a", Op.GT, (bound,)),)), 1) for bound in range(3)}
    one = table.add(Filter(), 2)
    rows, counts = table.match_limited({"a": 200, "b": 100}, 60)
    assert counts == {0: 61, 1: 3, 2: 1}
    assert Counter(link for link, _ in rows) == {0: 60, 1: 3, 2: 1}
    assert {handle for link, handle in rows if link == 1} == few
    assert (2, one) in rows
    assert table.match_limited({"a": 200, "b": 100}, 101)[1] == {0: 101, 1: 3, 2: 1}
    assert table.match_limited({"a": 200, "b": 100}, 60, grouping=[0, 0, 1])[1] == {0: 61, 1: 1}


def test_a_limit_that_spares_updates_of_counters() -> None:
    """The match ends when every group is beyond its limit."""
    table = Table("counting")
    for i in range(1_000):
        table.add(Filter((Constraint("a", Op.EQ, (1,)),)), i % 2)
    before = table.stats().updates
    assert table.match_limited({"a": 1}, 10)[1] == {0: 11, 1: 11}
    assert table.stats().updates - before < 100


@pytest.mark.parametrize("limit", [0, 0xFFFF_FFFF])
def test_a_limit_out_of_bounds_is_refused(limiting: str, limit: int) -> None:
    with pytest.raises(ValueError, match="it must be from 1"):
        Table(limiting).match_limited({}, limit)
