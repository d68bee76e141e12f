"""What one router needs to start: its own section of the file, filled in with the network's.

Law: whoever runs a router reads these and not the file's models, so that what holds for it is worked out in one place
(`Topology.router`).
"""

from __future__ import annotations

from dataclasses import dataclass

from tamis.configs.address import Address
from tamis.configs.sections.connections import Keepalive, LinkKeepalive, NeighbourTls, SlowConsumer, Tls
from tamis.configs.sections.engine import EngineSettings
from tamis.configs.sections.kept import KeptSettings
from tamis.configs.sections.limits import Limits
from tamis.configs.sections.logs import Logging
from tamis.configs.sections.records import RecordSettings
from tamis.configs.sections.strategy import StrategySettings
from tamis.configs.sections.unmatched import UnmatchedSettings
from tamis.protocol.spaces import SpaceSet


@dataclass(frozen=True, slots=True)
class LinkSettings:
    """A link as one of its ends sees it. `dial` is where this end connects to; None: the neighbour connects."""

    neighbour: str
    cost: int
    dial: Address | None
    secret: str | None
    keepalive: LinkKeepalive


@dataclass(frozen=True, slots=True)
class Entrance:
    """Where a router takes clients, as these write it."""

    router: str
    addresses: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RouterSettings:
    """All one router needs to start, the network's settings filled in where it has none of its own."""

    id: str
    clients: tuple[Address, ...]
    neighbours: tuple[Address, ...]
    dial: Address | None
    admin: Address | None
    admin_token: str | None
    admin_names: tuple[str, ...]
    data: str | None
    machine: str
    engine: EngineSettings
    tokens: str | None
    tls: Tls | None
    neighbour_tls: NeighbourTls | None
    keepalive: Keepalive
    slow_consumer: SlowConsumer
    limits: Limits
    logging: Logging
    records: RecordSettings | None
    unmatched: UnmatchedSettings
    links: tuple[LinkSettings, ...]
    broadcast: str
    strategy: StrategySettings
    spaces: SpaceSet
    kept: KeptSettings | None = None
    """Its `folder` is there: the topology has worked it out. None: the router keeps nothing."""
    entrances: tuple[Entrance, ...] = ()
    """Those of other routers that can be dialled by what the file says of them."""
