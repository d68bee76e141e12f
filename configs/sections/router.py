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
    """One daemon: where it listens, and what it does otherwise than the rest of the network."""

    clients: Addresses = Field(
        default=(), description="Where clients connect. Port 0 takes a free port, which is logged."
    )
    neighbours: Addresses = Field(
        default=(), description="Where neighbour routers connect. The first that can be dialled is."
    )
    reached_at: OneAddress | None = Field(
        default=None,
        description="What neighbours dial, where that differs from `neighbours`: behind a gateway, or with a wildcard.",
    )
    admin: OneAddress | None = Field(default=None, description="Where status, tables and metrics are served.")
    admin_token: File | None = Field(
        default=None,
        description="File of the token that `admin` asks for, mode 0600: one word of 16 to 1,024 characters. "
        "Without it, `admin` listens on loopback or a Unix socket only.",
    )
    admin_names: HostNames = Field(
        default=(),
        description="What `admin` is called besides its address, `host` or `host:port`: a proxy's name, a service's. "
        "Requests addressed to other names are refused.",
    )
    data: Folder | None = Field(
        default=None,
        description="Folder for what must survive a restart. A relative path starts from this file's folder.",
    )
    machine: Id = Field(
        default="local",
        description="A label for where it runs. Addresses and folders must differ among routers of one machine only.",
    )
    engine: EngineOrName | None = Field(default=None, description="Instead of the network's `engine`.")
    tokens: File | None = Field(default=None, description="Instead of the network's `tokens`.")
    tls: Tls | None = Field(default=None, description="Instead of the network's `tls`.")
    neighbour_tls: NeighbourTls | None = Field(
        default=None, description="Encrypts the router's links over TCP; both ends of such a link have it."
    )
    keepalive: Keepalive | None = Field(
        default=None, description="Times that differ here; the others are the network's."
    )
    slow_consumer: SlowConsumer | None = Field(
        default=None, description="What differs here for slow clients; the rest is the network's."
    )
    limits: Limits | None = Field(default=None, description="Limits that differ here; the others are the network's.")
    logging: Logging | None = Field(
        default=None, description="Log settings that differ here; the others are the network's."
    )
    records: RecordSettings | None = Field(
        default=None, description="What differs here for records; the rest is the network's, or the defaults."
    )
    unmatched: UnmatchedSettings | None = Field(
        default=None, description="What differs here for messages that nobody wanted; the rest is the network's."
    )
    durable: DurableOrOff | None = Field(
        default=None,
        description="What differs here for durable subscriptions; the rest is the network's. `false`: none.",
    )
    metrics: MetricsSettings | None = Field(default=None, description="What differs here for metrics.")

    @property
    def dial(self) -> Address | None:
        """The address that neighbours connect to; None if this router cannot be dialled."""
        return self.reached_at or next((address for address in self.neighbours if address.dialable), None)
