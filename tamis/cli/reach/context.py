"""`tamis context`: named networks, as defaults for commands."""

from __future__ import annotations

import json
from pathlib import Path

import click

from tamis.cli.reach import contexts
from tamis.cli.reach.admin import private_word
from tamis.cli.reach.connecting import certificates_in, refusals, token_in
from tamis.cli.reach.contexts import VARIABLE, VARIABLES, Context
from tamis.cli.tables import columns

_EXAMPLE = """\b
Examples:
  tamis context add plant --url tamis+tls://a.plant:7400 --ca root.pem --token-file token --name desk-3 --use
  tamis context use plant
  tamis context show
  TAMIS_CONTEXT=lab tamis sub true
"""
_FILE = click.Path(exists=True, dir_okay=False)


@click.group("context", epilog=_EXAMPLE)
def command() -> None:
    """Store addresses, token and certificates under a name.

    The context in use (variable TAMIS_CONTEXT, or `tamis context use`) has the defaults of commands. The variables
    TAMIS_URL, TAMIS_ADMIN, TAMIS_TOKEN_FILE, TAMIS_CA, TAMIS_NAME and TAMIS_ADMIN_TOKEN_FILE override it. Token,
    certificates and name of a context are used with its own addresses only.
    """


@command.command("add")
@click.argument("context")
@click.option("--url", "urls", multiple=True, metavar="ADDRESS", help="An address for clients; may be repeated.")
@click.option("--admin", metavar="TARGET", help="Administration: an address or a topology file.")
@click.option("--token-file", type=_FILE, metavar="FILE", help="A file with the token, mode 0600.")
@click.option("--ca", type=_FILE, metavar="FILE", help="Certificates to trust for tamis+tls://.")
@click.option(
    "--name", metavar="NAME", help="The client's name; must differ between programs that run at the same time."
)
@click.option(
    "--admin-token-file", type=_FILE, metavar="FILE", help="A file with the token of administration, mode 0600."
)
@click.option("--use", "is_used", is_flag=True, help="Use this context from now on.")
def add(
    context: str,
    urls: tuple[str, ...],
    admin: str | None,
    token_file: str | None,
    ca: str | None,
    name: str | None,
    admin_token_file: str | None,
    is_used: bool,
) -> int:
    """Store the context CONTEXT; an existing context of this name is replaced."""
    addresses = tuple(address for told in urls for address in contexts.split(told))
    _check(addresses, bool(urls), name)
    for file, read in ((token_file, token_in), (ca, certificates_in), (admin_token_file, private_word)):
        if file is not None:
            read(Path(file))
    if admin is not None and Path(admin).is_file():
        admin = str(Path(admin).resolve())
    made = Context(addresses, admin, _whole(token_file), _whole(ca), name, _whole(admin_token_file))
    contexts.save(context, made)
    if is_used:
        contexts.use(context)
    return 0


@command.command("use")
@click.argument("context")
def use(context: str) -> int:
    """Use the context CONTEXT from now on, unless TAMIS_CONTEXT names another."""
    contexts.use(context)
    return 0


@command.command("ls")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line for each context.")
def ls(as_json: bool) -> int:
    """List contexts; * marks the one in use."""
    used = contexts.in_use()
    rows = []
    for name, context in contexts.saved().items():
        if as_json:
            click.echo(json.dumps({"context": name, "in_use": name == used} | context.form()))
        rows.append(("*" if name == used else "", name, " ".join(context.url), context.admin or ""))
    if not as_json:
        click.echo(columns(("", "context", "url", "admin"), rows))
    return 0


@command.command("show")
@click.argument("context", required=False)
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def show(context: str | None, as_json: bool) -> int:
    """Show the context CONTEXT; without it, the values that commands use, and the source of each."""
    name = context or contexts.in_use()
    found = contexts.load(name) if name is not None else Context()
    source = "" if name is None else f"context {name}"
    if context is None and not contexts.is_of(found, contexts.urls()):
        found = Context()
    rows = []
    for field, variable in VARIABLES.items():
        told = contexts.variable(field) if context is None else None
        value = getattr(found, field)
        kept = " ".join(value) if isinstance(value, tuple) else value
        if told or kept:
            rows.append((field, told or kept, variable if told else source))
    if as_json:
        click.echo(json.dumps({"context": name} | {field: value for field, value, _ in rows}))
    else:
        click.echo(columns(("", "value", "from"), rows) if rows else f"no context is in use, and {VARIABLE} is not set")
    return 0


@command.command("rm")
@click.argument("context")
def rm(context: str) -> int:
    """Remove the context CONTEXT."""
    contexts.remove(context)
    return 0


def _check(addresses: tuple[str, ...], is_told: bool, name: str | None) -> None:
    from tamis.client.connection.address import parse_addresses
    from tamis.protocol.peer_names import check_peer_name

    with refusals():
        if is_told:
            parse_addresses(addresses)
        if name is not None:
            check_peer_name(name, "--name")


def _whole(file: str | None) -> str | None:
    return None if file is None else str(Path(file).resolve())
