"""Asking routers: their administration pages, over HTTP on TCP or a Unix socket.

    a topology file          every router in it that has an admin address; that of `tamis up`, where it runs there
    127.0.0.1:7600           one router; also http://127.0.0.1:7600, [::1]:7600 and unix:/run/tamis/a.sock

Law: a router that does not answer is told about, never a reason to leave out the others.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

import click

from tamis.cli.extras import router_extra
from tamis.protocol.errors import TamisError
from tamis.protocol.shown import shown

DEFAULT: Final = "127.0.0.1:7600"
_PAGE_ITEMS: Final = 500
_BAD_REQUEST: Final = 400


class NoAnswer(TamisError):
    """A router could not be asked, or refused to answer; the sentence says why."""


@dataclass(frozen=True, slots=True)
class Router:
    """`name` is its id in the topology file, or its address where there is no file. No address: it has no admin."""

    name: str
    address: str | None

    def ask(self, path: str, body: bytes | None = None, **query: object) -> Any:  # noqa: ANN401 - what JSON gives
        """The answer of one page; NoAnswer if there is none."""
        if self.address is None:
            raise NoAnswer(f"{self.name}: it has no `admin` address to ask")
        target = f"{path}?{urlencode(query)}" if query else path
        from tamis.cli.admin_http import asked

        try:
            status, answer = asked(self.address, "GET" if body is None else "POST", target, body)
            form = json.loads(answer)
        except (OSError, ValueError) as error:
            where = "" if self.name == self.address else f"{self.address} "
            raise NoAnswer(f"{self.name}: {where}does not answer: {error}") from None
        if status >= _BAD_REQUEST and isinstance(form, dict) and "error" in form:
            raise NoAnswer(f"{self.name}: {shown(str(form['error']))}")
        return form

    def items(self, path: str, limit: int) -> Iterator[Any]:
        """The items of a page that comes in pieces, `limit` of them at most."""
        cursor: int | None = 0
        while cursor is not None and limit > 0:
            form = self.ask(path, limit=min(limit, _PAGE_ITEMS), cursor=cursor)
            found = form[path.removeprefix("/")]
            yield from found
            limit, cursor = limit - len(found), form["next"]


def routers(target: str | None) -> list[Router]:
    """Those that `target` names; a usage error where it names nothing."""
    if target is None:
        return [Router(DEFAULT, DEFAULT)]
    if Path(target).is_file():
        return _of_file(target)
    address = target.removeprefix("http://").rstrip("/")
    from tamis.cli.admin_http import connection_to

    try:
        connection_to(address)
    except ValueError as error:
        raise click.UsageError(f"{target!r} is no file, and no admin address: {error}") from None
    return [Router(address, address)]


def _of_file(file: str) -> list[Router]:
    with router_extra("topology files"):
        from tamis.configs import load_topology
        from tamis.router.supervisor.state import StateFolder
    try:
        topology = load_topology(file)
        state = StateFolder.of(file).read()
    except TamisError as error:
        raise click.ClickException(str(error)) from None
    found = []
    for router_id, router in topology.routers.items():
        said = state.routers[router_id].admin if state and router_id in state.routers and state.is_up else []
        address = said[0].removeprefix("http://") if said else None if router.admin is None else str(router.admin)
        found.append(Router(router_id, address))
    return found
