"""The questions: what is sent, to whom, and which figures answer.

Law: the first figure of a measure is the one that peers are compared by; whether more of it is better is the figure's
own business (`Figure.more_is_better`). Every figure is computed from one round alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from tamis.bench.peers import inputs
from tamis.bench.peers.inputs import OTHER_CONNECTIONS, Inputs

CLIENTS = 5_000
SUBSCRIPTIONS = 100_000
RATE = 5_000
_WINDOW = 4_096
_WINDOW_OF_SLOW = 256  # for whom a full window would take minutes to empty
_MIB = 1024 * 1024

BY_NAME = ("forward", "nats", "redis", "mosquitto", "rabbitmq", "tamis")


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
        return self.seen["resident_ready"] - self.seen["resident_before"]


@dataclass(frozen=True, slots=True)
class Figure:
    """A column: its name for programs, its head for people."""

    name: str
    head: str
    of: Callable[[Round], float]
    more_is_better: bool = False


_RATE = Figure("messages_per_s", "msg/s", lambda r: r.seen["messages"] / r.seen["seconds"], more_is_better=True)
_DELIVERIES = Figure("deliveries_per_s", "deliveries/s", lambda r: r.seen["deliveries"] / r.seen["seconds"], True)
_CPU = Figure("cpu_us", "CPU us/msg", lambda r: 1e6 * r.seen["daemon_cpu_s"] / max(r.seen["messages"], 1))
_RESIDENT = Figure("resident_mib", "MiB", lambda r: r.seen["resident_end"] / _MIB)
_LOAD = Figure("load_busy", "load busy", lambda r: r.seen["load_cpu_s"] / r.seen["seconds"])
_P50 = Figure("p50_us", "p50 us", lambda r: 1e6 * r.seen["p50_s"])
_P99 = Figure("p99_us", "p99 us", lambda r: 1e6 * r.seen["p99_s"])
_TO_ALL = Figure("to_all_ms", "ms to all", lambda r: 1e3 * r.seen["p50_s"])
_PER_CLIENT = Figure("kib_per_client", "KiB/client", lambda r: r.grown_bytes / r.subscribers / 1024)
_ACCEPTED = Figure("accepted_s", "accepted in s", lambda r: r.seen["subscribe_s"])
_OTHERS_ACCEPTED = Figure("others_accepted_s", "others accepted in s", lambda r: r.seen["subscribe_others_s"])
_PER_SUBSCRIPTION = Figure("bytes_per_subscription", "B/subscription", lambda r: r.grown_bytes / r.subscriptions)
_READY = Figure("ready_s", "ready after s", lambda r: r.ready_s)
_IDLE = Figure("idle_mib", "idle MiB", lambda r: r.idle_bytes / _MIB)


@dataclass(frozen=True, slots=True)
class Measure:
    """`against` names peers that the others' first figure is divided by."""

    name: str
    question: str
    peers: tuple[str, ...]
    figures: tuple[Figure, ...]
    against: tuple[str, ...]
    inputs: Callable[[], Inputs] = inputs.one_filter
    options: Mapping[str, float] = field(default_factory=dict)
    headers: bool = False
    """rabbitmq routes by a headers exchange, not a fanout."""
    seconds: float | None = None
    """Instead of what was asked for: the figure is known before a message is sent."""

    def protocol(self, usual: str) -> str:
        return "amqp-headers" if self.headers and usual == "amqp-fanout" else usual

    def load_options(self, peer: str, other_count: int) -> dict[str, str]:
        window = _WINDOW_OF_SLOW if peer == "rabbitmq" else _WINDOW
        chosen: dict[str, float] = {"window": window, "message-bytes": inputs.MESSAGE_BYTES, **self.options}
        if other_count:
            chosen["others"] = OTHER_CONNECTIONS
        return {name: str(value) for name, value in chosen.items()}


_MANY = (_CPU, _RATE, _RESIDENT, _ACCEPTED, _OTHERS_ACCEPTED, _LOAD)

MEASURES = {
    measure.name: measure
    for measure in (
        Measure("start", "start to ready, memory without clients", BY_NAME, (_READY, _IDLE), (), seconds=0),
        Measure(
            *("one", "1 publisher, 1 subscriber, 1 filter", (*BY_NAME, "tamis-tls")),
            *((_RATE, _CPU, _RESIDENT, _LOAD), ("forward", "nats")),
        ),
        Measure(
            *("ten", "1 publisher, 10 subscribers", BY_NAME, (_DELIVERIES, _CPU, _RESIDENT, _LOAD)),
            *(("forward", "nats"), inputs.one_filter, {"subscribers": 10}),
        ),
        Measure(
            *("latency", f"at {RATE:,} messages a second", BY_NAME, (_P50, _P99), ("forward", "redis")),
            *(inputs.one_filter, {"rate": RATE}),
        ),
        Measure(
            *("symbols-10k", "10,000 filters, one of which matches (rabbitmq: without the price)"),
            *(("rabbitmq", "tamis"), (_RATE, _CPU, _RESIDENT, _ACCEPTED), ("rabbitmq",)),
            *(partial(inputs.symbols, 10_000), {}, True),
        ),
        Measure(
            *("symbols-1m", "1,000,000 filters, one of which matches", ("tamis",), _MANY, ()),
            partial(inputs.symbols, 1_000_000),
        ),
        Measure(
            *("paper-10k", "10,000 filters of paper 004 on 20 other connections, none of which matches"),
            *(("tamis",), _MANY, (), partial(inputs.paper, 10_000)),
        ),
        Measure(
            *("paper-1m", "1,000,000 filters of paper 004 on 20 other connections, none of which matches"),
            *(("tamis",), _MANY, (), partial(inputs.paper, 1_000_000)),
        ),
        Measure(
            *("clients", f"{CLIENTS:,} connected clients, one message to all of them at a time"),
            *(("forward", "nats", "redis", "mosquitto", "tamis"), (_TO_ALL, _CPU, _PER_CLIENT), ("forward",)),
            *(inputs.one_filter, {"subscribers": CLIENTS, "window": 1}),
        ),
        Measure(
            *("subscriptions", f"{SUBSCRIPTIONS:,} subscriptions on one connection"),
            *(("nats", "redis", "mosquitto", "tamis"), (_PER_SUBSCRIPTION, _ACCEPTED), ()),
            *(partial(inputs.pairs, SUBSCRIPTIONS), {}, False, 0),
        ),
    )
}
