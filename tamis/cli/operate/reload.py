"""`tamis reload`: apply a changed topology file to a running network.

Law: nothing changes before the whole file is valid. First routers are stopped and started, then each router reads the
file, and then those that need a restart are restarted one after another, each when the one before is ready and linked:
at most one router is away at a time. A failure ends the command, which then names the remaining routers.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import click

from tamis.cli.extras import router_extra
from tamis.cli.operate.one_router import asked, in_words, kept
from tamis.cli.operate.own_router import file_or_own
from tamis.cli.operate.startable import refuse_unstartable

_EXAMPLE = """\b
Examples:
  $ tamis reload network.yaml
  a: applied the new settings
  b: restarted for links: ready, process 4713, clients tamis://127.0.0.1:7401, admin http://127.0.0.1:7601
  $ tamis reload network.yaml --no-restart
"""


def _file_or_own(context: click.Context, argument: click.Parameter, file: str | None) -> Any:  # noqa: ANN401 - click's
    found = file_or_own(context, argument, file)
    if file is None and not Path(found).exists():
        raise click.UsageError("FILE is missing: give the topology file that changed", context)
    return found


@click.command("reload", epilog=_EXAMPLE)
@click.argument("file", required=False, type=click.Path(exists=True, dir_okay=False), callback=_file_or_own)
@click.option("--no-restart", is_flag=True, help="Apply only changes that need no restart; report the others.")
@click.option("--insecure", is_flag=True, help="As for `tamis up`.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line for each router.")
def command(file: str, no_restart: bool, insecure: bool, as_json: bool) -> int:
    """Have the routers of `tamis up FILE` read FILE again.

    Routers removed from FILE are stopped, new ones are started. Policies, limits, tokens and certificates change while
    routers run. Changes of links, addresses, engine, records and a few limits (docs/reference/daemon.md) need a
    restart: these routers are restarted one after the other, each when the one before is ready and linked. Clients of
    a restarted router connect again.

    Routers of other machines, and those behind one that failed, are named as not reached: they have the old settings,
    and the old access rules.

    If FILE has a mistake, nothing changes. The exit code is 1 in this case, and if a router did not apply the settings,
    is not ready and linked again, or still needs a restart.
    """
    machine = _machine(file)
    refuse_unstartable(file, machine, insecure)
    show = json.dumps if as_json else _text_line
    code = 0
    named: set[str] = set()
    try:
        for line in _reload(file, with_restarts=not no_restart):
            click.echo(show(line))
            named |= {line["router"], *line.get("left", ())}
            if not line["done"]:
                code = 1
                if "need_a_restart" not in line:
                    break
    finally:  # the supervisor may not answer
        for line in _not_reached(file, machine, named):
            click.echo(show(line))
    return code


def _not_reached(file: str, machine: str | None, named: Collection[str]) -> Iterator[dict[str, Any]]:
    """Yield a result for each router of the file that was not asked, as it still has the settings of before."""
    from tamis.configs import load_topology

    for router_id, router in load_topology(file).routers.items():
        if machine is not None and router.machine != machine:
            what = f"not reached, with the old settings: run `tamis reload` on its machine {router.machine}"
        else:
            what = "not reached, with the old settings"
        if router_id not in named:
            yield {"router": router_id, "done": False, "what": what}


def _machine(file: str) -> str | None:
    """Return the machine whose routers the supervisor runs: that of any of them."""
    with router_extra("routers"):
        from tamis.configs import load_topology
        from tamis.protocol.errors import ConfigError
        from tamis.router.supervisor.state import StateFolder
    state = StateFolder.of(file).read()
    try:
        routers = load_topology(file).routers
    except ConfigError:
        return None  # the next step reports its mistakes
    machines = [routers[name].machine for name in (state.routers if state else ()) if name in routers]
    return machines[0] if machines else None


def _reload(file: str, with_restarts: bool) -> Iterator[dict[str, Any]]:
    """Yield the result for each router as it is known; a result other than `done` and waiting is the last."""
    changed = asked("adopt", file)
    for router_id in changed["stopped"]:
        yield {"router": router_id, "done": True, "what": "stopped: removed from the file"}
    for router_id, form in changed["started"].items():
        yield {"router": router_id, "done": form["state"] == "ready", "what": f"started: {in_words(form)}"}
    settled, waiting = set(changed["started"]), {}
    for router_id, state in kept(file).items():
        if router_id in settled:
            continue
        line, keys = _taken(file, router_id, state)
        if keys and with_restarts:
            waiting[router_id] = keys
        else:
            settled.add(router_id)
            yield line
    for router_id, keys in waiting.items():
        settled.add(router_id)
        yield _restarted(file, router_id, keys, settled) | {"left": [name for name in waiting if name not in settled]}


def _taken(file: str, router_id: str, state: str) -> tuple[dict[str, Any], list[str]]:
    """Return the result of a router that read the file, and the keys for which it needs a restart."""
    line: dict[str, Any] = {"router": router_id, "done": True}
    if state == "stopped":
        return line | {"what": "stopped; it reads the file when it starts"}, []
    if state != "ready":
        return line, [f"it was {state}"]
    answer = asked("reload", file, router_id)
    keys = list(answer["need_a_restart"])
    if not answer["reloaded"]:
        return line | {"done": False, "what": f"did not apply the new settings: {answer['reason']}"}, []
    if keys:
        return line | {"done": False, "what": f"needs a restart for {', '.join(keys)}", "need_a_restart": keys}, keys
    return line | {"what": "applied the new settings"}, []


def _restarted(file: str, router_id: str, keys: list[str], settled: set[str]) -> dict[str, Any]:
    """Restart a router, and wait until it is linked with those that run by the new file."""
    from tamis.cli.network.linked import wait_until_linked

    form = asked("restart", file, router_id)
    line = {"router": router_id, "done": False, "what": f"restarted for {', '.join(keys)}: {in_words(form)}"}
    if form["state"] != "ready":
        return line
    missing = wait_until_linked(file, settled)
    return line | {"done": not missing, "missing": missing}


def _text_line(line: dict[str, Any]) -> str:
    text = [f"{line['router']}: {line['what']}", *line.get("missing", ())]
    if not line["done"] and line.get("left"):
        text.append(f"not restarted, with the old settings: {', '.join(line['left'])}")
    return "\n".join(text)
