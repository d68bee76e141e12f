"""Start of durable subscriptions in a router: at once from its log, at the first request for one, or not at all.

Law: the setting `kept` of the topology file decides; without it, a router that has a data folder starts with its log,
or makes one at the first request for a durable subscription.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tamis.native.switch_values import KeepsNothing
from tamis.router.clients.clients import Clients
from tamis.router.kept.log_bounds import has_log
from tamis.router.kept.when_asked import KeepsWhenAsked

if TYPE_CHECKING:
    from tamis.router.kept.service import KeptService


def begin_keeping(clients: Clients, serves: Callable[[KeptService], None]) -> KeptService | KeepsWhenAsked | None:
    """Return the object that the caller closes: its replays before the switch, its log after it. Return None if this
    router stores nothing. An existing log is opened and its durable subscriptions are recovered, which blocks on the
    disk: call this before any client is served. `serves` is called with the service once that exists, now or later."""
    settings, switch = clients.connections.settings, clients.connections.switch
    kept = settings.kept
    if kept is None:
        switch.keep_nothing(KeepsNothing.OFF if settings.data else KeepsNothing.NO_FOLDER)
        return None
    if kept.is_by_default and not has_log(kept):
        switch.keep_nothing(KeepsNothing.NONE_YET)
        clients.keeping = when_asked = KeepsWhenAsked(clients, kept, serves)
        return when_asked
    from tamis.router.kept.open_log import open_log
    from tamis.router.kept.service import KeptService

    service = KeptService(clients, open_log(kept))
    serves(service)
    return service
