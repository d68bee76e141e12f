"""Routers of one process whose clients have subscribed, and through which events have gone.

Law: they are real cores and switches (`bench/networks/strategies`); building them takes BUDGET_S at most.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tamis.bench.networks.strategies.control import Budget, Network
from tamis.bench.networks.strategies.fleet import Fleet
from tamis.bench.networks.strategies.wants import Wants
from tamis.protocol.strategies import BY_NAME
from tamis.router.core.routing.roots import RootChoice
from tamis.simulate.faults.topologies import NetworkPlan
from tamis.simulate.nodes.node import Node

BUDGET_S: Final = 600.0


def emulated(
    plan: NetworkPlan, strategy: str, engine: str, wants: Wants, classes: tuple[RootChoice, ...] | None = None
) -> tuple[Fleet, Sequence[Node]]:
    """The fleet, and what decided for each of its routers. `classes` None: all messages are one class, with a root by
    hash; a strategy without roots has none."""
    budget = Budget(BUDGET_S)
    with budget:
        network = Network(plan, strategy, budget, classes)
        network.come_up()
        network.subscribe(wants)
        return Fleet(network.nodes, wants, BY_NAME[strategy], engine, budget, classes), network.nodes
