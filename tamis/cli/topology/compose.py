"""`tamis compose`: turn a topology into a compose file."""

from __future__ import annotations

from pathlib import Path

import click

from tamis.cli.extras import router_extra
from tamis.protocol.errors import ConfigError

_EXAMPLE = """\b
Examples:
  $ tamis compose network.yaml -o docker-compose.yml
  written: docker-compose.yml, docker-compose.topology.yaml
  $ docker compose up
"""
_OUT = "docker-compose.yml"


@click.command("compose", epilog=_EXAMPLE)
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@click.option("-o", "--out", type=click.Path(dir_okay=False), help="Write the compose file here; default: stdout.")
@click.option("--build", metavar="FOLDER", help="Build the image from the Dockerfile in this folder.")
def command(file: str, out: str | None, build: str | None) -> int:
    """Turn the topology FILE into a compose file. Each router is a service.

    The topology of the containers is written beside OUT, as OUT.topology.yaml without the .yml. Services that were
    added below the last line of OUT are preserved. The image is `tamis`, or that of the variable TAMIS_IMAGE.

    Routers reach each other by the names of their services. The client and admin ports of FILE are published to this
    machine. Mistakes of FILE are reported as by `tamis check`.
    """
    with router_extra("topology files"):
        from tamis.configs import load_topology
        from tamis.configs.compose import beside, compose_files, write_files
    target = Path(out or _OUT)
    try:
        topology = load_topology(file)
        files = compose_files(topology, file, target, build)
        if out is None:
            click.echo(files.compose, nl=False)
            click.echo(f"-o also writes the topology of the containers, to {beside(target)}", err=True)
            return 0
        write_files(files, target)
    except ConfigError as error:
        click.echo("\n".join(error.mistakes), err=True)
        return 1
    click.echo(f"written: {target}, {beside(target)}", err=True)
    return 0
