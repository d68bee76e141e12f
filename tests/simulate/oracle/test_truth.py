from __future__ import annotations

from tamis.simulate.oracle.paths import costs_from, edges_between, edges_by_root, graph_of
from tamis.simulate.oracle.truth import Truth


class Told:
    """A truth whose clock the test moves."""

    def __init__(self) -> None:
        self.now_us = 0
        self.truth = Truth(lambda: self.now_us)


def test_an_edge_is_whole_between_joining_and_breaking() -> None:
    told = Told()
    truth = told.truth
    told.now_us = 10
    truth.joined((1, 2), 5)
    told.now_us = 20
    truth.broken((1, 2))
    truth.broken((1, 2))  # both ends find out
    told.now_us = 30
    truth.joined((1, 2), 5)
    assert [truth.edges(at) for at in (9, 10, 19, 20, 30)] == [{}, {(1, 2): 5}, {(1, 2): 5}, {}, {(1, 2): 5}]
    assert truth.stayed_whole((1, 2), 10, 19)
    assert not truth.stayed_whole((1, 2), 10, 20)
    assert not truth.stayed_whole((1, 2), 25, 35)
    assert truth.stayed_whole((1, 2), 30, 1_000)


def test_calm_is_a_time_in_which_nothing_was_unsettled() -> None:
    told = Told()
    for told.now_us in (100, 150, 500, 520):
        told.truth.unsettle()
    truth = told.truth
    assert truth.last_calm(100, 50) == 50
    assert truth.last_calm(100, 160) == 99
    assert truth.last_calm(100, 250) == 250
    assert truth.last_calm(100, 530) == 499
    assert truth.last_calm(100, 620) == 620
    assert truth.epoch_of_graceful(160) == truth.epoch_of_graceful(499) != truth.epoch_of_graceful(500)


def test_wants_and_lives_have_their_time() -> None:
    told = Told()
    truth = told.truth
    truth.began(7)
    truth.wanted(1, 1, 7, 40, 0b101)
    truth.wanted(1, 1, 7, 41, 0b010)
    told.now_us = 50
    truth.unwanted(1, 40)
    assert truth.contents_wanted(1) == truth.contents_wanted_at(7) == 0b010
    assert sorted((want.since_us, want.until_us < 100) for want in truth.wants) == [(0, False), (0, True)]
    told.now_us = 60
    truth.ended(7)
    assert truth.living() == []
    assert truth.lived(7, 0, 59)
    assert not truth.lived(7, 0, 60)
    truth.forget(55)
    assert len(truth.wants) == 1


def test_a_new_epoch_is_another_life_in_which_a_router_leaves_still() -> None:
    told = Told()
    truth = told.truth
    for router in (1, 2):
        truth.began(router)
    truth.joined((1, 2), 5)
    told.now_us = 10
    truth.leaves(2)
    told.now_us = 20
    truth.renewed(2)
    told.now_us = 30
    assert not truth.lived(2, 10, 30)
    assert truth.lived(2, 20, 30)
    assert truth.edges(9) == {(1, 2): 5}
    assert truth.edges(30) == {}
    truth.ended(2)
    assert truth.living() == [1]


def test_all_shortest_ways_are_found() -> None:
    square = graph_of({(1, 2): 1, (2, 3): 1, (3, 4): 1, (1, 4): 1, (4, 5): 1}, [1, 2, 3, 4, 5, 6])
    assert costs_from(square, 1) == {1: 0, 2: 1, 4: 1, 3: 2, 5: 2}
    assert edges_between(square, 1, 3) == {(1, 2), (2, 3), (3, 4), (1, 4)}
    assert edges_between(square, 2, 5) == {(1, 2), (2, 3), (3, 4), (1, 4), (4, 5)}
    assert edges_between(square, 1, 6) is None
    assert edges_between(square, 1, 1) == set()
    assert edges_by_root(square, 4, 5) == {(1, 4), (4, 5)}
