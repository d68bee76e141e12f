"""Who is attached to which keep.

Law: what one connection has attached, and who is attached to one keep, is found without a look at any other.
"""

from __future__ import annotations

from collections import defaultdict

Member = tuple[int, int]
"""A connection and the id of the ATTACH on it."""


class KeepMembers:
    """Members of keeps, which go by their numbers."""

    def __init__(self) -> None:
        self._keeps: defaultdict[int, dict[int, int]] = defaultdict(dict)
        """Of each connection: keeps by the ids of its attachments."""
        self._members: defaultdict[int, dict[Member, str]] = defaultdict(dict)

    def keep_of(self, member: Member) -> int | None:
        """Return the number of the keep that it is attached to; None: there is no such member."""
        connection, id_ = member
        return self._keeps.get(connection, {}).get(id_)

    def of_connection(self, connection: int) -> list[Member]:
        return [(connection, id_) for id_ in self._keeps.get(connection, ())]

    def of_keep(self, number: int) -> list[Member]:
        return list(self._members.get(number, ()))

    def count(self, number: int) -> int:
        """How many a keep has."""
        return len(self._members.get(number, ()))

    def add(self, member: Member, number: int, client: str) -> None:
        """Note that `client` has attached."""
        connection, id_ = member
        self._keeps[connection][id_] = number
        self._members[number][member] = client

    def remove(self, member: Member) -> str:
        """Let go of a member; return which client it is."""
        connection, id_ = member
        number = self._keeps[connection].pop(id_)
        client = self._members[number].pop(member)
        if not self._keeps[connection]:
            del self._keeps[connection]
        if not self._members[number]:
            del self._members[number]
        return client
