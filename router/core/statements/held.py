"""Which routers hold an advertisement: tickets that wait until a subscription is active everywhere, and the
confirmations that routers send.

Law: a ticket is reached when every reachable router has confirmed that it holds the version of the ticket, or a fresher
one. Lost confirmations are requested again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Generic, TypeVar

from tamis.protocol.limits import LINKS_MAX
from tamis.protocol.wire.schema import Rest
from tamis.router.core.statements.freshness import Version

Holder = TypeVar("Holder")
Answer = TypeVar("Answer")


@dataclass(slots=True)
class Waiting:
    ticket: int
    upto: int
    """The ticket waits for the filters with ids below this one."""
    version: Version | None = None
    """The version that stated the last of these filters; None: it has not been issued yet."""


class Holders:
    """The issuer's side: the waiting tickets, and the version that each router holds."""

    def __init__(self) -> None:
        self._waiting: list[Waiting] = []
        self._held: dict[int, Version] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def wants_issue(self) -> bool:
        return any(waiting.version is None for waiting in self._waiting)

    def add(self, ticket: int, upto: int = 0) -> None:
        self._waiting.append(Waiting(ticket, upto))

    def extend(self, upto: int) -> None:
        """Let all tickets whose version is still to be issued wait for the filters with ids below `upto`."""
        for waiting in self._waiting:
            if waiting.version is None:
                waiting.upto = upto

    def issued(self, version: Version, below: int = 0) -> bool:
        """Record that all filters with ids below `below` have been advertised, the last of them with `version`. Return
        whether a ticket waits for that version from now on."""
        found = [waiting for waiting in self._waiting if waiting.version is None and waiting.upto <= below]
        for waiting in found:
            waiting.version = version
        return bool(found)

    def again(self) -> None:
        """Let all tickets wait for a version that is still to be issued."""
        for waiting in self._waiting:
            waiting.version = None

    def forget(self) -> None:
        """Forget the versions that routers hold, as this router's epoch was lowered; all tickets wait for the next
        version."""
        self.again()
        self._held.clear()

    def heard(self, version: Version, holders: Iterable[int]) -> None:
        if self._waiting:
            for holder in holders:
                self._held[holder] = max(version, self._held.get(holder, version))

    def reached(self, reachable: AbstractSet[int]) -> list[int]:
        """Return the tickets that are reached, each once."""
        if not self._waiting:
            return []
        lowest = min((self._held.get(router, Version(-1, 0)) for router in reachable), default=None)
        done = [w for w in self._waiting if w.version is not None and (lowest is None or w.version <= lowest)]
        self._waiting = [waiting for waiting in self._waiting if waiting not in done]
        if not self._waiting:
            self._held.clear()
        return [waiting.ticket for waiting in done]

    def give_up(self, ticket: int) -> frozenset[int]:
        """End the wait of a ticket; return the routers that hold its version, or a fresher one."""
        [waiting] = [waiting for waiting in self._waiting if waiting.ticket == ticket]
        self._waiting.remove(waiting)
        version = waiting.version
        holding = frozenset(r for r, held in self._held.items() if version is not None and held >= version)
        if not self._waiting:
            self._held.clear()
        return holding


class Confirmations(Generic[Holder, Answer]):
    """The other routers' side: confirmations that are still to be sent to each issuer, in bodies that `make` makes."""

    def __init__(self, make: Callable[[int, int, int, tuple[Holder, ...], Rest], Answer]) -> None:
        self._make = make
        self._asked: dict[int, Version] = {}
        self._pending: dict[tuple[int, Version, Rest], dict[Holder, None]] = {}

    @property
    def issuers(self) -> frozenset[int]:
        """The issuers to which a confirmation is still to be sent."""
        return frozenset(self._asked) | {issuer for issuer, _, _ in self._pending}

    def asked(self, issuer: int, version: Version) -> None:
        self._asked[issuer] = max(version, self._asked.get(issuer, version))

    def holds(self, issuer: int, version: Version, me: Holder) -> bool:
        """Record that this router now holds `version`; return whether its issuer needs a confirmation."""
        asked = self._asked.get(issuer)
        if asked is None or asked > version:
            return False
        del self._asked[issuer]
        self.add(issuer, version, (me,))
        return True

    def add(self, issuer: int, version: Version, holders: Iterable[Holder], rest: Rest = ()) -> None:
        """Add a confirmation that `holders` hold `version`; `rest` has the fields of a later version of the wire, and
        bodies with different ones are not merged."""
        self._pending.setdefault((issuer, version, rest), {}).update(dict.fromkeys(holders))

    def take(self) -> list[Answer]:
        """Return all confirmations added since the last call, in as few bodies as possible."""
        pending, self._pending = self._pending, {}
        return [
            self._make(issuer, *version, tuple(names)[start : start + LINKS_MAX], rest)
            for (issuer, version, rest), names in pending.items()
            for start in range(0, len(names), LINKS_MAX)
        ]

    def forget(self, issuer: int) -> None:
        self._asked.pop(issuer, None)
