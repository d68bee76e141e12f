"""`tamis token`: make the token of a principal."""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from typing import Final

import click

from tamis.cli.reach.connecting import refusals
from tamis.protocol.peer_names import check_peer_name

TOKEN_BYTES: Final = 32
"""Random bytes of a token: none can be guessed, so a fast hash of one is enough at rest."""
_PLAIN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_EXAMPLE = """\b
Example:
  $ tamis token new press-1
  token of press-1, shown only now: W7cG...
  line for `principals` of the rules: press-1: {roles: [], token: 'sha256:9f86...'}
"""


@click.group("token", epilog=_EXAMPLE)
def command() -> None:
    """Make tokens of principals."""


@command.command("new", epilog=_EXAMPLE)
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
def new(name: str, as_json: bool) -> int:
    """Make a token for the principal NAME, and print it with the digest that the rules need.

    The token is random and is stored nowhere: give it to the client (--token-file). The digest is no secret.
    """
    with refusals():
        check_peer_name(name)
    token = secrets.token_urlsafe(TOKEN_BYTES)
    digest = f"sha256:{hashlib.sha256(token.encode()).hexdigest()}"
    if as_json:
        click.echo(json.dumps({"name": name, "token": token, "digest": digest}))
        return 0
    click.echo(f"token of {name}, shown only now: {token}")
    key = name if _PLAIN.fullmatch(name) else json.dumps(name, ensure_ascii=False)
    click.echo(f"line for `principals` of the rules: {key}: {{roles: [], token: '{digest}'}}")
    return 0
