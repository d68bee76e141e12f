"""`tamis space`: list, show, check and change spaces."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from tamis.cli.reach.admin import NoAnswer, admin_token_option, routers
from tamis.cli.reach.connecting import refusals
from tamis.cli.reach.spaces_at import of_file, pages_of, spaces_at, spaces_to_put
from tamis.cli.tables import columns
from tamis.client.messages.in_space import message_of
from tamis.protocol.errors import Refused
from tamis.protocol.message_text import parse_message
from tamis.protocol.shown import shown
from tamis.protocol.spaces import Space, digest, space_to_mapping
from tamis.protocol.spaces.space import check_space_name

_EXAMPLE = """\b
Examples:
  tamis space ls network.yaml
  tamis space show trades 127.0.0.1:7600
  tamis space check trades issue=X price=12.35 volume=7 side=buy --spaces network.yaml
  tamis space put spaces.yaml 127.0.0.1:7600
"""


@click.group("space", epilog=_EXAMPLE)
def command() -> None:
    """Show and change spaces. A space declares the attributes of messages of one kind, and their values.

    Spaces are declared in the topology file (`spaces`). A router refuses messages that name a space and violate it.
    """


@command.command("ls")
@click.argument("target", required=False, type=click.Path())
@admin_token_option
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line for each space.")
def ls(target: str | None, as_json: bool) -> int:
    """List spaces: those that a topology file declares, or those in force at routers.

    TARGET is a topology file, or a router as for `tamis status`. For routers the list also counts the messages that
    named a space, and those refused. The exit code is 1 if a router did not answer.
    """
    code, rows = 0, []
    if target is not None and Path(target).is_file():
        rows = [("", _form(space)) for space in of_file(target).spaces.values()]
    else:
        for router in routers(target):
            try:
                rows += [(router.name, row) for row in pages_of(router)[1]]
            except NoAnswer as error:
                click.echo(str(error), err=True)
                code = 1
    if as_json:
        for router_name, row in rows:
            click.echo(json.dumps({"router": router_name} | row if router_name else row))
    else:
        titles = ("router", "space", "version", "attributes", "open", "messages", "refused", "digest")
        click.echo(columns(titles, [_cells(router_name, row) for router_name, row in rows]))
    return code


@command.command("show")
@click.argument("name", metavar="SPACE")
@click.argument("target", required=False, type=click.Path())
@admin_token_option
@click.option("--json", "as_json", is_flag=True, help="One JSON object, as in a topology file.")
def show(name: str, target: str | None, as_json: bool) -> int:
    """Print the attributes of SPACE, one a line; TARGET is as for `tamis space ls`."""
    space = _named(name, target)
    if as_json:
        click.echo(json.dumps(_form(space)))
        return 0
    click.echo("\n".join(map(shown, _lines(space))))
    return 0


@command.command("check")
@click.argument("name", metavar="SPACE")
@click.argument("words", nargs=-1, metavar="ATTRIBUTE...")
@click.option("--spaces", "target", metavar="TARGET", help="As for `tamis space ls`.")
@admin_token_option
def check(name: str, words: tuple[str, ...], target: str | None) -> int:
    """Check whether a message is valid in SPACE; the exit code is 1 if it is not.

    The message is attributes, one a word (class=alert severity=6), or one JSON object. It need not name the space.
    """
    known = spaces_at(target)
    with refusals():
        attributes = parse_message(words or ("{}",))
    try:
        message_of(attributes, name, known)
    except Refused as error:
        click.echo(shown(str(error)))
        return 1
    click.echo(f"valid in space {name}")
    return 0


@command.command("put")
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@click.argument("target", required=False, metavar="[ROUTER]")
@admin_token_option
@click.option("--only", "names", multiple=True, metavar="SPACE", help="Put only this space of FILE; may be repeated.")
@click.option("--force", is_flag=True, help="Also if messages or predicates that are valid now would be refused.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line for each changed space.")
def put(file: str, target: str | None, names: tuple[str, ...], force: bool, as_json: bool) -> int:
    """Bring the spaces of FILE into force at all routers.

    FILE has `spaces` as in a topology file; its other keys are ignored. A space without `version` gets the version
    after the one in force. ROUTER is one router, as for `tamis status` (of a topology file the first that answers); it
    informs all others. Either all spaces are changed or none: if a message or a predicate that is valid now might be
    refused afterwards, the reasons are printed and nothing changes, unless --force is given.
    """
    return _change(target, list(spaces_to_put(file, names)), force, as_json)


@command.command("drop")
@click.argument("names", nargs=-1, required=True, metavar="SPACE...")
@click.option("--at", "target", metavar="ROUTER", help="As for `tamis space put`.")
@admin_token_option
@click.option("--force", is_flag=True, help="Also if its messages would then be refused (`space_unknown: refuse`).")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line for each changed space.")
def drop(names: tuple[str, ...], target: str | None, force: bool, as_json: bool) -> int:
    """Withdraw spaces at all routers: messages of them are no longer checked."""
    known = _names_at(target)
    for name in names:
        if known is not None and name not in known:
            raise click.ClickException(f"no space {name!r}; the spaces are {', '.join(known) or 'none'}")
    return _change(target, [{"name": name, "withdrawn": True} for name in names], force, as_json)


def _names_at(target: str | None) -> list[str] | None:
    """Return the names of the spaces that the first router to answer uses; None if none answers."""
    for router in routers(target):
        try:
            return [row["name"] for row in pages_of(router)[1]]
        except NoAnswer:
            continue
    return None


def _change(target: str | None, spaces: list[dict[str, Any]], force: bool, as_json: bool) -> int:
    body = json.dumps({"spaces": spaces, "force": force}).encode()
    problems = []
    for router in routers(target):
        try:
            changed = router.ask("/spaces/put", body)["changed"]
        except NoAnswer as error:
            if error.is_refusal:
                raise click.ClickException(str(error)) from None
            problems.append(str(error))
            continue
        for row in changed:
            what = "is withdrawn" if row["withdrawn"] else "is in force"
            click.echo(json.dumps(row) if as_json else f"space {row['name']}, version {row['version']}, {what}")
        if not changed and not as_json:
            click.echo("no space has changed")
        return 0
    raise click.ClickException("; ".join(problems))


def _named(name: str, target: str | None) -> Space:
    with refusals():
        check_space_name(name)
    known = spaces_at(target)
    if name not in known.spaces:
        raise click.ClickException(f"no space {name!r}; the spaces are {known.known}")
    return known.spaces[name]


def _form(space: Space) -> dict[str, Any]:
    return {"name": space.name, **space_to_mapping(space), "digest": digest(space).hex()}


def _cells(router: str, row: dict[str, Any]) -> tuple[str, ...]:
    counts = (f"{row['checked']:,}", f"{row['refused']:,}") if "checked" in row else ("", "")
    is_open = "yes" if row["open"] else "no"
    return (
        *(router, row["name"], str(row["version"]), str(len(row["attributes"])), is_open),
        *counts,
        row["digest"][:8],
    )


def _lines(space: Space) -> Iterator[str]:
    others = "may have other attributes" if space.is_open else "has no other attributes"
    yield f"space {space.name}, version {space.version}: a message {others}"
    width = max(map(len, space.attributes), default=0)
    for name, said in space.attributes.items():
        yield f"  {name:<{width}}  {said.allowed}"
