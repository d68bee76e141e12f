"""`tamis gateway`: run a gateway for programs that speak HTTP."""

from __future__ import annotations

import sys

import click

from tamis.cli.extras import router_extra

_EXAMPLE = """\b
Example:
  $ tamis gateway --http 127.0.0.1:8080 &
  gateway is ready: http://127.0.0.1:8080
  $ curl 'localhost:8080/v1/messages?class=alert&severity=6' -d 'disk full'
  $ curl -N -G localhost:8080/v1/messages --data-urlencode 'where=severity > 2'
"""


@click.command("gateway", epilog=_EXAMPLE)
@click.argument("router", required=False, default=None, envvar="TAMIS_URL")
@click.option("--http", "listen", default="127.0.0.1:8080", show_default=True, help="The address to listen on.")
@click.option("--name", "names", multiple=True, metavar="HOST", help="A further host by which it is reached.")
@click.option("--origin", "origins", multiple=True, help="The origin of pages that may use it from a browser.")
@click.option("--insecure", is_flag=True, help="Listen on an address open to others although it is not encrypted.")
def command(router: str | None, listen: str, names: tuple[str, ...], origins: tuple[str, ...], insecure: bool) -> int:
    """Run a gateway for programs that speak HTTP.

    They publish and subscribe at ROUTER, the address of a router. Each client shows its own credential (`curl -u
    NAME:TOKEN`), and the rules of the router decide what it may do. Prints one line on stdout when it listens; logs go
    to stderr. SIGTERM or Ctrl-C drains: streams end, and messages on their way are answered; a second signal ends at
    once. The exit code is 0 if everything was finished.
    """
    import logging

    from tamis.cli.event_loop import run
    from tamis.cli.reach.connecting import DEFAULT_ADDRESS

    with router_extra("gateways"):
        from tamis.client.connection.address import parse_address as parse_router
        from tamis.configs.address import parse_address
        from tamis.gateway.process import GatewaySettings, serve
        from tamis.serving.cannot_start import CannotStart
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(asctime)s %(levelname)s %(message)s")
    at = router or DEFAULT_ADDRESS
    if not parse_router(at).path:
        logging.warning("over TCP, wrong credentials of one client delay all others: use the router's Unix socket")
    try:
        address = parse_address(listen)
    except ValueError as error:
        raise click.BadParameter(f"{listen!r} {error}", param_hint="--http") from None
    settings = GatewaySettings(at, address, names, tuple(map(str.lower, origins)), insecure)
    try:
        return 0 if run(serve(settings, _ready)) else 1
    except CannotStart as error:
        click.echo(str(error), err=True)
        return 1


def _ready(addresses: list[str]) -> None:
    where = ", ".join(f"http://{address}" if not address.startswith("unix:") else address for address in addresses)
    click.echo(f"gateway is ready: {where}")
    sys.stdout.flush()
