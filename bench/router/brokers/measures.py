"""The questions: what is sent, to whom, and which figures answer.

Law: the first figure of a measure is the one that brokers are compared by.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from tamis.bench.router.brokers import figures, inputs
from tamis.bench.router.brokers.figures import Figure
from tamis.bench.router.brokers.inputs import OTHER_CONNECTIONS, Inputs

CLIENTS: Final = 5_000
SUBSCRIPTIONS: Final = 100_000
RATE: Final = 5_000
WINDOW: Final = 4_096
"""Messages under way: 600 KB, several times what one read or write moves, and less than any daemon's queue holds."""
WINDOW_OF_SLOW: Final = 256
"""For rabbitmq, which would take minutes to empty a full window of messages matched by headers."""

_PAPER: Final = "{:,} filters of paper 004 on 20 other connections, none of which matches"
_ALL: Final = ("forward", "nats", "redis", "mosquitto", "rabbitmq", "tamis")
_THROUGHPUT: Final = (figures.MESSAGES, figures.CPU, figures.RESIDENT, figures.LOAD_BUSY)
_MANY_FILTERS: Final = (
    *(figures.CPU, figures.MESSAGES, figures.RESIDENT),
    *(figures.ACCEPTED, figures.OTHERS_ACCEPTED, figures.LOAD_BUSY),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """`against` names brokers that the others' first figure is compared with.

    `options` are those of the load generator. `seconds` replaces what was asked for where the figure is known before a
    message is sent. With `headers`, rabbitmq routes by a headers exchange and not by a fanout.
    """

    name: str
    question: str
    brokers: tuple[str, ...]
    figures: tuple[Figure, ...]
    against: tuple[str, ...] = ()
    inputs: Callable[[], Inputs] = inputs.one_filter
    options: Mapping[str, float | str] = field(default_factory=dict)
    seconds: float | None = None
    headers: bool = False

    def protocol(self, usual: str) -> str:
        return "amqp-headers" if self.headers and usual == "amqp-fanout" else usual

    def load_options(self, broker: str, other_filters: int) -> dict[str, str]:
        window = WINDOW_OF_SLOW if broker == "rabbitmq" else WINDOW
        others = OTHER_CONNECTIONS if other_filters else 0
        chosen = {"window": window, "message-bytes": inputs.MESSAGE_BYTES, "others": others, **self.options}
        return {name: str(value) for name, value in chosen.items()}


_EVERY_MEASURE: Final = (
    Measure(
        name="start",
        question="time from start to ready, and memory without a client",
        brokers=_ALL,
        figures=(figures.READY, figures.IDLE),
        seconds=0,
    ),
    Measure(
        name="one",
        question="1 publisher, 1 subscriber, 1 filter",
        brokers=(*_ALL, "tamis-tls"),
        figures=_THROUGHPUT,
        against=("forward", "nats"),
    ),
    Measure(
        name="ten",
        question="1 publisher, 10 subscribers",
        brokers=_ALL,
        figures=(figures.DELIVERIES, *_THROUGHPUT),
        against=("forward", "nats"),
        options={"subscribers": 10},
    ),
    Measure(
        name="latency",
        question=f"{RATE:,} messages a second",
        brokers=_ALL,
        figures=(figures.P50, figures.P99),
        against=("forward", "redis"),
        options={"rate": RATE},
    ),
    Measure(
        name="symbols-10k",
        question="10,000 filters, one of which matches (rabbitmq: without the price)",
        brokers=("rabbitmq", "tamis"),
        figures=(figures.MESSAGES, figures.CPU, figures.RESIDENT, figures.ACCEPTED),
        against=("rabbitmq",),
        inputs=partial(inputs.symbols, 10_000),
        headers=True,
    ),
    *(
        Measure(name=name, question=question, brokers=("tamis",), figures=_MANY_FILTERS, inputs=made)
        for name, question, made in (
            ("symbols-1m", "1,000,000 filters, one of which matches", partial(inputs.symbols, 1_000_000)),
            ("paper-10k", _PAPER.format(10_000), partial(inputs.paper, 10_000)),
            ("paper-1m", _PAPER.format(1_000_000), partial(inputs.paper, 1_000_000)),
        )
    ),
    Measure(
        name="clients",
        question=f"{CLIENTS:,} connected clients, one message at a time to all of them",
        brokers=("forward", "nats", "redis", "mosquitto", "tamis"),
        figures=(figures.TO_ALL, figures.CPU, figures.PER_CLIENT),
        against=("forward",),
        options={"subscribers": CLIENTS, "window": 1},
    ),
    Measure(
        name="subscriptions",
        question=f"{SUBSCRIPTIONS:,} subscriptions on one connection",
        brokers=("nats", "redis", "mosquitto", "tamis"),
        figures=(figures.PER_SUBSCRIPTION, figures.ACCEPTED),
        inputs=partial(inputs.pairs, SUBSCRIPTIONS),
        seconds=0,
    ),
)

MEASURES: Final = {measure.name: measure for measure in _EVERY_MEASURE}
