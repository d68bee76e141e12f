"""The paper's tree: what its figures show, and what its engine's twin has to do with it."""

from __future__ import annotations

import random
from collections.abc import Mapping

import pytest

from tamis.papers.models.pst import Event, PaperTree, Subscription, Trit, alternative, parallel
from tamis.papers.models.pst_hubs import HubTree
from tamis.protocol.filters import Constraint, Filter, Op

SCHEMA = [f"a{i}" for i in range(1, 6)]
NO, MAYBE, YES = Trit.NO, Trit.MAYBE, Trit.YES


def wants(subscription: Subscription, event: Event) -> bool:
    return all(event[name] == value for name, value in subscription.items())


def drawn(rng: random.Random, values: int, share: float, decay: float, schema: list[str]) -> dict[str, object]:
    """A subscription as the paper draws them."""
    weights = [1 / (rank + 1) for rank in range(values)]
    return {
        name: rng.choices(range(values), weights)[0] for i, name in enumerate(schema) if rng.random() < share * decay**i
    }


def test_the_operators_are_those_of_figure_4() -> None:
    """Rows and columns in the order Yes, Maybe, No."""
    trits = (YES, MAYBE, NO)
    table = [[combine((a,), (b,))[0] for b in trits] for combine in (alternative, parallel) for a in trits]
    assert table[:3] == [[YES, MAYBE, MAYBE], [MAYBE, MAYBE, MAYBE], [MAYBE, MAYBE, NO]]
    assert table[3:] == [[YES, YES, YES], [YES, MAYBE, MAYBE], [YES, MAYBE, NO]]


def test_the_example_of_figure_2() -> None:
    """The path that the text spells out, and an event that follows values and stars at once."""
    wanted: list[Subscription] = [
        {"a1": 1, "a2": 2, "a3": 3, "a5": 3},
        {"a1": 1, "a2": 2, "a3": 3},
        {"a2": 2, "a5": 2},
        {"a1": 1, "a4": 1},
        {},
        {"a3": 4},
    ]
    tree = PaperTree(SCHEMA, [(each, link) for link, each in enumerate(wanted)], len(wanted))
    assert tree.match(dict(zip(SCHEMA, (1, 2, 3, 1, 2), strict=True)))[0] == {1, 2, 3, 4}


def test_trivial_tests_are_left_out() -> None:
    """One subscription that cares about the last attribute alone: its test and a leaf, instead of five levels."""
    tree = PaperTree(SCHEMA, [({"a5": 1}, 0)], 1)
    assert tree.nodes() == 2
    assert tree.match({**dict.fromkeys(SCHEMA, 0), "a5": 1}) == ({0}, 2)
    assert tree.match(dict.fromkeys(SCHEMA, 0)) == (set(), 1)


@pytest.mark.parametrize("factored", [0, 2])
@pytest.mark.parametrize("delay", [1, 3])
def test_any_optimization_gives_the_same_answers(factored: int, delay: int) -> None:
    rng = random.Random(f"{factored} {delay}")
    wanted = [(drawn(rng, 3, 0.8, 0.8, SCHEMA), link) for link in range(60)]
    tree = PaperTree(SCHEMA, wanted, 60, [range(3)] * factored)
    for _ in range(60):
        event = drawn(rng, 3, 1, 1, SCHEMA)
        expected = {link for subscription, link in wanted if wants(subscription, event)}
        assert tree.match(event, delay)[0] == expected
        assert tree.match_links(event, range(0, 60, 2))[0] == {link for link in expected if link % 2 == 0}


def test_optimizations_save_steps() -> None:
    """With the figures of the paper's chart 2: 10 attributes of 3 values, 1,000 subscriptions."""
    rng, schema = random.Random(1), [f"a{i}" for i in range(10)]
    wanted = [(drawn(rng, 3, 0.98, 0.82, schema), link) for link in range(1_000)]
    plain, factored = PaperTree(schema, wanted, 1), PaperTree(schema, wanted, 1, [range(3)] * 3)
    events = [drawn(rng, 3, 1, 1, schema) for _ in range(30)]
    steps = [sum(ask(event)[1] for event in events) for ask in (plain.match, factored.match)]
    delayed = sum(plain.match(event, 4)[1] for event in events)
    assert steps[1] < 0.6 * steps[0]
    assert delayed < 0.7 * steps[0]
    assert plain.nodes() < factored.nodes()


def as_filter(wanted: Mapping[str, object]) -> Filter:
    return Filter(tuple(Constraint(name, Op.EQ, (value,)) for name, value in wanted.items()))  # type: ignore[arg-type]


@pytest.mark.parametrize(("values", "decay"), [(3, 0.82), pytest.param(5, 0.85, marks=pytest.mark.slow)])
def test_hubs_never_take_more_steps_than_the_paper(values: int, decay: float) -> None:
    """On the workloads of both charts. The paper takes one step for a leaf, however many subscriptions end there."""
    rng, schema = random.Random(values), [f"a{i}" for i in range(10)]
    wanted = [(drawn(rng, values, 0.98, decay, schema), link) for link in range(400)]
    paper, hubs = PaperTree(schema, wanted, 400), HubTree("names", annotate=False)
    for subscription, link in wanted:
        hubs.add(as_filter(subscription), link, link)
    for _ in range(20):
        event = drawn(rng, values, 1, 1, schema)
        found, steps = paper.match(event)
        rows, taken = hubs.match(event)  # type: ignore[arg-type]
        assert {link for link, _ in rows} == found
        leaves = len({frozenset(wanted[link][0].items()) for link in found})
        assert taken - len(schema) - len(rows) + leaves <= steps


def test_a_hub_says_no_where_the_paper_does() -> None:
    """A link's trit is No at the paper's root exactly if the hub has no filter of it; and Yes if one ends there."""
    rng = random.Random(3)
    for _ in range(40):
        wanted = [(drawn(rng, 2, 0.5, 0.9, SCHEMA), rng.randrange(4)) for _ in range(rng.randrange(6))]
        paper, hubs = PaperTree(SCHEMA, wanted, 4), HubTree()
        for handle, (subscription, link) in enumerate(wanted):
            hubs.add(as_filter(subscription), link, handle)
        [root] = paper.roots.values()
        below, ending = hubs.below(hubs.root), {hubs.interfaces[handle] for handle in hubs.root.here}
        assert [trit is not NO for trit in root.trits] == [link in below for link in range(4)]
        assert [trit is YES for trit in root.trits] == [link in ending for link in range(4)]
