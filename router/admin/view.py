"""The parts of a running router that administration looks at."""

from __future__ import annotations

import enum
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from tamis.configs.settings import RouterSettings
from tamis.router.admin.rates import Rates
from tamis.router.clients.clients import Clients
from tamis.router.clients.slowing import Slowing
from tamis.router.connections.certificate_watch import CertificateWatch
from tamis.router.connections.connections import Connections
from tamis.router.daemon.stalls import StallWatch

if TYPE_CHECKING:  # a router that stands alone, or keeps nothing, starts without it
    from tamis.router.kept.service import KeptService
    from tamis.router.links.joined import JoinedNetwork


class Recording(Protocol):
    """What writes the records of a router: why it cannot now (empty: it can), and how many were lost."""

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
    """A running router. `network` is None where it stands alone, `kept` where it keeps nothing or has not been asked
    to yet, `recorder` where it records nothing. `listening` has addresses by what listens there, such as `clients` and
    `admin`. `admin_token` None: administration asks for none. `need_a_restart` has the keys of the file that differ
    from those it started with and are not in force; `settings_refused` says what is wrong with a file that was read
    again and is not used."""

    connections: Connections
    clients: Clients
    stalls: StallWatch
    certificates: CertificateWatch
    life: RouterLife = RouterLife.STARTING
    network: JoinedNetwork | None = None
    kept: KeptService | None = None
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
        """Does the router serve, has it been in step with its neighbours once, and is nothing wrong with it that keeps
        clients from it?"""
        return (
            self.life is RouterLife.SERVING
            and self.connections.network.was_in_step
            and not self.connections.health.unready
        )

    @property
    def settings(self) -> RouterSettings:
        return self.connections.settings
