"""For how long two clients of a column did not hear of each other.

Law: an outage ends with the arrival of the first message that was published after the last one missing.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from tamis.bench.networks.chaos.fleet import Pair, Sent


@dataclass(frozen=True, slots=True)
class Outage:
    """The worst of all pairs. `missing` are messages that did not arrive, `slowest_s` is the longest way of one."""

    back_s: float
    missing: int
    slowest_s: float


def outage(sent: Iterable[Sent], pairs: Iterable[Pair], since_s: float, anew: AbstractSet[Pair]) -> Outage:
    """Of messages published after `since_s`, in their order. Pairs in `again` begin without."""
    by_publisher: dict[int, list[Sent]] = {}
    for message in sent:
        by_publisher.setdefault(message.publisher, []).append(message)
    back_s, missing, slowest_s = 0.0, 0, 0.0
    for pair in pairs:
        publisher, receiver = pair
        messages = by_publisher.get(publisher, [])
        lost = [message for message in messages if receiver not in message.arrivals]
        missing += len(lost)
        ways = [message.arrivals[receiver] - message.at_s for message in messages if receiver in message.arrivals]
        slowest_s = max([slowest_s, *ways])
        if lost or pair in anew:
            after_s = lost[-1].at_s if lost else since_s
            arrived = [
                message.arrivals[receiver]
                for message in messages
                if message.at_s >= after_s and receiver in message.arrivals
            ]
            back_s = max(back_s, (min(arrived) - since_s) if arrived else float("inf"))
    return Outage(back_s, missing, slowest_s)
