"""`tamis access`: check rules of who may do what, and ask them."""

from __future__ import annotations

import click

from tamis.cli.access.check import check
from tamis.cli.access.who import who
from tamis.cli.access.why import why

_EXAMPLE = """\b
Examples:
  tamis access check rules.yaml
  tamis access who rules.yaml --publish 'kind=reading plant=rome'
  tamis access why press-1 rules.yaml --publish 'kind=reading plant=oslo'
"""


@click.group("access", epilog=_EXAMPLE)
def command() -> None:
    """Check rules of who may do what, and ask them."""


for each in (check, who, why):
    command.add_command(each)
