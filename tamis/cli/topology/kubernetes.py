"""`tamis kubernetes`: turn a topology into Kubernetes manifests."""

from __future__ import annotations

from pathlib import Path

import click

from tamis.cli.extras import router_extra
from tamis.protocol.errors import ConfigError

_EXAMPLE = """\b
Examples:
  $ tamis kubernetes network.yaml --image registry.example/tamis:0.1 | kubectl apply -f -
  $ tamis kubernetes network.yaml -o network.k8s.yaml
"""


@click.command("kubernetes", epilog=_EXAMPLE)
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@click.option(
    "-o", "--out", type=click.Path(dir_okay=False, path_type=Path), help="Write the manifests here; default: stdout."
)
@click.option("--image", default="tamis", show_default=True, help="The image of the routers, as the nodes can pull it.")
def command(file: str, out: Path | None, image: str) -> int:
    """Turn the topology FILE into manifests of Kubernetes. Each router is a StatefulSet.

    Clients reach any ready router by the Service with the name of the network, and one router by its own Service. Files
    that FILE names (tokens, certificates, secrets of links) come from Secrets; the first lines show how to create them.

    Mistakes of FILE are reported as by `tamis check`.
    """
    with router_extra("topology files"):
        from tamis.configs import load_topology
        from tamis.configs.kubernetes import manifests
    try:
        text = manifests(load_topology(file), image)
    except ConfigError as error:
        click.echo("\n".join(error.mistakes), err=True)
        return 1
    if out is None:
        click.echo(text, nl=False)
        return 0
    out.write_text(text)
    click.echo(f"written: {out}", err=True)
    return 0
