"""The questions about stored messages: what is published or consumed, and the figures of the answer.

Law: the first figure of a measure is the one that brokers are compared by. Every message is confirmed by itself, and
every one that is consumed is acknowledged, in the cheapest form that the protocol has for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tamis.bench.durable.daemons import KEEPERS
from tamis.bench.router.brokers import figures
from tamis.bench.router.brokers.figures import Figure
from tamis.bench.router.brokers.measures import Measure

RATE: Final = 10_000
WINDOW: Final = 8_192
"""Messages without a confirmation: more than any of them confirms in the time of one fdatasync, and less than JetStream
queues before it refuses."""
WINDOWS: Final = {"jetstream-synced": 256}
"""Of who answers only after all that was read has been synced message by message: a full window would take a minute."""
CONSUMED: Final = 1_000_000

_ALL: Final = tuple(KEEPERS)
_AGAINST: Final = ("jetstream", "jetstream-synced", "redis-synced")
_CONFIRMED: Final = Figure("confirmed_per_s", "confirmed/s", figures.MESSAGES.of, True)
_ACKNOWLEDGED: Final = Figure("acknowledged_per_s", "acknowledged/s", figures.MESSAGES.of, True)


@dataclass(frozen=True, slots=True, kw_only=True)
class DurableMeasure(Measure):
    """A measure whose options are what the load generator gets, and a window."""

    def load_options(self, broker: str, other_filters: int) -> dict[str, str]:  # noqa: ARG002 - there are none
        window = WINDOWS.get(broker, WINDOW)
        options: Mapping[str, object] = {"message-bytes": 150, "window": window, **self.options}
        return {name: str(value) for name, value in options.items()}


def measures(consumed: int = CONSUMED) -> dict[str, Measure]:
    """By name; `consumed` is how many messages the last one publishes first."""
    made = (
        DurableMeasure(
            name="publish",
            question=f"1 publisher, {WINDOW:,} unconfirmed messages at most",
            brokers=_ALL,
            figures=(_CONFIRMED, figures.CPU, figures.RESIDENT, figures.LOAD_BUSY),
            against=_AGAINST,
            options={"kept": "confirmed"},
        ),
        DurableMeasure(
            name="latency",
            question=f"{RATE:,} messages a second, time from send to confirmation",
            brokers=_ALL,
            figures=(figures.P50, figures.P99, figures.CPU),
            against=_AGAINST,
            options={"kept": "confirmed", "rate": RATE},
        ),
        DurableMeasure(
            name="consume",
            question=f"1 consumer of {consumed:,} stored messages, each acknowledged",
            brokers=tuple(name for name in _ALL if name not in WINDOWS),  # to publish them would take an hour
            figures=(_ACKNOWLEDGED, figures.CPU, figures.RESIDENT, figures.LOAD_BUSY),
            against=_AGAINST,
            options={"kept": "consumed", "count": consumed},
            seconds=120,
        ),
    )
    return {measure.name: measure for measure in made}
