"""The division of the memory that a router may use.

limits.memory_bytes ── half ──> the tables ── with links ── half ──> filters of its own clients
                    │                                    └─ half ──> filters of other routers
                    └─ half ──> the switch
"""

from __future__ import annotations

from collections.abc import Sized
from typing import Protocol

from tamis.configs.sections.limits import Limits
from tamis.protocol.limits import TABLE_SHARE_OF_CLIENT


class MemorySettings(Protocol):
    """The settings that determine the division."""

    @property
    def limits(self) -> Limits: ...

    @property
    def links(self) -> Sized: ...


def table_bytes_max(settings: MemorySettings) -> int:
    """Return the bytes of one table: half of the memory, or with links half of that: one table for the router's own
    clients, and one for other routers."""
    half = settings.limits.memory_bytes // 2
    return half // 2 if settings.links else half


def table_bytes_per_client(settings: MemorySettings) -> int:
    """Return the bytes of table that one client may use: a client that uses them all leaves room for nine more."""
    return settings.limits.table_bytes_per_client or table_bytes_max(settings) // TABLE_SHARE_OF_CLIENT


def switch_bytes_max(settings: MemorySettings) -> int:
    """Return the bytes of memory for the switch: the half that the tables leave."""
    return settings.limits.memory_bytes - settings.limits.memory_bytes // 2
