"""Small guards, whose tests are steps of a program, against the definition of a match (protocol/evaluate.py).

Messages of one shape come in runs, so that names which no filter has are left out but for those of the guards. The
first and the last of a run have values of any kind, for which a program cannot tell.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import pytest

from tamis.native import Switch, SwitchOptions, Table
from tamis.native.guards import Guarding, GuardRules
from tamis.protocol.evaluate import filter_matches
from tamis.protocol.filters import Constraint, Filter, Op
from tamis.protocol.values import Value
from tests.native.test_access import World

CLIENT, OWN = "plant/one", "${name}"
NAMES = ("kind", "plant", "a name that is longer than sixteen bytes")
SHORT = ("a", "ab", "ab\0", "reading", "12345678", "123456789", "12345678\0", "sixteen bytes so", "é")
TEXTS = (*SHORT, "", "seventeen bytes s")
INTEGERS = (-(2**63), -(2**31), -33, -1, 0, 1, 2, 127, 128, 2**32, 2**63 - 1)
OTHERS = (True, False, 0.5, -1.25, 1e300, "x" * 300, CLIENT, OWN)
RUN, RUNS = 8, 12


@pytest.fixture
def switch() -> Iterator[Switch]:
    table = Table()
    made = Switch(table, SwitchOptions(number=1, epoch=2, connections_max=20, publishers_max=30, hop_limit=9))
    yield made
    made.validate()
    made.close()
    table.close()


def _fast(rng: random.Random) -> tuple[Op, tuple[Value, ...]]:
    return rng.choice(
        (
            (Op.EXISTS, ()),
            (rng.choice((Op.EQ, Op.NE)), (rng.choice(SHORT),)),
            (Op.IN, tuple(rng.sample(SHORT, rng.randint(1, 4)))),
            (rng.choice((Op.EQ, Op.NE, Op.LT, Op.LE, Op.GT, Op.GE)), (rng.choice(INTEGERS),)),
        )
    )


def _slow(rng: random.Random) -> tuple[Op, tuple[Value, ...]]:
    low, high = sorted(rng.sample(INTEGERS, 2))
    return rng.choice(
        (
            (rng.choice((Op.PREFIX, Op.SUFFIX, Op.CONTAINS)), (rng.choice(TEXTS),)),
            (Op.BETWEEN, (low, high)),
            (Op.IN, (rng.choice(TEXTS), rng.choice(INTEGERS), 0.5)),
            (rng.choice((Op.EQ, Op.LT, Op.GE)), (rng.choice((0.5, -1.25)),)),
            (rng.choice((Op.EQ, Op.NE)), (rng.choice((True, OWN)),) if rng.random() < 0.5 else (OWN,)),
            (rng.choice((Op.LT, Op.GE)), (rng.choice(TEXTS),)),
        )
    )


def _drawn_filter(
    rng: random.Random, least: int, kind: Callable[[random.Random], tuple[Op, tuple[Value, ...]]]
) -> Filter:
    constraints = []
    for _ in range(rng.randint(least, 3)):
        op, operands = kind(rng)
        constraints.append(Constraint(rng.choice(NAMES), op, operands, rng.random() < 0.25))
    return Filter(tuple(constraints))


def _drawn_rules(rng: random.Random) -> GuardRules:
    """Four in five of them have fast tests alone."""
    kind = _fast if rng.random() < 0.8 else _slow
    allowed = tuple(_drawn_filter(rng, 0, kind) for _ in range(rng.randint(1, 2)))
    return GuardRules(allowed, tuple(_drawn_filter(rng, 1, kind) for _ in range(rng.randint(0, 1))))


def _bound(filter_: Filter) -> Filter:
    """The filter with the name of the client in place of `${name}`."""
    return Filter(
        tuple(
            Constraint(each.name, each.op, (CLIENT,), each.negated)
            if each.op in (Op.EQ, Op.NE) and each.operands == (OWN,)
            else each
            for each in filter_.constraints
        )
    )


def _passes(rules: GuardRules, attributes: dict[str, Value]) -> bool:
    matches = lambda filters: any(filter_matches(_bound(each), attributes) for each in filters)  # noqa: E731
    return matches(rules.allowed) and not matches(rules.denied)


def _drawn_run(rng: random.Random) -> Iterator[dict[str, Value]]:
    names = [*rng.sample(NAMES, rng.randint(0, len(NAMES))), "unrelated"]
    rng.shuffle(names)
    pools = {name: rng.choice((TEXTS, TEXTS, INTEGERS)) for name in names}
    for at in range(RUN):
        is_odd = at in (0, RUN - 1)
        yield {name: rng.choice((*pools[name], *OTHERS) if is_odd else pools[name]) for name in names}


@pytest.mark.parametrize("seed", range(20))
def test_programs_decide_as_the_definition_of_a_match(switch: Switch, seed: int) -> None:
    rng = random.Random(seed)
    world = World(switch, (CLIENT,))
    publisher, client = world.subscriber(world.publisher), world.subscriber(world.clients[0])
    entered = refused = withheld = 0
    for _ in range(RUNS):
        door, hand = _drawn_rules(rng), _drawn_rules(rng)
        guards = switch.new_guard(door), switch.new_guard(hand)
        switch.guard(publisher, Guarding(CLIENT, door=guards[0]))
        switch.guard(client, Guarding(CLIENT, hand=guards[1]))
        for _ in range(4):
            for attributes in _drawn_run(rng):
                why, [got] = world.publish(attributes)
                may_enter = _passes(door, attributes)
                may_get = may_enter and _passes(hand, attributes)
                assert (why == "", got is not None) == (may_enter, may_get), (door, hand, attributes)
                entered, refused = entered + may_enter, refused + (not may_enter)
                withheld += may_enter and not may_get
        switch.guard(publisher, None)
        switch.guard(client, None)
        for guard in guards:
            switch.free_guard(guard)
    assert min(entered, refused, withheld) > 0
