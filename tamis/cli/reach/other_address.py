"""From where clients connect to where administration is; the way back is in clients_at.py.

Law: the other address is found in a context that has both, or with a `tamis up` of this machine; where neither knows,
the sentence says which address is needed.
"""

from __future__ import annotations

from typing import Final

import click

from tamis.cli.reach import contexts
from tamis.cli.reach.supervised import running_networks

SCHEMES: Final = ("tamis://", "tamis+tls://", "tamis+unix:")
"""How an address for clients begins."""
ADMIN_SCHEMES: Final = ("http://", "unix:")
"""How an address of administration begins, where it is given with a scheme."""


def admin_of(address: str) -> str:
    """Return the target of administration that belongs to an address for clients; a usage error where none is known."""
    for context in (contexts.present(), *contexts.saved().values()):
        if address in context.url and context.admin is not None:
            return context.admin
    for network in running_networks():
        for router in network.routers.values():
            if address in router.clients and router.admin:
                return router.admin[0]
    raise click.UsageError(
        f"{address} is where clients connect, and this command asks a router's administration: give its address, such "
        "as http://127.0.0.1:7600 (`admin` in the topology file), or the topology file"
    )
