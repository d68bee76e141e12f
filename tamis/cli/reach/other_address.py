"""The address of administration for an address of clients; clients_at.py finds the reverse.

Law: the address comes from a context that has both, or from a `tamis up` of this machine; if neither has it, the error
names the address that is needed.
"""

from __future__ import annotations

from typing import Final

import click

from tamis.cli.reach import contexts
from tamis.cli.reach.supervised import running_networks

SCHEMES: Final = ("tamis://", "tamis+tls://", "tamis+unix:")
"""The beginnings of addresses for clients."""
ADMIN_SCHEMES: Final = ("http://", "unix:")
"""The beginnings of addresses of administration with a scheme."""


def admin_of(address: str) -> str:
    """Return the administration that belongs to an address for clients; a usage error if it is unknown."""
    for context in (contexts.present(), *contexts.saved().values()):
        if address in context.url and context.admin is not None:
            return context.admin
    for network in running_networks():
        for router in network.routers.values():
            if address in router.clients and router.admin:
                return router.admin[0]
    raise click.UsageError(
        f"{address} is an address for clients; this command needs the address of a router's administration, such as "
        "http://127.0.0.1:7600 (`admin` in the topology file), or the topology file"
    )
