"""Start of durable subscriptions in a router: at once from its log, at the first request for one, or not at all.

Law: the setting `durable` of the topology file decides; without it, a router that has a data folder starts with its
log, or makes one at the first request for a durable subscription.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tamis.native.switch_values import NotStoring
from tamis.router.clients.clients import Clients
from tamis.router.durable.log_bounds import has_log
from tamis.router.durable.on_demand import DurablesOnDemand

if TYPE_CHECKING:
    from tamis.router.durable.service import DurableService


def start_durables(
    clients: Clients, serves: Callable[[DurableService], None]
) -> DurableService | DurablesOnDemand | None:
    """Return the object that the caller closes: its replays before the switch, its log after it. Return None if this
    router stores nothing. An existing log is opened and its durable subscriptions are recovered, which blocks on the
    disk: call this before any client is served. `serves` is called with the service once that exists, now or later."""
    settings, switch = clients.connections.settings, clients.connections.switch
    durable = settings.durable
    if durable is None:
        switch.keep_nothing(NotStoring.OFF if settings.data else NotStoring.NO_FOLDER)
        return None
    if durable.is_by_default and not has_log(durable):
        switch.keep_nothing(NotStoring.NONE_YET)
        clients.durables = on_demand = DurablesOnDemand(clients, durable, serves)
        return on_demand
    from tamis.router.durable.open_log import open_log
    from tamis.router.durable.service import DurableService

    service = DurableService(clients, open_log(durable))
    serves(service)
    return service
