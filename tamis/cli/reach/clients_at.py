"""The addresses for clients of a router, found by its administration.

Law: the router reports its addresses. If it listens on every interface, the host of its administration is used.
"""

from __future__ import annotations

from typing import Final

import click

from tamis.cli.reach.admin import NoAnswer, routers

_EVERYWHERE: Final = ("0.0.0.0", "[::]")  # noqa: S104 - recognised here, and not bound


def clients_at(admin: str) -> tuple[str, ...]:
    """Return the addresses for clients of the router whose administration is at `admin`, by a request to it."""
    [router] = routers(admin)
    try:
        said = router.ask("/status")["listening"].get("clients", [])
    except NoAnswer as error:
        raise click.ClickException(
            f"{admin} is the address of a router's administration, from which the address for clients is looked up: "
            f"{error}; an address for clients begins with tamis://"
        ) from None
    if not said:
        raise click.ClickException(f"the router at {admin} has no address for clients")
    host = admin.removeprefix("http://").rstrip("/").rpartition(":")[0]
    return tuple(_reachable(address, host) for address in said)


def _reachable(address: str, host: str) -> str:
    """Return an address with the host of the administration in place of one that means every interface."""
    for everywhere in _EVERYWHERE:
        address = address.replace(f"//{everywhere}:", f"//{host}:")
    return address
