"""What names and roles use of their quotas: connections, durable subscriptions and filters.

    quotas   of one full name: of several roles that limit it the largest number
    totals   of all names that have a role together: each role of a client counts, and each limits

Law: a count changes when what it counts comes or ends, so that a question costs a look-up for each role. A request for
more gets a sentence that names the role, the number and the key.
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final, NamedTuple

from tamis.protocol.access.rights import ClassRights

USERS_LOOKED_AT: Final = 1_000


class Counted(enum.Enum):
    """What is counted, by the key of its quota."""

    CONNECTIONS = "connections"
    DURABLES = "durables"
    FILTERS = "filters"

    @property
    def words(self) -> str:
        """What is counted, as words of a sentence."""
        return "durable subscriptions" if self is Counted.DURABLES else self.value


class QuotaUse(NamedTuple):
    """How much is used of one quota. `key`: `quotas` or `totals`; `of`: a full name, or `role NAME`."""

    key: str
    of: str
    what: str
    used: int
    most: int


@dataclass(slots=True)
class _User:
    """A client, or a durable subscription, that uses quotas."""

    name: str
    rights: ClassRights
    what: Counted
    filters: int = 0


class Usage:
    """The users of one router, by their numbers in the switch."""

    def __init__(self) -> None:
        self._users: dict[int, _User] = {}
        self._of_name: Counter[tuple[str, Counted]] = Counter()
        self._of_role: Counter[tuple[str, Counted]] = Counter()
        self.refused: Counter[tuple[str, str]] = Counter()
        """What was refused beyond a quota, by its key and what it counts."""

    def came(self, user: int, name: str, rights: ClassRights, what: Counted, filters: int = 0) -> None:
        """Count a client or a durable subscription, with its filters."""
        self.gone(user)
        self._users[user] = _User(name, rights, what)
        self._add(self._users[user], what, 1)
        self.has_filters(user, filters)

    def gone(self, user: int) -> None:
        """Count it no longer."""
        found = self._users.pop(user, None)
        if found is not None:
            self._add(found, found.what, -1)
            self._add(found, Counted.FILTERS, -found.filters)

    def has_filters(self, user: int, filters: int) -> None:
        """Record how many filters it has now."""
        found = self._users.get(user)
        if found is not None and filters != found.filters:
            self._add(found, Counted.FILTERS, filters - found.filters)
            found.filters = filters

    def is_of(self, user: int, name: str, rights: ClassRights) -> None:
        """Count it for another name or other rights: those of changed rules, or of another owner."""
        found = self._users.get(user)
        if found is not None:
            self.came(user, name, rights, found.what, found.filters)

    def exceeded(self, name: str, rights: ClassRights, what: Counted, more: int = 1) -> str:
        """Return which quota `more` of this would exceed, as a sentence, and count that it was refused; "" if none."""
        for use in self._uses(name, rights, what):
            if use.used + more > use.most:
                self.refused[use.key, use.what] += 1
                return f"{use.of} may have at most {use.most:,} {what.words} ({use.key}.{what.value})"
        return ""

    def _uses(self, name: str, rights: ClassRights, what: Counted) -> Iterator[QuotaUse]:
        """Yield the quotas of `what` that bind a name: its own, and the totals of its roles."""
        most = getattr(rights.quota, what.value)
        if most is not None:
            yield QuotaUse("quotas", name, what.value, self._of_name[name, what], most)
        for role in rights.roles:
            most = getattr(role.totals, what.value)
            if most is not None:
                yield QuotaUse("totals", f"role {role.name}", what.value, self._of_role[role.name, what], most)

    def uses(self) -> Iterator[QuotaUse]:
        """Yield how much is used of each quota, each once, of the first USERS_LOOKED_AT clients and durable
        subscriptions."""
        seen: set[tuple[str, str]] = set()
        for user in islice(self._users.values(), USERS_LOOKED_AT):
            for what in Counted:
                for use in self._uses(user.name, user.rights, what):
                    if (use.of, use.what) not in seen:
                        seen.add((use.of, use.what))
                        yield use

    def _add(self, user: _User, what: Counted, more: int) -> None:
        for counts, of in ((self._of_name, (user.name,)), (self._of_role, user.rights.names)):
            for each in of:
                counts[each, what] += more
                if counts[each, what] == 0:
                    del counts[each, what]
