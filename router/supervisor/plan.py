"""The processes that a topology file requires on this machine."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from tamis.configs.load import load_topology
from tamis.configs.topology import Topology
from tamis.router.supervisor.state import SupervisorError

STOP_GRACE_S = 5.0
"""Seconds that a router may take to stop beyond the time that its queues have to empty."""


@dataclass(frozen=True, slots=True)
class Task:
    """One process to supervise. It is killed if it has not ended `stop_s` seconds after the request to stop."""

    command: tuple[str, ...]
    stop_s: float


def plan(file: str | Path, machine: str | None, is_insecure: bool) -> dict[str, Task]:
    """Return the tasks by router id; ConfigError or SupervisorError if the file has mistakes or does not contain the
    machine."""
    topology = load_topology(file)
    chosen = _machine(topology, machine)
    command = (*router_command(file), *(["--insecure"] if is_insecure else []))
    return {
        router_id: Task((*command, "--id", router_id), topology.router(router_id).limits.stop_ms / 1000 + STOP_GRACE_S)
        for router_id, router in topology.routers.items()
        if router.machine == chosen
    }


def router_command(file: str | Path) -> tuple[str, ...]:
    """Return the command that starts a router of a topology file; `--id` and its id follow. The router reports its
    addresses in JSON."""
    # -P: the working folder may contain any module, even one named `tamis`.
    return (
        *(sys.executable, "-P", "-m", "tamis.cli.main", "router", "--json-logs"),
        *("--topology", str(Path(file).resolve())),
    )


def _machine(topology: Topology, machine: str | None) -> str:
    machines = sorted({router.machine for router in topology.routers.values()})
    if machine is None and len(machines) == 1:
        return machines[0]
    if machine not in machines:
        wrong = "" if machine is None else f", not {machine!r}"
        raise SupervisorError(f"choose the machine whose routers start with --machine: {', '.join(machines)}{wrong}")
    return machine
