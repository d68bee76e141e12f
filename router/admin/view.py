"""The parts of a running router that administration shows."""

from __future__ import annotations

import enum
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from tamis.configs.settings import RouterSettings
from tamis.router.admin.rates import Rates
from tamis.router.clients.clients import Clients
from tamis.router.connections.certificate_watch import CertificateWatch
from tamis.router.connections.connections import Connections
from tamis.router.daemon.stalls import StallWatch
from tamis.serving.slowing import Slowing

if TYPE_CHECKING:  # a router without links or durable subscriptions does not load these
    from tamis.router.durable.service import DurableService
    from tamis.router.links.joined import JoinedNetwork


class Recording(Protocol):
    """The writer of a router's records. `trouble`: why it cannot write now, "" if it can; `lost`: number of lost
    records."""

    @property
    def trouble(self) -> str: ...
    @property
    def lost(self) -> int: ...


class RouterLife(enum.Enum):
    STARTING = "starting"
    SERVING = "serving"
    DRAINING = "draining"
    STOPPED = "stopped"


@dataclass(slots=True)
class RouterView:
    """A running router. `network` is None if it has no links, `durable` if nothing or has no durable
    subscription yet, `recorder` if it writes no records. `listening`: addresses by kind, such as `clients` and `admin`.
    `admin_token`: None if administration needs none. `need_a_restart`: changed keys of the topology file that take
    effect only with a restart; `settings_refused`: error of a reloaded file that is not used."""

    connections: Connections
    clients: Clients
    stalls: StallWatch
    certificates: CertificateWatch
    life: RouterLife = RouterLife.STARTING
    network: JoinedNetwork | None = None
    durable: DurableService | None = None
    recorder: Recording | None = None
    listening: dict[str, list[str]] = field(default_factory=dict)
    started_s: float = field(default_factory=time.time)
    admin_token: bytes | None = None
    need_a_restart: list[str] = field(default_factory=list)
    settings_refused: str = ""
    admin_slowing: Slowing = field(default_factory=lambda: Slowing(time.monotonic))
    rates: Rates = field(default_factory=lambda: Rates(time.monotonic))

    @property
    def is_ready(self) -> bool:
        """Whether the router serves, has been in step with its neighbours once, and has no problem that keeps clients
        away."""
        return (
            self.life is RouterLife.SERVING
            and self.connections.network.was_in_step
            and not self.connections.health.unready
        )

    @property
    def settings(self) -> RouterSettings:
        return self.connections.settings
