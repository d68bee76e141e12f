"""`tamis show`: show what routers know of the network."""

from __future__ import annotations

import click

from tamis.cli.network import routes

_EXAMPLE = """\b
Examples:
  tamis show routes network.yaml
  tamis show routes network.yaml --audit
"""


@click.group("show", epilog=_EXAMPLE)
def command() -> None:
    """Show what routers know: their routes."""


command.add_command(routes.command)
