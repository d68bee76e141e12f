"""`tamis up`: run all routers of a topology file as supervised processes."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import click

from tamis.cli.extras import router_extra
from tamis.cli.network.strategy_lines import of_file
from tamis.cli.operate.own_router import write_own_file
from tamis.cli.operate.startable import refuse_unstartable
from tamis.protocol.errors import TamisError
from tamis.protocol.strategies import DEFAULT

if TYPE_CHECKING:
    from tamis.router.supervisor.state import NetworkState

_EXAMPLE = """\b
Examples:
  $ tamis up
  a: ready, process 4711, clients tamis://127.0.0.1:7400, admin http://127.0.0.1:7600
  $ tamis up --detach network.yaml
  $ tamis down network.yaml
"""


@click.command("up", epilog=_EXAMPLE)
@click.argument("file", required=False, type=click.Path(exists=True, dir_okay=False))
@click.option(
    "--machine", metavar="LABEL", help="Start only the routers of this machine; needed if FILE has several machines."
)
@click.option("--detach", is_flag=True, help="Return when all are ready and linked, and leave them running.")
@click.option("--insecure", is_flag=True, help="As `tamis router --insecure`, for each router.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line for each change.")
def command(file: str | None, machine: str | None, detach: bool, insecure: bool, as_json: bool) -> int:
    """Start all routers of the topology FILE and keep them running.

    Without FILE, start one router, a, for clients at tamis://127.0.0.1:7400 and administration at
    http://127.0.0.1:7600, without records, with its data in ~/.local/state/tamis (or below XDG_STATE_HOME). `tamis
    example` prints files to begin with.

    The output shows the state of each router, and the strategy and its roots if the strategy is not the default. A
    router that ends is restarted after a pause that doubles from 0.5 to 30 seconds; after 5 ends in a row, each within
    10 seconds of the start, it has failed and is not restarted. Faults that a restart cannot mend (a mistake in FILE, a
    missing certificate) are reported as by `tamis check` before any router is started. Ctrl-C stops all routers; a
    second Ctrl-C does not wait for queues to empty. Logs are written to a folder named on stderr, at most 20 MiB for
    each router: `tamis logs FILE`. For single routers use `tamis restart`, `stop` and `start`.

    The exit code is 0 if all routers stopped gracefully; with --detach, if all are ready and linked.
    """
    with router_extra("routers"):
        from tamis.cli.reach.network_view import view
        from tamis.configs import load_topology
        from tamis.router.supervisor.state import StateFolder
        from tamis.router.supervisor.supervise import keep_up
    file = file or write_own_file()
    _refuse_if_up(file)
    refuse_unstartable(file, machine, insecure, listens=True)
    click.echo(f"logs: {StateFolder.of(file).logs}", err=True)
    summary = load_topology(file, lambda line: click.echo(line, err=True)).summary()
    if summary["strategy"] != DEFAULT.name:
        click.echo(of_file(summary), err=True)
    if detach:
        return _detached(file, machine, insecure, as_json)
    shown = view(as_json)
    try:
        return 0 if keep_up(file, machine, insecure, shown.show) else 1
    except TamisError as error:
        raise click.ClickException(str(error)) from None
    finally:
        shown.close()


def _refuse_if_up(file: str) -> None:
    from tamis.router.supervisor.state import StateFolder, SupervisorError

    folder = StateFolder.of(file)
    try:
        folder.claim()
    except SupervisorError as error:
        raise click.ClickException(f"{file}: {error}") from None
    folder.release()


def _detached(file: str, machine: str | None, insecure: bool, as_json: bool) -> int:
    from tamis.cli.network.linked import wait_until_linked
    from tamis.cli.reach.network_view import view
    from tamis.router.supervisor.life import ProcessState
    from tamis.router.supervisor.state import NetworkState

    command = [sys.executable, "-P", "-m", "tamis.router.supervisor", file, machine or "", str(int(insecure))]
    shown = view(as_json)
    state: NetworkState | None = None
    try:
        with subprocess.Popen(  # noqa: S603 - our own program
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=True
        ) as supervisor:
            assert supervisor.stdout is not None  # noqa: S101 - asked for
            for line in supervisor.stdout:
                state = NetworkState.of(json.loads(line))
                shown.show(state)
            supervisor.returncode = 0  # the supervisor outlives this process, which must not wait for it
    finally:
        shown.close()
    started = state.routers if state is not None else {}
    if not started or any(router.state is not ProcessState.READY for router in started.values()):
        return 1
    missing = wait_until_linked(file, started)
    for sentence in missing:
        click.echo(sentence, err=True)
    return 1 if missing else 0
