"""The topology file as one router reads it: at the start, and at a reload.

Law: a key takes effect at a reload unless `restart_keys` lists it, because a part of the running router was built with
it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

from tamis.configs.load import load_topology
from tamis.configs.settings import RouterSettings
from tamis.serving.cannot_start import CannotStart

RESTART_KEYS: Final = (
    *("clients", "neighbours", "links", "admin", "data"),
    *("broadcast", "strategy", "engine", "records", "durable"),
)
RESTART_LIMITS: Final = ("connections", "frame_bytes", "memory_bytes", "match_steps", "publishers")


def load_settings(file: str | Path, router_id: str, warn: Callable[[str], object] | None = None) -> RouterSettings:
    """Return the settings of one router; ConfigError lists every mistake of the file, and `warn` receives a line about
    each key of the previous version."""
    topology = load_topology(file, warn)
    if router_id not in topology.routers:
        known = ", ".join(list(topology.routers)[:20])
        raise CannotStart(f"{file}: no router is called {router_id!r}; there are {known}")
    access = None
    if topology.access is not None:
        from tamis.configs.access.load import load_access

        loaded = load_access(file)
        access = loaded.rules
        if warn is not None:
            for line in loaded.warnings:
                warn(line)
    return replace(topology.router(router_id), entrances=topology.entrances(router_id), access=access)


def restart_keys(old: RouterSettings, new: RouterSettings) -> list[str]:
    """Return the keys that differ and take effect only at a restart."""
    keys = [key for key in RESTART_KEYS if getattr(old, key) != getattr(new, key)]
    limits = [key for key in RESTART_LIMITS if getattr(old.limits, key) != getattr(new.limits, key)]
    turned = [key for key in ("tls", "neighbour_tls") if (getattr(old, key) is None) is not (getattr(new, key) is None)]
    turned += ["access"] if old.has_access is not new.has_access else []
    return keys + [f"limits.{key}" for key in limits] + turned
