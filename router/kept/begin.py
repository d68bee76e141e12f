"""How a router begins to keep: from the log that is there, when it is first asked to, or not at all.

Law: `kept` of the file is done as it says; without it, a router with a data folder keeps when it is asked to.
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
    """Return what is to be closed: replays before the switch, the log after it; None: nothing is kept. A log that is
    there is opened and its keeps are recovered, which reads the disk: nobody is served yet. `serves` is called, now or
    later, with the service that keeps."""
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
