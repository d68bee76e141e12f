"""`tamis restart`, `stop` and `start`: one router of those that `tamis up` keeps.

Law: the supervisor does it, so that it knows what it keeps; the other routers are left alone.
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
    """Have the supervisor of `file` do `what` with a router; return the exit code."""
    answer = asked(what, file, router_id)
    click.echo(json.dumps(answer) if as_json else f"{router_id}: {in_words(answer)}")
    return 0 if answer["state"] in ("ready", "stopped") else 1


def asked(what: str, file: str, router_id: str = "") -> dict[str, Any]:
    """Return the supervisor's answer; a ClickException where it has none."""
    with router_extra("routers"):
        from tamis.router.supervisor.control import ask
        from tamis.router.supervisor.state import StateFolder
    folder = StateFolder.of(file)
    try:
        state = folder.read()
        patience_s = START_S + (0.0 if state is None else state.stop_s)
        return ask(folder, {"do": what, "router": router_id}, patience_s)
    except TamisError as error:
        missing = "" if Path(file).exists() else "there is no such file, and "
        raise click.ClickException(f"{file}: {missing}{error}") from None


def kept(file: str) -> Mapping[str, str]:
    """Return the state of each router that the supervisor of `file` keeps now."""
    with router_extra("routers"):
        from tamis.router.supervisor.state import StateFolder
    state = StateFolder.of(file).read()
    return {} if state is None else {router_id: str(router.state) for router_id, router in state.routers.items()}


def in_words(answer: dict[str, Any]) -> str:
    """The state of a router as the supervisor's answer has it."""
    from tamis.cli.reach.network_view import in_words as router_in_words
    from tamis.router.supervisor.life import ProcessState
    from tamis.router.supervisor.state import RouterState

    fields = {key: value for key, value in answer.items() if key != "router"}
    return router_in_words(RouterState(**fields | {"state": ProcessState(fields["state"])}))
