"""The router's own log as a listener: a line for each link that comes up or goes down, and for each alarm.

Law: code that sends such an event does not log it, too. Events of one connection, one file or one setting are logged
where they occur.
"""

from __future__ import annotations

import logging

from tamis.router.daemon.events import Alarmed, EventBus, LifeChanged
from tamis.router.daemon.link_events import LinkCameUp, LinkWentDown
from tamis.router.daemon.logs import fields

_log = logging.getLogger(__name__)


def listen(events: EventBus) -> None:
    """Log links that come up or go down, and alarms, from now on."""
    journal = _Journal()
    events.listen(LifeChanged, journal.life_changed)
    events.listen(LinkCameUp, journal.link_up)
    events.listen(LinkWentDown, journal.link_down)
    events.listen(Alarmed, journal.alarmed)


class _Journal:
    def __init__(self) -> None:
        self._is_stopping = False

    def life_changed(self, event: LifeChanged) -> None:
        self._is_stopping = event.what == "stopping"

    def link_up(self, event: LinkCameUp) -> None:
        _log.info("link up", extra=fields(neighbour=event.neighbour, peer=event.peer, session=event.session))

    def link_down(self, event: LinkWentDown) -> None:
        """Log a link that is down: as a warning for the operator, unless this router ends its links because it
        stops."""
        about = fields(
            neighbour=event.neighbour,
            peer=event.peer,
            session=event.session,
            reason=event.reason or "the connection ended",
        )
        _log.log(logging.INFO if self._is_stopping else logging.WARNING, "link down", extra=about)

    def alarmed(self, event: Alarmed) -> None:
        _log.error("alarm", extra=fields(because=event.text))
