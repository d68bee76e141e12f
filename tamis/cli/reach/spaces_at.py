"""The definitions of spaces for commands: from a topology file, or from the administration of a running router.

Law: the definitions from a router are those by which it validates messages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import click

from tamis.cli.extras import router_extra
from tamis.cli.reach.admin import NoAnswer, routers
from tamis.protocol.errors import TamisError
from tamis.protocol.spaces import NO_SPACES, SpaceSet, space_from, space_to_mapping

SPACE_KEYS = ("version", "open", "attributes")
Command = TypeVar("Command", bound=Callable[..., Any])


def spaces_option(command: Command) -> Command:
    """Add the option that names the source of the spaces."""
    return click.option(
        "--spaces",
        "declared",
        metavar="TARGET",
        help="The source of spaces: a topology file, or a router as for `tamis status`.",
    )(command)


def spaces_at(target: str | None) -> SpaceSet:
    """Return the spaces of a topology file, or of the first router of `target`."""
    if target is not None and Path(target).is_file():
        return of_file(target)
    router = routers(target)[0]
    try:
        return of_pages(*pages_of(router))
    except NoAnswer as error:
        raise click.ClickException(str(error)) from None


def told_spaces(declared: str | None, is_needed: bool) -> SpaceSet:
    """Return the spaces of --spaces; if they are needed and not given, those of the default router."""
    return spaces_at(declared) if declared is not None or is_needed else NO_SPACES


def names_space(predicate: str) -> bool:
    """Return whether the text names a space, as in `trades: price < 120`."""
    from tamis.protocol.language.in_space import prefix_of

    return prefix_of(predicate) is not None


def of_file(file: str) -> SpaceSet:
    with router_extra("topology files"):
        from tamis.configs import load_topology
    try:
        found: SpaceSet = load_topology(file).space_set
    except TamisError as error:
        raise click.ClickException(str(error)) from None
    return found


def spaces_to_put(file: str, names: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """Return the spaces of a file in the form that routers accept; only those of `names` if any are given. The file has
    `spaces` as in a topology file."""
    with router_extra("topology files"):
        from tamis.configs.load import load_spaces
    try:
        spaces = load_spaces(file)
    except TamisError as error:
        raise click.ClickException(str(error)) from None
    for name in names:
        if name not in spaces:
            raise click.ClickException(f"{file}: no space {name!r}; the spaces are {', '.join(spaces)}")
    for name in names or spaces:
        said = {"name": name, **space_to_mapping(spaces[name].as_space(name))}
        if "version" not in spaces[name].model_fields_set:
            del said["version"]
        yield said


def pages_of(router: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:  # noqa: ANN401 - an AdminTarget, or a test's
    """Return the router's summary of its spaces, and the page of each."""
    cursor: int | None = 0
    rows: list[dict[str, Any]] = []
    head: dict[str, Any] = {}
    while cursor is not None:
        head = router.ask("/spaces", limit=100, cursor=cursor)
        rows += head["spaces"]
        cursor = head["next"]
    return head, rows


def of_pages(head: dict[str, Any], rows: list[dict[str, Any]]) -> SpaceSet:
    spaces = {row["name"]: space_from(row["name"], {key: row[key] for key in SPACE_KEYS}) for row in rows}
    return SpaceSet(spaces, head["attribute"], head["unknown"] == "refuse")
