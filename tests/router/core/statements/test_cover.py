"""R1: filters that others cover are set aside, and come back when what covered them goes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tamis.native.covering import LOOKED_AT_MAX
from tamis.protocol.filters import Constraint, Filter, Op
from tamis.protocol.wire.packed_filters import encode_filter
from tamis.router.core.statements import cover as pure
from tamis.router.core.statements.cover import UNCOVERED_PER_SLICE, Cover, FilterIndex
from tamis.router.links import covering as native
from tamis.router.links.covering import EngineIndex, NativeIndex, index_of
from tamis.simulate.twin import filter_index
from tamis.simulate.twin.filter_index import PureIndex
from tests.router.core.bodies import less

NEVER = encode_filter(Filter((Constraint("x", Op.LT, (1,)), Constraint("x", Op.GT, (2,)))))


def of_interval() -> EngineIndex:
    return EngineIndex("interval")


@pytest.fixture(params=[PureIndex, NativeIndex, of_interval])
def make(request):
    """Each kind of index."""
    return request.param


def looked(make: Callable[[], FilterIndex], *filters: bytes) -> Cover:
    cover = Cover(make())
    for packed in filters:
        cover.add(packed)
        cover.look()
    return cover


def test_a_filter_that_another_covers_is_set_aside_itself(make):
    cover = looked(make, less(5))
    cover.add(less(3))
    assert cover.has_work
    assert cover.look() == (less(3),)
    assert less(3) in cover
    assert less(5) not in cover
    assert not cover.has_work
    assert len(cover) == 1


def test_a_filter_sets_aside_those_that_it_covers(make):
    cover = looked(make, less(3), less(4), less(9, "y"))
    cover.add(less(5))
    assert set(cover.look()) == {less(4)}
    assert set(cover.drop(less(5))) == {less(3), less(4)}


def test_those_under_what_is_set_aside_move_under_what_covers_it(make):
    cover = looked(make, less(4), less(3), less(5))
    assert [less(bound) in cover for bound in (3, 4, 5)] == [True, True, False]
    assert cover.drop(less(4)) == ()
    assert set(cover.drop(less(5))) == {less(3)}
    assert len(cover) == 0


def test_what_comes_back_and_is_covered_itself_leaves_nobody_under_it(make, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pure, "UNCOVERED_PER_SLICE", 1)
    cover = looked(make, less(1), less(2), less(3))
    assert cover.drop(less(3)) == [less(1)]
    for bound in (9, 3):  # one that covers all comes while another is still covered by what has gone
        cover.add(less(bound))
        cover.look()
    assert {bound for bound in (2, 3) if less(bound) in cover} == {2, 3}
    assert cover.drop(less(3)) == ()
    assert [*cover.drop(less(9)), *cover.uncover()] == [less(2)]


def test_what_is_dropped_while_it_is_aside_is_not_uncovered_any_more(make):
    cover = looked(make, less(5), less(3))
    assert cover.drop(less(3)) == ()
    assert less(3) not in cover
    assert tuple(cover.drop(less(5))) == ()


def test_what_is_dropped_covers_nothing_any_more(make):
    cover = looked(make, less(5))
    assert tuple(cover.drop(less(5))) == ()
    cover.add(less(3))
    assert cover.look() == ()


def test_what_is_dropped_before_it_was_looked_at_is_never_looked_at(make):
    cover = Cover(make())
    cover.add(less(3))
    cover.drop(less(3))
    assert not cover.has_work


def test_they_are_looked_at_in_their_order(make):
    cover = Cover(make())
    for bound in (5, 3, 7):
        cover.add(less(bound))
    assert [cover.look(), cover.look(), cover.look()] == [(), (less(3),), (less(5),)]


def test_a_filter_that_never_matches_is_left_as_it_is(make):
    cover = looked(make, less(5))
    cover.add(NEVER)
    assert cover.look() == ()
    assert NEVER not in cover


def at_most(filters: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (filter_index, native):
        monkeypatch.setattr(module, "FILTERS_MAX", filters)


def test_past_the_bound_nothing_more_is_looked_at(monkeypatch: pytest.MonkeyPatch, make):
    at_most(2, monkeypatch)
    cover = looked(make, less(5), less(5, "y"))
    cover.add(less(3))
    assert cover.look() == ()
    cover.drop(less(5, "y"))
    cover.add(less(2))
    assert cover.look() == (less(2),)
    assert less(3) not in cover


def test_past_the_bound_nothing_more_is_queued(monkeypatch: pytest.MonkeyPatch, make):
    cover = looked(make, less(5), less(5, "y"), less(5, "z"))
    for bound, is_queued in ((2, False), (3, False), (4, True)):
        at_most(bound, monkeypatch)
        cover.add(less(3))
        assert cover.has_work is is_queued


@pytest.mark.parametrize("make", [NativeIndex, of_interval])
def test_one_that_covers_more_than_is_told_at_once_is_looked_at_again(make):
    count = 2 * LOOKED_AT_MAX + 10
    cover = looked(make, *(encode_filter(Filter((Constraint("x", Op.EQ, (bound,)),))) for bound in range(count)))
    cover.add(less(count))
    found: list[bytes] = []
    while cover.has_work:
        found += cover.look()
    assert len(set(found)) == len(found) == len(cover) == count
    back = [*cover.drop(less(count))]
    assert len(back) == UNCOVERED_PER_SLICE
    while cover.is_above(less(count)):
        back += cover.uncover()
    assert sorted(back) == sorted(found)
    assert len(cover) == 0


def test_an_engine_that_compares_is_asked_by_its_router():
    assert isinstance(index_of("interval")(), EngineIndex)
    assert isinstance(index_of("tamis")(), NativeIndex)


def holds(name: str, text: str, *more: Constraint) -> bytes:
    return encode_filter(Filter((Constraint(name, Op.CONTAINS, (text,)), *more)))


def test_filters_beyond_the_structure_are_compared_too():
    below_5, below_3 = (Constraint("x", Op.LT, (bound,)) for bound in (5, 3))
    cover = looked(of_interval, less(4), holds("a", "b", below_3), holds("b", "b", below_5))
    assert cover.cover_of(holds("a", "b", below_3)) == less(4)  # by its intervals
    assert holds("b", "b", below_5) not in cover
    cover.add(holds("b", "abc", below_3))
    cover.look()
    assert cover.cover_of(holds("b", "abc", below_3)) == less(4)
    cover.add(holds("b", "abc", below_5))
    assert cover.look() == (holds("b", "abc", below_5),)  # two that are no intervals
    cover.add(less(6))
    assert set(cover.look()) == {less(4), holds("b", "b", below_5)}
    assert len(cover) == 5
    assert set(cover.drop(less(6))) == {less(4), *(holds("b", text, below_5) for text in ("b", "abc"))} | {
        holds("a", "b", below_3),
        holds("b", "abc", below_3),
    }


def test_an_index_of_an_engine_forgets_what_is_removed():
    index, kinds = of_interval(), (less(3), holds("a", "b"))
    for packed in kinds:
        index.add(packed)
        assert packed in index
        assert index.covering(packed) == packed
        index.remove(packed)
        assert packed not in index
        assert (index.covering(packed), index.covered(packed)) == (None, ())


def test_past_the_bound_of_the_structure_the_general_index_compares(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(native, "STRUCTURE_FILTERS_MAX", 1)
    cover = looked(of_interval, less(5), less(5, "y"), less(3), less(3, "y"))
    assert [cover.cover_of(less(3, name)) for name in "xy"] == [less(5), less(5, "y")]
    cover.add(less(6))
    cover.add(less(6, "y"))
    assert (cover.look(), cover.look()) == ((less(5),), (less(5, "y"),))


@pytest.mark.slow
def test_an_index_of_an_engine_without_memory_uses_the_general_one(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(native, "MEMORY_BYTES", 2_000_000)
    index, count = of_interval(), 6_000
    for bound in range(count):
        index.add(encode_filter(Filter((Constraint("x", Op.EQ, (f"value {bound}",)),))))
    for bound in (0, count - 1):
        packed = encode_filter(Filter((Constraint("x", Op.EQ, (f"value {bound}",)),)))
        assert packed in index
        assert index.covering(packed) == packed


@pytest.mark.slow
def test_without_memory_a_filter_is_not_compared(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(native, "MEMORY_BYTES", 2_000_000)
    count = 20_000
    cover = looked(NativeIndex, *(encode_filter(Filter((Constraint("x", Op.EQ, (bound,)),))) for bound in range(count)))
    assert len(cover) == 0
    cover.add(less(count))
    while cover.has_work:
        cover.look()
    assert 1_000 < len(cover) < count
