"""From where clients connect to where administration is, and back.

Law: a router's administration says where its clients connect. The other way round it is found in a context that has
both, or with a `tamis up` of this machine; where neither knows, the sentence says which address is needed.
"""

from __future__ import annotations

from typing import Final

import click

from tamis.cli import contexts
from tamis.cli.supervised import running_networks

SCHEMES: Final = ("tamis://", "tamis+tls://", "tamis+unix:")
"""How an address for clients begins."""
ADMIN_SCHEMES: Final = ("http://", "unix:")
"""How an address of administration begins, where it is given with a scheme."""
_EVERYWHERE: Final = ("0.0.0.0", "[::]")  # noqa: S104 - recognised here, bound by nobody


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


def clients_at(admin: str) -> tuple[str, ...]:
    """Return the addresses for clients of the router whose administration is at `admin`; it is asked."""
    from tamis.cli.admin import NoAnswer, routers

    [router] = routers(admin)
    try:
        said = router.ask("/status")["listening"].get("clients", [])
    except NoAnswer as error:
        raise click.ClickException(
            f"{admin} is the address of a router's administration, which would say where clients connect, and {error}; "
            "an address for clients begins with tamis://"
        ) from None
    if not said:
        raise click.ClickException(f"the router at {admin} listens nowhere for clients")
    host = admin.removeprefix("http://").rstrip("/").rpartition(":")[0]
    return tuple(_reachable(address, host) for address in said)


def _reachable(address: str, host: str) -> str:
    """An address that stands for every interface, at the host where administration answers."""
    for everywhere in _EVERYWHERE:
        address = address.replace(f"//{everywhere}:", f"//{host}:")
    return address
