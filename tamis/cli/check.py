"""`tamis check`: is this topology file sound?"""

from __future__ import annotations

import json

import click

from tamis.protocol.errors import ConfigError

_EXAMPLE = """\b
Example:
  $ tamis check network.yaml
  network.yaml: 3 routers, 2 links, strategy advertise, engine tamis
"""


@click.command("check", epilog=_EXAMPLE)
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
def command(file: str, as_json: bool) -> int:
    """Validate the topology FILE without starting anything.

    Every mistake is reported on stderr as file:line:column: path: what is wrong, and the exit code is 1.
    """
    try:
        from tamis.configs import load_topology
    except ModuleNotFoundError as error:
        if error.name not in ("pydantic", "yaml"):
            raise
        raise click.ClickException(f"topology files need {error.name}: pip install 'tamis[router]'") from error
    try:
        summary = load_topology(file).summary()
    except ConfigError as error:
        click.echo("\n".join(error.mistakes), err=True)
        if as_json:
            click.echo(json.dumps({"file": file, "sound": False, "mistakes": error.mistakes}))
        return 1
    click.echo(json.dumps({"file": file, "sound": True} | summary) if as_json else f"{file}: {_in_words(summary)}")
    return 0


def _in_words(summary: dict[str, object]) -> str:
    engines = summary["engines"]
    engine = " and ".join(engines) if isinstance(engines, list) else engines
    counts = ", ".join(_counted(summary[key], noun) for key, noun in (("routers", "router"), ("links", "link")))
    return f"{counts}, strategy {summary['strategy']}, engine {engine}"


def _counted(count: object, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
