"""A compose file for a topology, with a service for each router.

Law: the file is valid for docker-compose 1.29 and compose 2: no top-level `name`, no `configs`, limits on the service
itself. The part above the line `OWN_SERVICES` is printed from the topology, again whenever that changes; the part below
belongs to its author and stays.
"""

from __future__ import annotations

import os
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from tamis.configs.containers import (
    CONFIG,
    DATA,
    KEPT,
    RECORDS,
    Container,
    Mount,
    containers,
    has_log_volume,
    in_containers,
)
from tamis.configs.topology import Topology
from tamis.protocol.errors import ConfigError

OWN_SERVICES: Final = "  # Below this line are services of your own, which `tamis compose -o` leaves as they are."
_NETWORK: Final = f"{CONFIG}/network.yaml"
_MIB: Final = 1024 * 1024
_PROGRAM_BYTES: Final = 256 * _MIB
"""Memory of the interpreter and of routing, besides `limits.memory_bytes`."""
_SPARE_DESCRIPTORS: Final = 256
_SPARE_S: Final = 5
"""Seconds that a draining router needs at most after `limits.handover_ms` and `limits.drain_ms`."""
_CHECK_EVERY_S: Final = 5
_CHECKS_PER_S_MAX: Final = 4
"""Most health checks a second of all routers together: each starts Python, a tenth of a second of CPU."""
_IMAGE: Final = {"image": "${TAMIS_IMAGE:-tamis}"}
_CONFINED: Final[dict[str, Any]] = {
    "init": True,
    "read_only": True,
    "cap_drop": ["ALL"],
    "security_opt": ["no-new-privileges:true"],
    "pids_limit": 128,
    "cpus": 1.0,
    "restart": "on-failure",
    "logging": {"driver": "json-file", "options": {"max-size": "10m", "max-file": "2"}},
}


@dataclass(frozen=True, slots=True)
class Files:
    """Contents of the compose file and of the topology file beside it, which it mounts."""

    compose: str
    topology: str


def compose_files(topology: Topology, source: str, out: Path, build: str | None = None) -> Files:
    """Return the contents of `out` and `beside(out)`. `source`: the topology file; `build`: the folder of the
    Dockerfile."""
    found = containers(topology)
    told = f"# Printed by `tamis compose {source}{f' --build {build}' if build else ''} -o {out.name}`"
    image = _IMAGE | ({"build": build} if build else {})
    mounts = [f"./{beside(out).name}:{_NETWORK}:ro", f"data:{DATA}", f"records:{RECORDS}"]
    volumes: dict[str, Any] = {"data": {}, "records": {}}
    if any(has_log_volume(container.settings) for container in found):
        mounts.append(f"kept:{KEPT}")
        volumes["kept"] = {}
    parts = [
        f"{told}.\n# Change that file instead, and print again. Start: docker compose up. See docs/how-to/compose.md\n",
        _block("x-confined: &confined", _CONFINED),
        _block("x-tamis: &tamis", image, base="confined"),
        _block("x-router: &router", {"volumes": mounts, "healthcheck": _health_check(len(found))}, base="tamis"),
        _block("volumes:", volumes),
        "services:",
        *(textwrap.indent(_service(container, mounts, out.parent), "  ") for container in found),
        OWN_SERVICES,
    ]
    shared = f"{told}.\n# Mounted in each container as {_NETWORK}.\n{_yaml(in_containers(topology))}"
    return Files("\n".join(parts) + "\n", shared)


def beside(out: Path) -> Path:
    """Return the path of the topology file for the containers of the compose file `out`."""
    return out.with_name(f"{out.stem}.topology.yaml")


def write_files(files: Files, out: Path) -> None:
    """Write `files` to `out` and beside it. Services that its author added to `out` stay. Raise ConfigError if `out`
    was not written by this function."""
    own = ""
    if out.exists():
        _, mark, own = out.read_text().partition(f"{OWN_SERVICES}\n")
        if not mark:
            raise ConfigError([f"{out}: exists and was not written by tamis compose; name another file"])
    out.write_text(files.compose + own)
    beside(out).write_text(files.topology)


def _health_check(routers: int) -> dict[str, Any]:
    interval_s = max(_CHECK_EVERY_S, routers // _CHECKS_PER_S_MAX)
    return {"test": ["CMD", "tamis", "status"], "interval": f"{interval_s}s", "timeout": "5s", "start_period": "30s"}


def _service(container: Container, mounts: list[str], folder: Path) -> str:
    settings, limits = container.settings, container.settings.limits
    descriptors = limits.connections + _SPARE_DESCRIPTORS
    body: dict[str, Any] = {
        "command": ["router", "--topology", _NETWORK, "--id", settings.id, "--insecure"],
        "mem_limit": f"{(limits.memory_bytes + _PROGRAM_BYTES) // _MIB}m",
        "ulimits": {"nofile": {"soft": descriptors, "hard": descriptors}},
        "stop_grace_period": f"{limits.stop_ms // 1000 + _SPARE_S}s",
    }
    if container.ports:
        body["ports"] = list(container.ports)
    if container.mounts:
        body["volumes"] = mounts + [_mounted(mount, folder) for mount in container.mounts]
    if container.user:
        body["user"] = container.user
    return _block(f"{container.service}:", body, base="router")


def _mounted(mount: Mount, folder: Path) -> str:
    source = os.path.relpath(mount.source, folder)
    path = source if source.startswith("..") else f"./{source}"
    return f"{path}:{mount.target}:ro".replace("$", "$$")  # compose substitutes a variable after a single `$`


def _block(head: str, body: dict[str, Any], base: str = "") -> str:
    merged = f"<<: *{base}\n" if base else ""
    return f"{head}\n{textwrap.indent(merged + _yaml(body), '  ')}"


def _yaml(form: dict[str, Any]) -> str:
    """Return `form` as YAML. Lists and mappings without nested ones are on one line, except `form` itself."""
    is_flat = not any(isinstance(value, dict | list) for value in form.values())
    return yaml.safe_dump(form, sort_keys=False, default_flow_style=False if is_flat else None, width=120)
