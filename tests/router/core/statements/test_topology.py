"""R5: which links count, from what both ends say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.protocol.wire.numbers import NO_DIGEST, add, stable_number
from tamis.protocol.wire.routing_bodies import Adjacency, LinkState
from tamis.router.core.statements.freshness import Verdict
from tamis.router.core.statements.topology import KnownLinks
from tests.router.core.bodies import state
from tests.router.core.graphs import checks

A, B, C = map(stable_number, "abc")


def told(*bodies: LinkState) -> KnownLinks:
    topology = KnownLinks()
    for body in bodies:
        topology.hear(body)
    return topology


def test_an_edge_counts_if_both_ends_list_it_at_the_larger_cost():
    graph = told(state("a", 1, "b", "c", cost=2), state("b", 1, "a", cost=5), state("c", 1)).graph
    assert graph.neighbours == {A: {B: 5}, B: {A: 5}}


def test_an_edge_to_a_router_that_says_nothing_does_not_count():
    assert told(state("a", 1, "b")).graph.neighbours == {}


STATEMENTS = st.tuples(st.sampled_from("abcd"), st.sets(st.sampled_from("abcd")), st.integers(1, 3))


@checks
@given(st.lists(STATEMENTS, max_size=12), st.sets(st.integers(0, 11)))
def test_the_graph_is_always_that_of_the_newest_statements_in_whatever_order_they_came(statements, forgets):
    bodies = [state(who, seq, *others - {who}, cost=cost) for seq, (who, others, cost) in enumerate(statements, 1)]
    topology, said = KnownLinks(), dict[int, dict[int, int]]()
    for body in bodies:
        issuer = stable_number(body.issuer)
        topology.hear(body)
        said[issuer] = {link.neighbour: link.cost for link in body.links}
        if body.seq in forgets:
            topology.forget(issuer)
            del said[issuer]
        edges = {
            one: {other: max(cost, said[other][one]) for other, cost in links.items() if one in said.get(other, {})}
            for one, links in said.items()
        }
        assert topology.graph.neighbours == {one: links for one, links in edges.items() if links}
        assert not topology.has_changed
        assert topology.digest == add(NO_DIGEST, *map(topology.weight, topology.states))
    assert told(*reversed(bodies)).graph.digest == told(*bodies).graph.digest
    if not forgets:
        assert told(*bodies).graph.digest == topology.graph.digest


def test_only_what_is_newer_is_kept():
    topology = told(state("a", 5, "b"), state("b", 5, "a"))
    held = topology.states[A]
    assert topology.hear(state("a", 4)) is Verdict.OLDER
    assert topology.hear(state("a", 5, "b")) is Verdict.SAME
    assert topology.hear(state("a", 5)) is Verdict.CONFLICT
    assert topology.states[A] is held
    assert topology.hear(state("a", 6)) is Verdict.NEWER
    assert B not in topology.graph.neighbours
    assert topology.hear(state("a", 1, "b", epoch=2)) is Verdict.NEWER
    assert topology.graph.neighbours[B] == {A: 1}


@pytest.mark.parametrize("order", [(B, C), (C, B)])
def test_the_same_links_in_another_order_are_the_same_statement(order):
    topology = told(state("a", 5, "b", "c"))
    body = LinkState("a", 1, 5, tuple(Adjacency(other, 1, 1) for other in order))
    assert topology.hear(body) is Verdict.SAME


def test_a_graph_is_computed_once_and_anew_only_where_links_changed():
    topology = told(state("a", 1, "b"), state("b", 1, "a"))
    graph = topology.graph
    assert topology.hear(state("a", 2, "b")) is Verdict.NEWER
    assert not topology.has_changed
    assert topology.graph is graph
    topology.forget(stable_number("nobody"))
    assert topology.graph is graph


def test_of_a_router_that_is_forgotten_no_link_is_left():
    topology = told(state("a", 1, "b"), state("b", 1, "a"))
    assert topology.graph.neighbours[A] == {B: 1}
    topology.forget(B)
    assert topology.graph.neighbours == {}


def test_a_router_is_called_by_its_id_or_by_its_number():
    topology = told(state("a", 1))
    assert (topology.name_of(A), topology.name_of(7)) == ("a", "7")


def test_a_router_is_no_neighbour_of_itself():
    assert told(state("a", 1, "a", "b"), state("b", 1, "a")).graph.neighbours == {A: {B: 1}, B: {A: 1}}
