"""The display of the routers of `tamis up`.

Law: a terminal shows one table that changes in place; other outputs get one line for each change, in order.
"""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

import click

from tamis.router.daemon.exit_codes import CANNOT_START
from tamis.router.supervisor.life import ProcessState
from tamis.router.supervisor.state import NetworkState, RouterState

if TYPE_CHECKING:
    from rich.table import Table

_STYLES = {
    ProcessState.STARTING: "yellow",
    ProcessState.READY: "green",
    ProcessState.RESTARTING: "yellow",
    ProcessState.STOPPING: "yellow",
    ProcessState.STOPPED: "",
    ProcessState.FAILED: "bold red",
}


class NetworkDisplay(Protocol):
    def show(self, state: NetworkState) -> None: ...

    def close(self) -> None: ...


def view(as_json: bool) -> NetworkDisplay:
    return TableDisplay() if sys.stdout.isatty() and not as_json else LinesView(as_json)


class LinesView:
    def __init__(self, as_json: bool) -> None:
        self._as_json = as_json
        self._shown: dict[str, str] = {}

    def show(self, state: NetworkState) -> None:
        for router_id, router in state.routers.items():
            line = _json_line(router_id, router) if self._as_json else f"{router_id}: {in_words(router)}"
            is_to_come = router.state is ProcessState.STARTING and router.pid is None
            if self._shown.get(router_id) != line and not is_to_come:
                self._shown[router_id] = line
                click.echo(line)
        sys.stdout.flush()

    def close(self) -> None:
        pass


class TableDisplay:
    def __init__(self) -> None:
        from rich.live import Live

        self._live = Live(auto_refresh=False)
        self._live.start()

    def show(self, state: NetworkState) -> None:
        self._live.update(_table(state), refresh=True)

    def close(self) -> None:
        self._live.stop()


def _table(state: NetworkState) -> Table:
    from rich.markup import escape
    from rich.table import Table

    table = Table("router", "state", "process", "restarts", "where")
    for router_id, router in state.routers.items():
        style = _STYLES[router.state]
        word = f"[{style}]{router.state}[/]" if style else str(router.state)
        pid = "" if router.pid is None else str(router.pid)
        table.add_row(router_id, word, pid, str(router.restarts), escape(_where(router)))
    return table


def in_words(router: RouterState) -> str:
    """Return the state of a router in one line."""
    process = "" if router.pid is None else f", process {router.pid}"
    where = _where(router)
    return f"{router.state}{process}{f', {where}' if where else ''}"


def _where(router: RouterState) -> str:
    """Return the address of a ready router, or the reason why it is not running."""
    if router.state is ProcessState.READY:
        return ", ".join(_places(router))
    if router.state is ProcessState.RESTARTING:
        return f"next start in {router.pause_s:g} s; it {ending(router)}"
    if router.state is ProcessState.FAILED:
        if router.exit_code == CANNOT_START:
            return f"cannot start: {router.last_words or 'see its log'}"
        return f"{router.restarts + 1} failed starts in a row; the last process {ending(router)}"
    return ""


def ending(router: RouterState) -> str:
    """Return how the last process of a router ended, as text."""
    how = _how(router.exit_code)
    return f"{how}: {router.last_words}" if router.last_words else how


def _how(exit_code: int | None) -> str:
    if exit_code is None or exit_code >= 0:
        return f"ended with exit code {exit_code}"
    try:
        return f"was killed by {signal.Signals(-exit_code).name}"
    except ValueError:
        return f"was killed by signal {-exit_code}"


def _places(router: RouterState) -> Iterator[str]:
    for purpose, addresses in (("clients", router.clients), ("admin", router.admin)):
        if addresses:
            yield f"{purpose} {' '.join(addresses)}"


def _json_line(router_id: str, router: RouterState) -> str:
    form = router.form()
    del form["started"], form["last_words"]
    return json.dumps({"router": router_id} | form)
