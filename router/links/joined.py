"""The network of a router, made from its settings: the core of its strategy, its neighbours, and the dialled ones."""

from __future__ import annotations

from typing import Final, cast

from tamis.configs.settings import RouterSettings
from tamis.router.connections.connections import Connections
from tamis.router.core.core import Core, CoreParts, CoreSettings
from tamis.router.core.routing.roots import RootChoice
from tamis.router.core.routing.trees import Broadcast
from tamis.router.core.strategies.registry import STRATEGIES
from tamis.router.core.times import MS, Times
from tamis.router.daemon.epoch import Epoch, unix_ms
from tamis.router.daemon.settings import new_tables_of_others
from tamis.router.links.around import LocalClients
from tamis.router.links.classes import classes_of, classify
from tamis.router.links.covering import index_of
from tamis.router.links.dialler import Dialler
from tamis.router.links.losses import QUEUED_MS
from tamis.router.links.neighbours import Neighbours
from tamis.router.links.network import Network
from tamis.router.links.tls import LinkTls

SOURCES_MAX: Final = 4_096
"""Routers whose messages in transit are tracked, 8 KiB each; beyond that the router idle longest is forgotten."""


class JoinedNetwork(Network):
    """The network of a router. CannotStart if a secret is unusable. `epoch` is the file of the
    connections' epoch; `tls`: what its links use, None if they are not encrypted."""

    connections: Connections
    core: Core
    neighbours: Neighbours

    def __init__(
        self,
        connections: Connections,
        clients: LocalClients,
        settings: RouterSettings,
        epoch: Epoch,
        tls: LinkTls | None = None,
    ) -> None:
        classes = classes_of(settings)
        core = _core(settings, connections.epoch, classes)
        policy = STRATEGIES[settings.strategy.facts.name].policy
        tables = new_tables_of_others(settings)
        connections.join(self, tables, SOURCES_MAX, policy, settings.strategy)
        connections.tables += filter(None, [classify(connections.switch, classes)])
        neighbours = Neighbours(connections, settings, self, tls)
        dialled = [each for each in neighbours.named.values() if each.settings.dial is not None]
        diallers = [Dialler(neighbours, neighbour) for neighbour in dialled]
        super().__init__(
            connections, clients, core, neighbours, diallers, epoch, are_tables_told=policy in ("destinations", "keys")
        )


def _core(settings: RouterSettings, epoch: int, classes: tuple[RootChoice, ...]) -> Core:
    strategy = settings.strategy
    hold_ms = max((link.keepalive.hold_ms for link in settings.links), default=0)
    times = Times(unnoticed_us=(hold_ms + QUEUED_MS) * MS)
    routing = CoreSettings(
        cast("Broadcast", settings.broadcast), strategy.predicates == "coarse", times, classes, strategy.merge
    )
    followed = STRATEGIES[strategy.facts.name]
    return followed.core(
        settings.id, epoch, routing, instead=CoreParts(index=index_of(settings.engine.name)), unix_ms=unix_ms
    )
