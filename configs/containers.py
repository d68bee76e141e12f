"""A topology in containers on one machine: its network with the addresses and paths of containers.

Law: all containers use equal ports and file paths, and each router is reached by the name of its service. Nothing else
of the topology changes. A port is published to this machine alone, unless the topology listens on every interface and
clients need tokens.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tamis.configs.settings import RouterSettings
from tamis.configs.topology import Topology
from tamis.protocol.errors import ConfigError

CLIENTS_PORT: Final = 7400
NEIGHBOURS_PORT: Final = 7500
ADMIN_PORT: Final = 7600
"""The default port of `tamis status`, so that the health check of the image needs no arguments."""
CONFIG: Final = "/etc/tamis"
DATA: Final = "/var/lib/tamis"
RECORDS: Final = "/var/log/tamis"
KEPT: Final = "/var/spool/tamis"
_EVERYWHERE: Final = "0.0.0.0"  # noqa: S104 - every interface of a container
_HOST_NAME: Final = re.compile("[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?")
_SHORT: Final = 50
"""Characters of an id in a generated name, which has at most 63."""
_IS_PRIVATE: Final = {
    ("", "tokens"): True,
    ("", "admin_token"): True,
    ("tls", "certificate"): False,
    ("tls", "key"): True,
    ("tls", "ca"): False,
    ("tls", "revoked"): False,
    ("neighbour_tls", "certificate"): False,
    ("neighbour_tls", "key"): True,
    ("neighbour_tls", "ca"): False,
    ("neighbour_tls", "revoked"): False,
}
"""The files in the settings of a network or a router: section ("" for itself) and key, to whether the file is
private."""


@dataclass(frozen=True, slots=True)
class Mount:
    """A file of this machine, mounted read-only in a container. Only its owner may read a private one."""

    source: str
    target: str
    is_private: bool


@dataclass(frozen=True, slots=True)
class Container:
    """A router in a container. `ports`: published ports in the form of compose; `user`: owner of the private files, ""
    for the user of the image."""

    service: str
    settings: RouterSettings
    ports: tuple[str, ...]
    mounts: tuple[Mount, ...]
    user: str


def containers(topology: Topology) -> list[Container]:
    """Return a container for each router, in the order of the file. Raise ConfigError if a container could not read its
    private files."""
    services = service_names(list(topology.routers))
    taken: set[int] = set()
    found = []
    for router_id, service in services.items():
        settings = topology.router(router_id)
        mounts = tuple(mounts_of(topology, settings))
        user = _owner([mount.source for mount in mounts if mount.is_private])
        found.append(Container(service, settings, tuple(_ports(settings, taken)), mounts, user))
    return found


def in_containers(topology: Topology, names: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return the topology file that all containers share. `names`: router id to host name; None for the names of
    services in a compose file."""
    rules = topology.access
    if isinstance(rules, str) or (rules and (rules.get("principals_file") or rules.get("issuers"))):
        raise ConfigError(["access: routers in containers need all rules in the topology file itself, and no issuers"])
    names = service_names(list(topology.routers)) if names is None else names
    form = topology.model_dump(mode="json", exclude_unset=True)
    _with_paths(form)
    form["data"] = DATA
    if isinstance(form.get("durable"), dict):
        form["durable"]["folder"] = KEPT
    for router_id, service in names.items():
        form["routers"][router_id] = _router_form(form["routers"][router_id], topology.router(router_id), service)
    for index, link in enumerate(form.get("links", ())):
        if "secret" in link:
            link["secret"] = _secret_target(index)
    return form


def has_log_volume(settings: RouterSettings) -> bool:
    """Return whether the log of a router has a volume of its own; a log by default is in the volume of `data`."""
    return settings.durable is not None and not settings.durable.is_by_default


def service_names(router_ids: list[str]) -> dict[str, str]:
    """Return router id to host name, in lower case and with the characters that host names allow, each one unique."""
    names: dict[str, str] = {}
    taken: set[str] = set()
    for router_id in router_ids:
        plain = re.sub("[^a-z0-9]+", "-", router_id.lower()).strip("-")
        is_name = _HOST_NAME.fullmatch(plain) and plain != "localhost"
        name = base = plain if is_name else f"router-{plain[:_SHORT]}".strip("-")
        number = 2
        while name in taken:
            number, name = number + 1, f"{base[:_SHORT]}-{number}"
        taken.add(name)
        names[router_id] = name
    return names


def _router_form(written: dict[str, Any], settings: RouterSettings, service: str) -> dict[str, Any]:
    kept = {key: value for key, value in written.items() if key not in ("data", "neighbours", "reached_at")}
    _with_paths(kept)
    if isinstance(kept.get("durable"), dict):
        kept["durable"]["folder"] = f"{KEPT}/{service}"
    kept |= {"clients": f"{_EVERYWHERE}:{CLIENTS_PORT}", "admin": f"{_EVERYWHERE}:{ADMIN_PORT}", "machine": service}
    kept["admin_names"] = list(dict.fromkeys([service, "127.0.0.1", "localhost", *kept.get("admin_names", ())]))
    if settings.dial:
        kept |= {"neighbours": f"{_EVERYWHERE}:{NEIGHBOURS_PORT}", "reached_at": f"{service}:{NEIGHBOURS_PORT}"}
    return kept


def _with_paths(written: dict[str, Any]) -> None:
    """Replace the files and folders in `written`, a network or a router, by their paths in containers."""
    for section, key in _IS_PRIVATE:
        inner = written.get(section) if section else written
        if inner and inner.get(key):
            inner[key] = _target(section, key)
    if "records" in written:
        written["records"]["folder"] = RECORDS


def _target(section: str, key: str) -> str:
    return f"{CONFIG}/{section}.{key}" if section else f"{CONFIG}/{key}"


def _secret_target(index: int) -> str:
    return f"{CONFIG}/links.{index}.secret"


def mounts_of(topology: Topology, settings: RouterSettings) -> Iterator[Mount]:
    """Yield the files that a router reads, with their paths in its container."""
    for (section, key), is_private in _IS_PRIVATE.items():
        inner = getattr(settings, section) if section else settings
        if inner and (source := getattr(inner, key)):
            yield Mount(source, _target(section, key), is_private)
    for index, link in enumerate(topology.links):
        if link.secret and settings.id in link.ends:
            yield Mount(link.secret, _secret_target(index), is_private=True)


def _owner(files: list[str]) -> str:
    """Return the owner of the private files, "" if there are none. The container runs as that user, because routers
    refuse private files that others may read."""
    owners: dict[tuple[int, int], str] = {}
    for file in files:
        try:
            status = Path(file).stat()
        except OSError as error:
            raise ConfigError([f"{file}: {error.strerror}"]) from error
        owners.setdefault((status.st_uid, status.st_gid), file)
    if len(owners) > 1:
        raise ConfigError(
            [f"{' and '.join(owners.values())} have different owners; the private files of a container need one owner"]
        )
    for (user, group), file in owners.items():
        if user == 0:
            raise ConfigError([f"{file}: belongs to root, and no container runs as root: chown 10001:10001 {file}"])
        return f"{user}:{group}"
    return ""


def _ports(settings: RouterSettings, taken: set[int]) -> Iterator[str]:
    """Yield the ports to publish: a port of the topology unless it is 0 or another router has it, else one that the
    container engine picks."""
    for address in settings.clients:
        if address.kind == "tcp":
            is_open = address.wildcard and (settings.tokens is not None or settings.has_access)
            yield _published(address.port, CLIENTS_PORT, taken, "" if is_open else "127.0.0.1:")
    if settings.admin and settings.admin.kind == "tcp":
        yield _published(settings.admin.port, ADMIN_PORT, taken, "127.0.0.1:")


def _published(wanted: int, port: int, taken: set[int], host: str) -> str:
    is_free = wanted != 0 and wanted not in taken
    taken.add(wanted)
    if is_free:
        return f"{host}{wanted}:{port}"
    return f"{host}:{port}" if host else str(port)
