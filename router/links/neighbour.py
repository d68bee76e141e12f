"""One neighbour of a router, as the topology file names it, and the state of its link.

Law: a neighbour outlives its links: their counters are summed up here.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field

from tamis.configs.settings import LinkSettings
from tamis.protocol.wire.numbers import stable_number
from tamis.router.daemon.logs import fields
from tamis.router.links.border import LinkBorder
from tamis.router.links.figures import Carried, carried
from tamis.router.links.greeting import ExpectedNeighbour
from tamis.router.links.link import Link
from tamis.router.links.secret import read_secret

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Neighbour:
    """One neighbour of the topology file. `problem` is the last fault, empty while there is none. `down_since_s` is the
    Unix time since which there is no link, `down_because` the reason why the last one ended; 0 and empty while it is
    up."""

    settings: LinkSettings
    expected: ExpectedNeighbour
    number: int
    link: Link | None = None
    epoch: int = 0
    sessions: int = 0
    problem: str = ""
    down_since_s: float = field(default_factory=time.time)
    down_because: str = ""
    past: Carried = field(default_factory=Carried)
    border: LinkBorder = field(init=False)
    rules: str = ""
    """The digest of its access rules, as it stated last; empty if it has none."""

    def __post_init__(self) -> None:
        self.border = LinkBorder(self.settings)

    @property
    def name(self) -> str:
        return self.expected.name

    @property
    def is_compared(self) -> bool:
        """Whether it is linked, and should have the rules of this router."""
        return self.link is not None and not self.settings.is_partner

    @classmethod
    def of(cls, settings: LinkSettings) -> Neighbour:
        """Make the neighbour of a link; CannotStart if its secret cannot be read."""
        secret = read_secret(settings.secret) if settings.secret else None
        expected = ExpectedNeighbour(
            settings.neighbour, settings.cost, settings.keepalive.hold_ms, secret, settings.is_partner
        )
        return cls(settings, expected, stable_number(settings.neighbour))

    @property
    def carried(self) -> Carried:
        """The sum of the counters of all sessions until now."""
        return self.past if self.link is None else self.past + carried(self.link)

    def failed(self, problem: str) -> None:
        """Record a failed attempt to connect; each problem is logged once, as attempts are frequent."""
        if problem != self.problem:
            self.problem = problem
            where = str(self.settings.dial)
            _log.warning("cannot link to a neighbour", extra=fields(name=self.expected.name, at=where, reason=problem))

    @property
    def state(self) -> str:
        """The state of the link: `up`, or else `dialling` or `waiting`, by which end has to connect."""
        if self.link is not None:
            return "up"
        return "waiting" if self.settings.dial is None else "dialling"
