from __future__ import annotations

from itertools import pairwise

import pytest

from tamis.simulate.faults.faults import CHURN, KINDS, MAKE, kinds_of, plan
from tamis.simulate.faults.topologies import make
from tamis.simulate.faults.workload import CONTENTS

NETWORK = make("random", 9, 3)


def test_the_same_seed_gives_the_same_operations() -> None:
    first = plan(NETWORK, 300, kinds_of("all"), 8)
    assert first == plan(NETWORK, 300, kinds_of("all"), 8)
    assert first != plan(NETWORK, 300, kinds_of("all"), 9)
    assert [operation.number for operation in first] == list(range(300))


@pytest.mark.slow
def test_all_mixes_accidents_worst_everything_and_none_is_churn() -> None:
    kinds = {operation.kind for operation in plan(NETWORK, 3_000, kinds_of("worst"), 1)}
    disks = {*KINDS["custody"]} - {"return"}
    assert kinds == set(MAKE) - {"join", "quit", "put", "reload", *disks}
    accidents = {operation.kind for operation in plan(NETWORK, 3_000, kinds_of("all"), 1)}
    assert accidents == kinds - {"clock", "set-right", "forge"}
    for mix, more in (("grouped", {"join", "quit"}), ("spaced", {"put"}), ("stored", disks)):
        assert {operation.kind for operation in plan(NETWORK, 3_000, kinds_of(mix), 1)} == accidents | more
    assert {operation.kind for operation in plan(NETWORK, 300, kinds_of("none"), 1)} == set(CHURN)


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_may_be_had_alone(kind: str) -> None:
    done = {operation.kind for operation in plan(NETWORK, 600, kinds_of(kind), 1)}
    assert done == {*CHURN, *KINDS[kind]}


def test_rounds_have_their_own_time_and_messages_are_real() -> None:
    operations = plan(NETWORK, 500, kinds_of("all"), 2)
    for before, after in pairwise(operations):
        assert (before.round, before.at_us) <= (after.round, after.at_us)
    says = [say for operation in operations for say in operation.says]
    assert any(say.retry_after_us for say in says)
    assert all(0 <= say.content < len(CONTENTS) and 0 <= say.router < 9 for say in says)


def test_a_network_of_one_has_things_done_to_it_too() -> None:
    assert len(plan(make("line", 1, 1), 100, kinds_of("all"), 1)) == 100


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="'cutt' is no kind of fault"):
        kinds_of("add,cutt")
