"""The model of a router: its addresses, and its differences from the settings of the network.

Law: a key that a router does not have is taken from the network; a key has one meaning in both.
"""

from __future__ import annotations

from pydantic import Field

from tamis.configs.address import Address
from tamis.configs.fields import Addresses, File, Folder, HostNames, Id, OneAddress
from tamis.configs.sections.connections import Keepalive, NeighbourTls, SlowConsumer, Tls
from tamis.configs.sections.durable import DurableOrOff
from tamis.configs.sections.engine import EngineOrName
from tamis.configs.sections.limits import Limits
from tamis.configs.sections.logs import Logging
from tamis.configs.sections.metrics import MetricsSettings
from tamis.configs.sections.records import RecordSettings
from tamis.configs.sections.section import ConfigSection
from tamis.configs.sections.unmatched import UnmatchedSettings


class RouterConfig(ConfigSection):
    """One router: its addresses, and its settings that differ from those of the network."""

    clients: Addresses = Field(
        default=(), description="Where clients connect. Port 0 takes a free port, which is logged."
    )
    neighbours: Addresses = Field(
        default=(), description="Where neighbour routers connect. They dial the first address that can be dialled."
    )
    reached_at: OneAddress | None = Field(
        default=None,
        description="Address that neighbours dial instead of `neighbours`: behind a gateway, or with a wildcard.",
    )
    admin: OneAddress | None = Field(default=None, description="Where status, tables and metrics are served.")
    admin_token: File | None = Field(
        default=None,
        description="File of the token that `admin` requires, mode 0600: one word of 16 to 1,024 characters. "
        "Without it, `admin` listens on loopback or a Unix socket only.",
    )
    admin_names: HostNames = Field(
        default=(),
        description="Further names of `admin`, `host` or `host:port`, such as those of a proxy or a service. Requests "
        "addressed to other names are refused.",
    )
    data: Folder | None = Field(
        default=None,
        description="Folder for data that must survive a restart. A relative path starts from this file's folder.",
    )
    machine: Id = Field(
        default="local",
        description="Label of its machine. Addresses and folders must differ only among routers of one machine.",
    )
    engine: EngineOrName | None = Field(default=None, description="Instead of the network's `engine`.")
    tokens: File | None = Field(default=None, description="Instead of the network's `tokens`.")
    tls: Tls | None = Field(default=None, description="Instead of the network's `tls`.")
    neighbour_tls: NeighbourTls | None = Field(
        default=None, description="Encrypts the router's links over TCP; both ends of such a link need it."
    )
    keepalive: Keepalive | None = Field(default=None, description="Times that differ from the network's.")
    slow_consumer: SlowConsumer | None = Field(
        default=None, description="Settings for slow clients that differ from the network's."
    )
    limits: Limits | None = Field(default=None, description="Limits that differ from the network's.")
    logging: Logging | None = Field(default=None, description="Log settings that differ from the network's.")
    records: RecordSettings | None = Field(
        default=None, description="Settings of records that differ from the network's or the defaults."
    )
    unmatched: UnmatchedSettings | None = Field(
        default=None, description="Settings for unmatched messages that differ from the network's."
    )
    durable: DurableOrOff | None = Field(
        default=None,
        description="Settings of durable subscriptions that differ from the network's. `false`: none are stored.",
    )
    metrics: MetricsSettings | None = Field(
        default=None, description="Settings of metrics that differ from the network's."
    )

    @property
    def dial(self) -> Address | None:
        """The address that neighbours connect to; None if this router cannot be dialled."""
        return self.reached_at or next((address for address in self.neighbours if address.dialable), None)
