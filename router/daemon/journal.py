"""The router's own log as a listener: a line for each link that comes or goes, and for each alarm.

Law: code that puts such an event on the bus does not log it, too. What concerns one connection, one file or one setting
is logged where it happens.
"""

from __future__ import annotations

import logging

from tamis.router.daemon.happenings import Alarmed, Happenings, LinkCameUp, LinkWentDown
from tamis.router.daemon.logs import fields

_log = logging.getLogger(__name__)


def listen(happenings: Happenings) -> None:
    """Log links that come and go, and alarms, from now on."""
    happenings.listen(LinkCameUp, _link_up)
    happenings.listen(LinkWentDown, _link_down)
    happenings.listen(Alarmed, _alarmed)


def _link_up(event: LinkCameUp) -> None:
    _log.info("link up", extra=fields(neighbour=event.neighbour, peer=event.peer, session=event.session))


def _link_down(event: LinkWentDown) -> None:
    _log.info("link down", extra=fields(neighbour=event.neighbour, peer=event.peer, session=event.session))


def _alarmed(event: Alarmed) -> None:
    _log.error("alarm", extra=fields(because=event.text))
