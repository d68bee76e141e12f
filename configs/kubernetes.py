"""Manifests of Kubernetes for a topology: a StatefulSet of one pod for each router, and a Service with its name.

Law: the pods satisfy the strictest level of the Pod Security Standards. No manifest has a secret: files that a router
reads are in Secrets that the user makes, and the first lines have the commands. Equal topologies give equal manifests.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any, Final

import yaml

from tamis.configs.containers import (
    ADMIN_PORT,
    CLIENTS_PORT,
    CONFIG,
    DATA,
    KEPT,
    NEIGHBOURS_PORT,
    RECORDS,
    Mount,
    has_log_volume,
    in_containers,
    mounts_of,
    service_names,
)
from tamis.configs.settings import RouterSettings
from tamis.configs.topology import Topology

USER: Final = 10001
"""User id of the image."""
_MIB: Final = 1024 * 1024
_PROGRAM_BYTES: Final = 256 * _MIB
"""Memory of the interpreter and of routing, besides `limits.memory_bytes`."""
_DATA_BYTES: Final = 1024 * _MIB
_SPARE_S: Final = 5
"""Seconds that a draining router needs at most after `limits.handover_ms` and `limits.drain_ms`."""
_TOPOLOGY: Final = f"{CONFIG}/topology"
_GIVEN: Final = f"{CONFIG}-given"
"""Mount path of Secrets, which the pod's group may read; routers refuse such files, so an init container copies
them."""
_PORTS: Final = {"clients": CLIENTS_PORT, "neighbours": NEIGHBOURS_PORT, "admin": ADMIN_PORT}
CLIENT_LABEL: Final = "tamis.network/client"
"""Pods with this label may reach administration, and the ports of clients if these need no tokens."""

Manifest = dict[str, Any]


def manifests(topology: Topology, image: str) -> str:
    """Return all manifests of the topology as one YAML stream. `image`: name of the image of this project."""
    [network] = service_names([topology.name]).values()
    own = service_names([f"{network}-{id_}" for id_ in topology.routers]).values()
    hosts = dict(zip(topology.routers, own, strict=True))
    routers = {hosts[id_]: topology.router(id_) for id_ in topology.routers}
    mounts = {host: tuple(mounts_of(topology, settings)) for host, settings in routers.items()}
    found: list[Manifest] = [
        _manifest("v1", "ConfigMap", f"{network}-topology", network)
        | {"data": {"network.yaml": _yaml(in_containers(topology, hosts))}},
        _all_clients(network),
        _budget(network),
        _policy(network, is_open=all(settings.tokens or settings.has_access for settings in routers.values())),
    ]
    for host, settings in routers.items():
        found += [_service(host, network), _stateful_set(host, network, settings, mounts[host], image)]
    return "\n".join(_secrets_wanted(mounts)) + "---\n" + "---\n".join(map(_yaml, found))


def _secrets_wanted(mounts: dict[str, tuple[Mount, ...]]) -> Iterator[str]:
    """Yield the lines of the comment above the manifests."""
    yield "# Printed by `tamis kubernetes`. Change the topology file instead, and print again."
    commands = []
    for host, files in mounts.items():
        if files:
            froms = " ".join(f"--from-file={PurePosixPath(file.target).name}={file.source}" for file in files)
            commands.append(f"#   kubectl create secret generic {host}-files {froms}")
    if commands:
        yield "# Create these Secrets first:"
        yield from commands
    yield ""


# --- of the network --------------------------------------------------------------------------------------------------


def _manifest(version: str, kind: str, name: str, network: str, **labels: str) -> Manifest:
    return {
        "apiVersion": version,
        "kind": kind,
        "metadata": {"name": name, "labels": _labels(network) | labels},
    }


def _labels(network: str) -> dict[str, str]:
    return {"app.kubernetes.io/name": "tamis", "app.kubernetes.io/instance": network}


def _all_clients(network: str) -> Manifest:
    """Return the Service for clients, which leads to any ready router."""
    spec = {"selector": _labels(network), "ports": [_port("clients")]}
    return _manifest("v1", "Service", network, network) | {"spec": spec}


def _budget(network: str) -> Manifest:
    """Return the PodDisruptionBudget, by which nodes are drained one router at a time."""
    spec = {"maxUnavailable": 1, "selector": {"matchLabels": _labels(network)}}
    return _manifest("policy/v1", "PodDisruptionBudget", network, network) | {"spec": spec}


def _policy(network: str, *, is_open: bool) -> Manifest:
    """Return the NetworkPolicy. Only routers reach the ports of neighbours. Pods with CLIENT_LABEL reach administration
    and the ports of clients; with `is_open` any pod reaches the latter."""
    routers = [{"podSelector": {"matchLabels": _labels(network)}}]
    labelled = [{"podSelector": {"matchLabels": {CLIENT_LABEL: network}}}]
    clients: Manifest = {"ports": [_reached("clients")]}
    ingress = [
        clients if is_open else clients | {"from": labelled},
        {"ports": [_reached("neighbours")], "from": routers},
        {"ports": [_reached("admin")], "from": labelled},
    ]
    spec = {"podSelector": {"matchLabels": _labels(network)}, "policyTypes": ["Ingress"], "ingress": ingress}
    return _manifest("networking.k8s.io/v1", "NetworkPolicy", network, network) | {"spec": spec}


def _port(name: str) -> dict[str, Any]:
    return {"name": name, "port": _PORTS[name], "targetPort": name}


def _reached(name: str) -> dict[str, Any]:
    return {"port": _PORTS[name], "protocol": "TCP"}


# --- of a router -----------------------------------------------------------------------------------------------------


def _service(host: str, network: str) -> Manifest:
    """Return the Service of one router. It also leads to a router that is not ready: a router becomes ready when its
    links are in step, for which neighbours must dial it."""
    spec = {
        "clusterIP": "None",
        "publishNotReadyAddresses": True,
        "selector": _labels(network) | {"tamis.network/router": host},
        "ports": [_port(name) for name in _PORTS],
    }
    return _manifest("v1", "Service", host, network, **{"tamis.network/router": host}) | {"spec": spec}


def _stateful_set(host: str, network: str, settings: RouterSettings, mounts: tuple[Mount, ...], image: str) -> Manifest:
    labels = _labels(network) | {"tamis.network/router": host}
    pod: Manifest = {
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": settings.limits.stop_ms // 1000 + _SPARE_S,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": USER,
            "runAsGroup": USER,
            "fsGroup": USER,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "topologyKey": "kubernetes.io/hostname",
                "whenUnsatisfiable": "ScheduleAnyway",
                "labelSelector": {"matchLabels": _labels(network)},
            }
        ],
        "containers": [_router(settings, mounts, image)],
        "volumes": [{"name": "topology", "configMap": {"name": f"{network}-topology"}}],
    }
    if mounts:
        pod["initContainers"] = [_copier(mounts, image)]
        pod["volumes"] += [
            {"name": "files", "emptyDir": {"medium": "Memory", "sizeLimit": "4Mi"}},
            {"name": "given", "secret": {"secretName": f"{host}-files", "defaultMode": 0o440}},
        ]
    spec = {
        "replicas": 1,
        "serviceName": host,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": pod},
        "volumeClaimTemplates": list(_claims(settings)),
    }
    return _manifest("apps/v1", "StatefulSet", host, network, **{"tamis.network/router": host}) | {"spec": spec}


def _router(settings: RouterSettings, mounts: tuple[Mount, ...], image: str) -> Manifest:
    volumes = [{"name": "topology", "mountPath": _TOPOLOGY, "readOnly": True}, {"name": "data", "mountPath": DATA}]
    if settings.records:
        volumes.append({"name": "records", "mountPath": RECORDS})
    if has_log_volume(settings):
        volumes.append({"name": "kept", "mountPath": KEPT})
    if mounts:
        volumes.insert(0, {"name": "files", "mountPath": CONFIG, "readOnly": True})
    memory = f"{(settings.limits.memory_bytes + _PROGRAM_BYTES) // _MIB}Mi"
    return _contained("router", image) | {
        "args": ["router", "--topology", f"{_TOPOLOGY}/network.yaml", "--id", settings.id, "--insecure"],
        "ports": [{"name": name, "containerPort": port} for name, port in _PORTS.items()],
        "startupProbe": _probe("/healthz", every_s=1, failures=30),
        "livenessProbe": _probe("/healthz", every_s=5, failures=6),
        "readinessProbe": _probe("/readyz", every_s=2, failures=2),
        "resources": {"requests": {"cpu": "100m", "memory": memory}, "limits": {"memory": memory}},
        "volumeMounts": volumes,
    }


def _copier(mounts: tuple[Mount, ...], image: str) -> Manifest:
    """Return the init container that copies files for the router's user alone: routers refuse private files that others
    may read."""
    files = " ".join(f"{_GIVEN}/{PurePosixPath(mount.target).name}" for mount in mounts)
    return _contained("files", image) | {
        "command": ["sh", "-c", f"install -m 0400 {files} {CONFIG}/"],
        "resources": {"requests": {"cpu": "10m", "memory": "16Mi"}, "limits": {"memory": "64Mi"}},
        "volumeMounts": [
            {"name": "given", "mountPath": _GIVEN, "readOnly": True},
            {"name": "files", "mountPath": CONFIG},
        ],
    }


def _contained(name: str, image: str) -> Manifest:
    confined = {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    return {"name": name, "image": image, "securityContext": confined}


def _probe(path: str, every_s: int, failures: int) -> Manifest:
    asked = {"path": path, "port": "admin"}
    return {"httpGet": asked, "periodSeconds": every_s, "timeoutSeconds": 2, "failureThreshold": failures}


def _claims(settings: RouterSettings) -> Iterator[Manifest]:
    yield _claim("data", _DATA_BYTES)
    if settings.records:
        yield _claim("records", 2 * settings.records.keep)
    if settings.durable is not None and has_log_volume(settings):
        yield _claim("kept", settings.durable.bytes + settings.durable.bytes // 10)


def _claim(name: str, size: int) -> Manifest:
    storage = {"requests": {"storage": f"{-(-size // _MIB)}Mi"}}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": storage},
    }


class _Dumper(yaml.SafeDumper):
    """Writes text of several lines as a block, so that a topology in a ConfigMap is readable, and writes no anchors."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 - the signature is yaml's
        return True


def _text(dumper: yaml.SafeDumper, data: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", data, style="|" if "\n" in data else None)


_Dumper.add_representer(str, _text)


def _yaml(form: Manifest) -> str:
    return yaml.dump(form, Dumper=_Dumper, sort_keys=False, width=120)
