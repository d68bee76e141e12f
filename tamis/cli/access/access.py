"""`tamis access`: draft, check and ask rules of who may do what."""

from __future__ import annotations

import click

from tamis.cli.access.check import check
from tamis.cli.access.init import init
from tamis.cli.access.who import who
from tamis.cli.access.why import why

_EXAMPLE = """\b
Examples:
  tamis access init network.yaml --out rules.yaml
  tamis access check rules.yaml
  tamis access who rules.yaml --publish 'kind=reading plant=rome'
  tamis access why press-1 rules.yaml --publish 'kind=reading plant=oslo'
"""


@click.group("access", epilog=_EXAMPLE)
def command() -> None:
    """Draft and check rules of who may do what, and ask them."""


for each in (init, check, who, why):
    command.add_command(each)
