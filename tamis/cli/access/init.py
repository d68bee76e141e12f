"""`tamis access init`: a draft of rules from what is connected."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import click

from tamis.cli.access.token import made_token
from tamis.cli.extras import router_extra
from tamis.cli.reach.admin import AdminTarget, NoAnswer, admin_token_option, routers
from tamis.cli.tables import so_many
from tamis.protocol.access.rights import ANSWER_TO
from tamis.protocol.errors import TamisError
from tamis.protocol.language import parse
from tamis.protocol.peer_names import is_generated

if TYPE_CHECKING:
    from tamis.configs.access.draft import Seen

ANYBODY: Final = "*"
_ALL: Final = 10_000_000
_EXAMPLE = """\b
Example:
  $ tamis access init network.yaml --out rules.yaml
  rules.yaml: 12 principals of 3 routers; read it, narrow it, and name it under `access`
"""


@click.command("init", epilog=_EXAMPLE)
@click.argument("topology", type=click.Path(exists=True, dir_okay=False))
@click.option("--out", type=click.Path(dir_okay=False), metavar="FILE", help="Write a new file, mode 0600.")
@admin_token_option
def init(topology: str, out: str | None) -> int:
    """Write a draft of rules from what is connected to the routers of TOPOLOGY now.

    Each client is a principal by its name, up to the first `/`, with a role that allows its filters, worker groups and
    durable subscriptions, and to publish anything. Clients without a name of their own are left out. Tokens stay those
    of the `tokens` file of TOPOLOGY; a principal without one there gets a new token, printed on stderr once. The mode
    of the draft is `observe`: routers with it refuse nothing. The exit code is 1 if a router did not answer.
    """
    with router_extra("access rules"):
        from tamis.configs.access.draft import draft
    try:
        files = _token_files(topology)
    except TamisError as error:
        raise click.ClickException(str(error)) from None
    seen: dict[str, Seen] = {}
    asked = routers(topology)
    code = 0
    for router in asked:
        try:
            _look(router, seen, files)
        except NoAnswer as error:
            click.echo(str(error), err=True)
            code = 1
    for line in [*files, *(line for line in sorted(seen) if line not in files)]:
        if line != ANYBODY:
            _give_token(line, seen, files)
    text = draft(seen)
    if out is None:
        click.echo(text, nl=False)
        return code
    try:
        with os.fdopen(os.open(out, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(text)
    except OSError as error:
        raise click.ClickException(f"{out}: cannot be written: {error.strerror}") from None
    what = f"{so_many(len(seen), 'principal')} of {so_many(len(asked), 'router')}"
    click.echo(f"{out}: {what}; read it, narrow it, and name it under `access`")
    return code


def _look(router: AdminTarget, seen: dict[str, Seen], files: Mapping[str, str]) -> None:
    """Add what one router shows."""
    from tamis.configs.access.draft import Seen, line_of

    def of(name: str) -> Seen:
        """Return the principal of a client; where the file has a line for the part before the `/`, it is
        one of its own."""
        line = line_of(name)
        return seen.setdefault(name if line in files else line, Seen())

    for item in router.items("/connections", _ALL):
        if _has_name(item["client"]):
            of(item["client"])
    for item in router.items("/filters", _ALL):
        if item["durable"] is None and _has_name(item["client"]):
            _add_filter(of(item["client"]), item)
    for item in router.items("/durables", _ALL):
        if _has_name(item["owner"]):
            predicate = "true" if item.get("predicate_cut") else item["predicate"]
            of(item["owner"]).durables.setdefault(item["durable"], set()).add(predicate)


def _has_name(name: str | None) -> bool:
    return bool(name) and not is_generated(str(name))


def _add_filter(seen: Seen, item: Mapping[str, Any]) -> None:
    if any(each.name == ANSWER_TO for filter_ in parse(item["filter"]).filters for each in filter_.constraints):
        seen.asks = True
    else:
        seen.filters.add(item["filter"])
    if item["group"] is not None:
        seen.groups.add(item["group"])


def _token_files(topology: str) -> dict[str, str]:
    """Return the digests of all tokens that routers of this file read, by name."""
    from tamis.configs import load_topology
    from tamis.router.clients.tokens import TokenFile

    loaded = load_topology(topology)
    paths = {path for router_id in loaded.routers if (path := loaded.router(router_id).tokens) is not None}
    found: dict[str, str] = {}
    for path in sorted(paths):
        found |= {name: f"sha256:{digest.hex()}" for name, digest in TokenFile(path).digests.items()}
    return found


def _give_token(line: str, seen: dict[str, Seen], files: Mapping[str, str]) -> None:
    """Give a principal the digests of its tokens: its own, and that of anybody if it has none."""
    from tamis.configs.access.draft import Seen

    digest = files.get(line) or files.get(ANYBODY)
    if digest is None:
        token, digest = made_token()
        click.echo(f"token of {line}, shown only now: {token}", err=True)
    seen.setdefault(line, Seen()).digests = [digest]
