"""The check whether the routers of a topology file would start on this machine, for `check`, `up` and `reload`.

Law: anything that would stop a router at every start is found before a router is started. Each reason is one sentence,
after the routers that it concerns.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

import click

from tamis.cli.extras import router_extra
from tamis.protocol.errors import ConfigError


def unstartable(file: str, machine: str | None, is_insecure: bool, *, listens: bool = False) -> list[str]:
    """Return the reasons, those in the file first: if there are any, nothing else is checked. Without `machine` the
    routers of all machines are checked if there is one machine, and none if there are several. `listens`: the routers
    are about to start, so their addresses must be free."""
    with router_extra("routers"):
        from tamis.configs import load_topology
        from tamis.configs.access.load import load_access
        from tamis.configs.load import PlacesInFile
        from tamis.router.daemon.start import start_problems, taken_addresses
    try:
        topology = load_topology(file)
        rules = load_access(file).rules if topology.access is not None else None
    except ConfigError as error:
        return list(error.mistakes)
    chosen = machines_of(topology) if machine is None else [machine]
    if len(chosen) > 1:
        return []
    places = PlacesInFile(file)
    found: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for router_id, router in topology.routers.items():
        if router.machine in chosen:
            settings = replace(topology.router(router_id), access=rules)
            problems = start_problems(settings, is_insecure) + (taken_addresses(settings) if listens else [])
            for problem in problems:
                found[places.of(router_id, problem.keys), problem.what].append(router_id)
    return [f"{place}: {_named(names)}: {problem}" for (place, problem), names in found.items()]


def machines_of(topology: object) -> list[str]:
    """Return the machines that a topology names."""
    routers = topology.routers.values()  # type: ignore[attr-defined]
    return sorted({router.machine for router in routers})


def refuse_unstartable(file: str, machine: str | None, is_insecure: bool, *, listens: bool = False) -> None:
    """Print the reasons why routers of a file would not start, and end with exit code 1 if there are any."""
    problems = unstartable(file, machine, is_insecure, listens=listens)
    if problems:
        click.echo("\n".join(problems), err=True)
        raise click.exceptions.Exit(1)


def _named(names: Sequence[str]) -> str:
    shown = ", ".join(names[:5])
    return shown if len(names) <= 5 else f"{shown} and {len(names) - 5} more"
