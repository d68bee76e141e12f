"""`tamis restart`, `stop` and `start`: act on one of the routers that `tamis up` supervises.

Law: the supervisor performs the action, which keeps its state correct; other routers are not touched.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from tamis.cli.extras import router_extra
from tamis.protocol.errors import TamisError

START_S = 60.0
"""Seconds within which a router is ready or has failed: five starts and the pauses between them take less."""


def do(what: str, file: str, router_id: str, as_json: bool) -> int:
    """Make the supervisor of `file` perform `what` on a router; return the exit code."""
    answer = asked(what, file, router_id)
    click.echo(json.dumps(answer) if as_json else f"{router_id}: {in_words(answer)}")
    return 0 if answer["state"] in ("ready", "stopped") else 1


def asked(what: str, file: str, router_id: str = "") -> dict[str, Any]:
    """Return the supervisor's answer; a ClickException if there is none."""
    with router_extra("routers"):
        from tamis.router.supervisor.control import ask
        from tamis.router.supervisor.state import StateFolder
    folder = StateFolder.of(file)
    try:
        state = folder.read()
        patience_s = START_S + (0.0 if state is None else state.stop_s)
        return ask(folder, {"do": what, "router": router_id}, patience_s)
    except TamisError as error:
        missing = "" if Path(file).exists() else "no such file, and "
        raise click.ClickException(f"{file}: {missing}{error}") from None


def kept(file: str) -> Mapping[str, str]:
    """Return the state of each router that the supervisor of `file` runs now."""
    with router_extra("routers"):
        from tamis.router.supervisor.state import StateFolder
    state = StateFolder.of(file).read()
    return {} if state is None else {router_id: str(router.state) for router_id, router in state.routers.items()}


def in_words(answer: dict[str, Any]) -> str:
    """Return the text for the state of a router in the supervisor's answer."""
    from tamis.cli.reach.network_view import in_words as router_in_words
    from tamis.router.supervisor.life import ProcessState
    from tamis.router.supervisor.state import RouterState

    fields = {key: value for key, value in answer.items() if key != "router"}
    return router_in_words(RouterState(**fields | {"state": ProcessState(fields["state"])}))
