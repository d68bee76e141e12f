"""Consumers of durable subscriptions, by connection and by subscription.

Law: the consumers of one connection or of one subscription are found without a scan of the others.
"""

from __future__ import annotations

from collections import defaultdict

Consumer = tuple[int, int]
"""A connection and the id of the CONSUME on it."""


class Consumers:
    """Consumers; subscriptions are identified by their numbers."""

    def __init__(self) -> None:
        self._durables: defaultdict[int, dict[int, int]] = defaultdict(dict)
        """Connection to consumer id to subscription number."""
        self._consumers: defaultdict[int, dict[Consumer, str]] = defaultdict(dict)

    def durable_of(self, consumer: Consumer) -> int | None:
        """Return the number of the subscription of `consumer`; None if there is no such consumer."""
        connection, id_ = consumer
        return self._durables.get(connection, {}).get(id_)

    def of_connection(self, connection: int) -> list[Consumer]:
        return [(connection, id_) for id_ in self._durables.get(connection, ())]

    def of_durable(self, number: int) -> list[Consumer]:
        return list(self._consumers.get(number, ()))

    def count(self, number: int) -> int:
        """Return the number of consumers of a subscription."""
        return len(self._consumers.get(number, ()))

    def add(self, consumer: Consumer, number: int, client: str) -> None:
        """Add a consumer of `client`."""
        connection, id_ = consumer
        self._durables[connection][id_] = number
        self._consumers[number][consumer] = client

    def remove(self, consumer: Consumer) -> str:
        """Remove a consumer and return its client."""
        connection, id_ = consumer
        number = self._durables[connection].pop(id_)
        client = self._consumers[number].pop(consumer)
        if not self._durables[connection]:
            del self._durables[connection]
        if not self._consumers[number]:
            del self._consumers[number]
        return client
