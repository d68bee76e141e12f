"""The columns: what can be told about one round.

Law: a figure is computed from one round alone, and says itself whether more of it is better.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

_MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Round:
    """What one round saw: the load generator's object, and the daemon before it had a client."""

    seen: Mapping[str, float]
    ready_s: float
    idle_bytes: int
    subscribers: int
    subscriptions: int

    @property
    def grown_bytes(self) -> float:
        """What the clients and their subscriptions cost, before the first message."""
        return self.seen["resident_ready"] - self.seen["resident_before"]


@dataclass(frozen=True, slots=True)
class Figure:
    """A column: its name for programs, its head for people."""

    name: str
    head: str
    of: Callable[[Round], float]
    more_is_better: bool = False


MESSAGES: Final = Figure("messages_per_s", "msg/s", lambda r: r.seen["messages"] / r.seen["seconds"], True)
DELIVERIES: Final = Figure("deliveries_per_s", "deliveries/s", lambda r: r.seen["deliveries"] / r.seen["seconds"], True)
CPU: Final = Figure("cpu_us", "CPU us/msg", lambda r: 1e6 * r.seen["daemon_cpu_s"] / max(r.seen["messages"], 1))
RESIDENT: Final = Figure("resident_mib", "MiB", lambda r: r.seen["resident_end"] / _MIB)
LOAD_BUSY: Final = Figure("load_busy", "load busy", lambda r: r.seen["load_cpu_s"] / r.seen["seconds"])
P50: Final = Figure("p50_us", "p50 us", lambda r: 1e6 * r.seen["p50_s"])
P99: Final = Figure("p99_us", "p99 us", lambda r: 1e6 * r.seen["p99_s"])
TO_ALL: Final = Figure("to_all_ms", "ms to all", lambda r: 1e3 * r.seen["p50_s"])
PER_CLIENT: Final = Figure("kib_per_client", "KiB/client", lambda r: r.grown_bytes / r.subscribers / 1024)
ACCEPTED: Final = Figure("accepted_s", "accepted in s", lambda r: r.seen["subscribe_s"])
OTHERS_ACCEPTED: Final = Figure("others_accepted_s", "others in s", lambda r: r.seen["subscribe_others_s"])
PER_SUBSCRIPTION: Final = Figure("bytes_per_subscription", "B/subscription", lambda r: r.grown_bytes / r.subscriptions)
READY: Final = Figure("ready_s", "ready after s", lambda r: r.ready_s)
IDLE: Final = Figure("idle_mib", "idle MiB", lambda r: r.idle_bytes / _MIB)
