"""Consumers of durable subscriptions, by connection and by subscription.

Law: the consumers of one connection or of one subscription are found without a scan of the others.
"""

from __future__ import annotations

from collections import defaultdict

Member = tuple[int, int]
"""A connection and the id of the ATTACH on it."""


class KeepMembers:
    """Consumers; subscriptions are identified by their numbers."""

    def __init__(self) -> None:
        self._keeps: defaultdict[int, dict[int, int]] = defaultdict(dict)
        """Connection to consumer id to subscription number."""
        self._members: defaultdict[int, dict[Member, str]] = defaultdict(dict)

    def keep_of(self, member: Member) -> int | None:
        """Return the number of the subscription that `member` is attached to; None if there is no such consumer."""
        connection, id_ = member
        return self._keeps.get(connection, {}).get(id_)

    def of_connection(self, connection: int) -> list[Member]:
        return [(connection, id_) for id_ in self._keeps.get(connection, ())]

    def of_keep(self, number: int) -> list[Member]:
        return list(self._members.get(number, ()))

    def count(self, number: int) -> int:
        """Return the number of consumers of a subscription."""
        return len(self._members.get(number, ()))

    def add(self, member: Member, number: int, client: str) -> None:
        """Add a consumer of `client`."""
        connection, id_ = member
        self._keeps[connection][id_] = number
        self._members[number][member] = client

    def remove(self, member: Member) -> str:
        """Remove a consumer and return its client."""
        connection, id_ = member
        number = self._keeps[connection].pop(id_)
        client = self._members[number].pop(member)
        if not self._keeps[connection]:
            del self._keeps[connection]
        if not self._members[number]:
            del self._members[number]
        return client
