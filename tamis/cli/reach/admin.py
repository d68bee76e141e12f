"""Requests to the administration of routers, by HTTP over TCP or a Unix socket.

    a topology file          every router in it that has an admin address; that of `tamis up`, where it runs there
    127.0.0.1:7600           one router; also http://127.0.0.1:7600, [::1]:7600 and unix:/run/tamis/a.sock
    tamis://127.0.0.1:7400   where its clients connect, if a context or a `tamis up` of this machine knows both

Law: a router that does not answer is reported; the other routers are still queried.
"""

from __future__ import annotations

import json
import stat
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import urlencode

import click

from tamis.cli.extras import router_extra
from tamis.cli.reach import contexts
from tamis.cli.reach.other_address import SCHEMES, admin_of
from tamis.protocol.errors import TamisError
from tamis.protocol.limits import CREDENTIAL_BYTES_MAX
from tamis.protocol.nearest import did_you_mean
from tamis.protocol.shown import shown

DEFAULT: Final = "127.0.0.1:7600"
_OURS: Final = ("tamis+unix:", "tamis://127.", "tamis://localhost:", "tamis://[::1]:")
"""The beginnings of addresses of this machine."""
VARIABLE: Final = "TAMIS_ADMIN_TOKEN_FILE"
PATIENCE_S: Final = 10.0
_ASK_AGAIN_S: Final = 0.25
_META: Final = "tamis.admin_token"
_PAGE_ITEMS: Final = 500
_TOO_OFTEN: Final = 429
_BAD_REQUEST: Final = 400


Command = TypeVar("Command", bound=Callable[..., Any])


class NoAnswer(TamisError):
    """Raised when a router could not be queried, or refused to answer; the sentence gives the reason."""

    is_refusal = False
    """Whether the router refused to answer."""


class RefusedByRouter(NoAnswer):
    """Raised when a router refused to answer."""

    is_refusal = True


@dataclass(frozen=True, slots=True)
class AdminTarget:
    """One router to query. `name` is its id in the topology file, or its address without a file. A router without an
    address has no administration. `token` authenticates the requests."""

    name: str
    address: str | None
    token: str | None = None

    def ask(self, path: str, body: bytes | None = None, **query: object) -> Any:  # noqa: ANN401 - what JSON gives
        """Return one page; NoAnswer if there is no answer."""
        if self.address is None:
            raise NoAnswer(f"{self.name}: no `admin` address")
        target = f"{path}?{urlencode(query)}" if query else path
        try:
            status, answer = self._asked(self.address, "GET" if body is None else "POST", target, body)
            form = json.loads(answer)
        except (OSError, ValueError) as error:
            where = "" if self.name == self.address else f"{self.address} "
            raise NoAnswer(
                f"{self.name}: {where}does not answer: {getattr(error, 'strerror', None) or error}"
            ) from None
        if status >= _BAD_REQUEST and isinstance(form, dict) and "error" in form:
            raise RefusedByRouter(f"{self.name}: {shown(str(form['error']))}")
        return form

    def _asked(self, address: str, method: str, target: str, body: bytes | None) -> tuple[int, bytes]:
        """Return the answer; retry for a while if the router reports too many requests."""
        from tamis.cli.reach.admin_http import asked

        end_s = time.monotonic() + PATIENCE_S
        headers = {} if self.token is None else {"Authorization": f"Bearer {self.token}"}
        status, answer = asked(address, method, target, body, headers)
        while status == _TOO_OFTEN and time.monotonic() < end_s:
            time.sleep(_ASK_AGAIN_S)
            status, answer = asked(address, method, target, body, headers)
        return status, answer

    def items(self, path: str, limit: int) -> Iterator[Any]:
        """Return the items of a paged list, at most `limit`."""
        cursor: int | None = 0
        while cursor is not None and limit > 0:
            form = self.ask(path, limit=min(limit, _PAGE_ITEMS), cursor=cursor)
            found = form[path.rpartition("/")[2]]
            yield from found
            limit, cursor = limit - len(found), form["next"]


def routers(target: str | None) -> list[AdminTarget]:
    """Return the routers that `target` names; a usage error if it names none."""
    if target is None:
        target = _unsaid()
    if target.startswith(SCHEMES):
        target = admin_of(target)
    if Path(target).is_file():
        return _of_file(target)
    address = target.removeprefix("http://").rstrip("/")
    from tamis.cli.reach.admin_http import connection_to

    try:
        connection_to(address)
    except ValueError as error:
        raise click.UsageError(f"{target!r} is neither a file nor an admin address: {error}") from None
    return [AdminTarget(address, address, _told_token(target))]


def routers_called(target: str | None, names: Collection[str]) -> list[AdminTarget]:
    """Return those routers of `target` that have one of `names`, or all if no name is given; a usage error for an
    unknown name."""
    found = routers(target)
    known = [router.name for router in found]
    for name in names:
        if name not in known:
            raise click.UsageError(f"no router {name!r}{did_you_mean(name, known)}; the routers are {', '.join(known)}")
    return [router for router in found if not names or router.name in names]


def _unsaid() -> str:
    """Return the default target: that of TAMIS_ADMIN, that of the context in use, or the administration that belongs to
    the first client address. For an unknown address of this machine it is the default address."""
    told = contexts.variable("admin") or (contexts.present().admin if contexts.variable("url") is None else None)
    addresses = contexts.urls()
    if told is not None or not addresses:
        return told or DEFAULT
    try:
        return admin_of(addresses[0])
    except click.UsageError:
        if addresses[0].startswith(_OURS):
            return DEFAULT
        raise


def _of_file(file: str) -> list[AdminTarget]:
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
        found.append(AdminTarget(router_id, address, _told_token(file) or _token_of(router.admin_token)))
    return found


# --- tokens ----------------------------------------------------------------------------------------------------------


def admin_token_option(command: Command) -> Command:
    """Add the option that sets the token for administration."""
    return click.option(
        "--admin-token-file",
        type=click.Path(exists=True, dir_okay=False),
        metavar="FILE",
        envvar=VARIABLE,
        expose_value=False,
        callback=_durable_token,
        help=f"A file with the token of administration, mode 0600; also {VARIABLE}. A topology file names its own.",
    )(command)


def _durable_token(context: click.Context, _: click.Parameter, file: str | None) -> None:
    if file is not None:
        context.meta[_META] = private_word(Path(file))


def _told_token(target: str | None = None) -> str | None:
    """Return the given token, or that of the context in use if `target` is its administration."""
    context = click.get_current_context(silent=True)
    told = None if context is None else context.meta.get(_META)
    kept = contexts.present()
    if told is None and target is not None and target == kept.admin and kept.admin_token_file is not None:
        return private_word(Path(kept.admin_token_file))
    return told


def _token_of(file: str | None) -> str | None:
    """Return the token if this user may read it; a router on another machine has a token of its own."""
    try:
        return None if file is None else Path(file).read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return None


def private_word(path: Path) -> str:
    """Return the single word in a private file; a usage error if the file is not private, or has other content."""
    if stat.S_IMODE(path.stat().st_mode) & 0o077:
        raise click.UsageError(f"{path}: readable by others; the token must be private: chmod 600 {path}")
    words = path.read_bytes().split()
    if len(words) != 1:
        raise click.UsageError(f"{path}: a token file holds one word, the token, not {len(words)}")
    word = words[0].decode("ascii", errors="replace")
    if not word.isascii() or len(word) > CREDENTIAL_BYTES_MAX:
        raise click.UsageError(f"{path}: a token has at most {CREDENTIAL_BYTES_MAX:,} ASCII characters")
    return word
