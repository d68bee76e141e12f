"""How the memory that a router may use is divided.

limits.memory_bytes ── half ──> the tables ── with links ── half ──> what its own clients want
                    │                                    └─ half ──> what other routers want
                    └─ half ──> the switch
"""

from __future__ import annotations

from collections.abc import Sized
from typing import Protocol

from tamis.configs.sections.limits import Limits
from tamis.protocol.limits import TABLE_SHARE_OF_CLIENT


class MemorySettings(Protocol):
    """What the memory of a router is divided by."""

    @property
    def limits(self) -> Limits: ...

    @property
    def links(self) -> Sized: ...


def table_bytes_max(settings: MemorySettings) -> int:
    """Return the bytes of one table: half of the memory, and half of that with links: for the router's own clients, and
    for the other routers."""
    half = settings.limits.memory_bytes // 2
    return half // 2 if settings.links else half


def table_bytes_per_client(settings: MemorySettings) -> int:
    """Return the bytes of table that one client may use: one that uses them all leaves room for nine more."""
    return settings.limits.table_bytes_per_client or table_bytes_max(settings) // TABLE_SHARE_OF_CLIENT


def switch_bytes_max(settings: MemorySettings) -> int:
    """Return the bytes of memory for the switch: the half that the tables leave."""
    return settings.limits.memory_bytes - settings.limits.memory_bytes // 2
