"""`tamis example`: print example topology files, and the systemd unit of a router."""

from __future__ import annotations

from importlib.resources import files
from typing import Final

import click

from tamis.cli.tables import columns
from tamis.protocol.nearest import did_you_mean

_EXAMPLE = """\b
Examples:
  tamis example
  tamis example ring5 > network.yaml
  tamis example systemd > /etc/systemd/system/tamis-router@.service
"""
_SCHEMA: Final = "# yaml-language-server: $schema=../topology.schema.json"
_UNIT: Final = "systemd"
_OF_UNIT: Final = "The systemd unit of a router (docs/how-to/systemd.md)"
_BESIDE: Final = "# yaml-language-server: $schema=topology.schema.json"


@click.command("example", epilog=_EXAMPLE)
@click.argument("name", required=False)
def command(name: str | None) -> int:
    """Print an example of a topology file, or the unit for systemd. Without NAME, list them.

    `tamis up` can start each without changes. With `tamis schema > topology.schema.json` beside it, an editor completes
    keys.
    """
    texts = _texts()
    if name is None:
        rows = [(each, _about(text) if each != _UNIT else _OF_UNIT) for each, text in texts.items()]
        click.echo(columns(("name", "content"), rows))
        return 0
    if name not in texts:
        hint = did_you_mean(name, texts) or f"; the examples are {', '.join(texts)}"
        raise click.UsageError(f"no example {name!r}{hint}")
    click.echo(texts[name].replace(_SCHEMA, _BESIDE), nl=False)
    return 0


def _texts() -> dict[str, str]:
    folder = files("tamis.configs") / "topologies"
    found = {file.name.removesuffix(".yaml"): file.read_text() for file in folder.iterdir()}
    unit = (files("tamis.configs") / "systemd" / "tamis-router@.service").read_text()
    return dict(sorted(found.items(), key=lambda item: len(item[1]))) | {_UNIT: unit}


def _about(text: str) -> str:
    """Return the start of the comment at the head of a file: up to the end of a sentence, or to a drawing."""
    head = ""
    for line in text.splitlines()[1:]:
        if not line.startswith("#") or line.startswith("#   "):
            break
        head = f"{head} {line.lstrip('# ')}".strip()
    return head.partition(". ")[0].rstrip(".:")
