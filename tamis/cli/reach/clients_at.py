"""From where administration is to where clients connect.

Law: the router that is asked says it itself. Where it listens on every interface, the host is the one that was asked.
"""

from __future__ import annotations

from typing import Final

import click

from tamis.cli.reach.admin import NoAnswer, routers

_EVERYWHERE: Final = ("0.0.0.0", "[::]")  # noqa: S104 - recognised here, bound by nobody


def clients_at(admin: str) -> tuple[str, ...]:
    """Return the addresses for clients of the router whose administration is at `admin`; it is asked."""
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
