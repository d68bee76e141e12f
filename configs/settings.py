"""The settings of one router: its section of the file, completed by those of the network.

Law: code that runs a router reads these and not the models of the file, so that only `Topology.router` derives the
settings of a router.
"""

from __future__ import annotations

from dataclasses import dataclass

from tamis.configs.address import Address
from tamis.configs.sections.connections import Keepalive, LinkKeepalive, NeighbourTls, SlowConsumer, Tls
from tamis.configs.sections.durable import DurableSettings
from tamis.configs.sections.engine import EngineSettings
from tamis.configs.sections.limits import Limits
from tamis.configs.sections.logs import Logging
from tamis.configs.sections.metrics import MetricsSettings
from tamis.configs.sections.records import RecordSettings
from tamis.configs.sections.strategy import StrategySettings
from tamis.configs.sections.unmatched import UnmatchedSettings
from tamis.protocol.access.rules import AccessRules
from tamis.protocol.spaces import SpaceSet


@dataclass(frozen=True, slots=True)
class LinkSettings:
    """A link, for one of its ends. `dial`: the address that this end connects to; None if the neighbour connects."""

    neighbour: str
    cost: int
    dial: Address | None
    secret: str | None
    keepalive: LinkKeepalive
    behind: tuple[str, ...] | None = None
    """The routers for which the neighbour may speak, itself included; None: all."""
    speaks_for: tuple[str, ...] | None = None
    """The routers for which this router may speak to the neighbour, itself included; None: all."""
    is_partner: bool = False
    """Whether the neighbour belongs to another operator: then only messages of these predicates cross."""
    came: str | None = None
    """The messages that may come from the neighbour; None: none."""
    leaves: str | None = None
    """The messages that may go to it; None: none."""


@dataclass(frozen=True, slots=True)
class Entrance:
    """The client addresses of a router, in the form that clients use."""

    router: str
    addresses: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RouterSettings:
    """The settings of one router; a setting that it does not have is that of the network."""

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
    metrics: MetricsSettings
    durable: DurableSettings | None = None
    """The log, with a `folder`; None if the router stores nothing."""
    has_access: bool = False
    """Whether the network has rules of access."""
    access: AccessRules | None = None
    """The rules; None if there are none, or they are not loaded."""
    entrances: tuple[Entrance, ...] = ()
    """The other routers with client addresses that can be dialled."""
    others: tuple[str, ...] = ()
    """The names of all other routers."""
    domain: tuple[str, ...] = ()
    """Those of them that are reached without crossing a border."""

    @property
    def what_refuses(self) -> str:
        """What refuses who was admitted before, for a sentence; "" if nothing does."""
        has_lists = any(tls is not None and tls.revoked for tls in (self.tls, self.neighbour_tls))
        lists = ["the lists of revoked certificates"] if has_lists else []
        return " and ".join([*(["the rules of access"] if self.has_access else []), *lists])
