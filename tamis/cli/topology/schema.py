"""`tamis schema`: print the JSON Schema of topology files."""

from __future__ import annotations

from importlib.resources import files

import click

_EXAMPLE = """\b
Example:
  tamis schema > topology.schema.json
"""


@click.command("schema", epilog=_EXAMPLE)
def command() -> int:
    """Print the JSON Schema of topology files, for editors.

    An editor with a YAML language server reads it if the first line is, as in the output of `tamis example`:
    # yaml-language-server: $schema=topology.schema.json
    """
    click.echo((files("tamis.configs") / "topology.schema.json").read_text(), nl=False)
    return 0
