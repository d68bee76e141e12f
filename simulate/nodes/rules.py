"""The rules of access of the routers of a run, enforced by the code of routers: what enters, what is delivered, and the
filters that are stated.

Law: a router enforces one file at a time, from the first moment after its change.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from tamis.protocol.access.narrow import narrowed
from tamis.protocol.access.rights import ClassRights
from tamis.protocol.access.role import AccessRole, Permission
from tamis.protocol.access.rule import AccessRule
from tamis.protocol.filters import Filter, Predicate
from tamis.protocol.wire.packed_filters import decode_filter, encode_filter
from tamis.simulate.faults.rules import CLASSES, ClassRule, FileOfRules
from tamis.simulate.faults.workload import CONTENTS, Wish


class EnforcedRules:
    """`files`: the files of the run, of which `by_router` has the number of the one in force at each router."""

    def __init__(self, files: Sequence[FileOfRules | None], routers: int) -> None:
        self.by_router = [0] * routers
        self._files = files
        self._rights = cache(self._rights_of)
        self.narrowed = cache(self._narrowed)

    def enters(self, router: int, publisher: int, content: int) -> bool:
        """Return whether a message may enter at a router."""
        rights = self._rights(self.by_router[router], publisher % CLASSES)
        return rights is None or rights.publish("", CONTENTS[content]).allowed

    def delivered(self, router: int, client: int, contents: int) -> int:
        """Return those of the contents that a client at a router may get."""
        rights = self._rights(self.by_router[router], client % CLASSES)
        if rights is None:
            return contents
        allowed = (1 << at for at, attributes in enumerate(CONTENTS) if rights.sees("", attributes).allowed)
        return contents & sum(allowed)

    def stated(self, router: int, client: int, packed: bytes) -> tuple[bytes, ...]:
        """Return the filters that a router states for a filter of a client."""
        return self.narrowed(self.by_router[router], client % CLASSES, packed)

    def _rights_of(self, file: int, of_class: int) -> ClassRights | None:
        rules = self._files[file]
        if rules is None:
            return None
        publish, subscribe = (_permission(each[of_class]) for each in (rules.publish, rules.get))
        return ClassRights([AccessRole("role", publish=publish, subscribe=subscribe)])

    def _narrowed(self, file: int, of_class: int, packed: bytes) -> tuple[bytes, ...]:
        rules = self._files[file]
        if rules is None:
            return (packed,)
        rule = rules.get[of_class]
        found = narrowed([decode_filter(packed)], _filters(rule.allow), _filters(rule.deny))
        return (packed,) if found is None else tuple(map(encode_filter, found))


def _permission(rule: ClassRule) -> Permission:
    allow, deny = (AccessRule("", Predicate(tuple(_filters(wishes)))) for wishes in (rule.allow, rule.deny))
    return Permission(allow, deny if rule.deny else None)


def _filters(wishes: Sequence[Wish]) -> list[Filter]:
    return [decode_filter(wish.packed) for wish in wishes]
