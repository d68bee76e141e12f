"""`tamis token`: make the token of a principal."""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from typing import Final

import click

from tamis.cli.access.asked import RULES_FILE
from tamis.cli.extras import router_extra
from tamis.cli.reach.connecting import refusals
from tamis.protocol.errors import ConfigError, Refused
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


_ROTATE = """\b
Example:
  $ tamis token rotate press-1 rules.yaml
  token of press-1, shown only now: W7cG...
  rules.yaml: press-1 has two tokens; run `tamis reload`, give the new one to the client, then rotate with --end
  $ tamis token rotate press-1 rules.yaml --end
  rules.yaml: press-1 has one token; run `tamis reload`
"""


@click.group("token", epilog=_EXAMPLE)
def command() -> None:
    """Make and change tokens of principals."""


@command.command("new", epilog=_EXAMPLE)
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
def new(name: str, as_json: bool) -> int:
    """Make a token for the principal NAME, and print it with the digest that the rules need.

    The token is random and is stored nowhere: give it to the client (--token-file). The digest is no secret.
    """
    with refusals():
        check_peer_name(name)
    token, digest = made_token()
    if as_json:
        click.echo(json.dumps({"name": name, "token": token, "digest": digest}))
        return 0
    click.echo(f"token of {name}, shown only now: {token}")
    key = name if _PLAIN.fullmatch(name) else json.dumps(name, ensure_ascii=False)
    click.echo(f"line for `principals` of the rules: {key}: {{roles: [], token: '{digest}'}}")
    return 0


@command.command("rotate", epilog=_ROTATE)
@click.argument("name")
@click.argument("rules", type=RULES_FILE)
@click.option("--end", is_flag=True, help="Remove the older of two tokens.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
def rotate(name: str, rules: str, end: bool, as_json: bool) -> int:
    """Give the principal NAME of RULES a second token, printed once; with --end, only the newer one stays.

    The digest is written to RULES, a topology file with `access` or a file of rules, or to the files that it names;
    nothing else of them changes. Routers take it with `tamis reload`. The exit code is 1 if NAME is no principal with a
    token, or has two already (without --end) or one (with it).
    """
    with router_extra("access rules"):
        from tamis.configs.access.change_tokens import change_tokens
    token, digest = ("", "") if end else made_token()

    def changed(digests: list[str]) -> list[str]:
        if end and len(digests) == 1:
            raise Refused(f"{name} has one token; rotate without --end first")
        if not end and len(digests) > 1:
            raise Refused(f"{name} has two tokens; when the older is in use no more, rotate with --end")
        return digests[1:] if end else [*digests, digest]

    try:
        file = change_tokens(rules, name, changed)
    except ConfigError as error:
        click.echo("\n".join(error.mistakes), err=True)
        return 1
    except (Refused, OSError) as error:
        raise click.ClickException(str(error)) from None
    if as_json:
        said = {"name": name, "file": str(file), "tokens": 1 if end else 2}
        click.echo(json.dumps(said if end else said | {"token": token, "digest": digest}))
    elif end:
        click.echo(f"{file}: {name} has one token; run `tamis reload`")
    else:
        click.echo(f"token of {name}, shown only now: {token}")
        what = "has two tokens; run `tamis reload`, give the new one to the client, then rotate with --end"
        click.echo(f"{file}: {name} {what}")
    return 0


def made_token() -> tuple[str, str]:
    """Return a new token, and its digest as in the rules."""
    token = secrets.token_urlsafe(TOKEN_BYTES)
    return token, f"sha256:{hashlib.sha256(token.encode()).hexdigest()}"
