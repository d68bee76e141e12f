"""The last changes of each issuer's durable subscriptions, for neighbours that are a little behind (R4, R10).

Law: those of one issuer follow each other without a gap, and are CHANGES_MAX durable subscriptions at most, added and
removed; what is needed from before that is in the whole. A change is given for the version and digest that it was
applied to, and for no other. One that replaces a durable subscription under its number is not known: receivers do not
apply it, and need the whole.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from typing import Final, NamedTuple

from tamis.protocol.wire.home_bodies import DurablesStatement
from tamis.router.core.statements.freshness import Version

CHANGES_MAX: Final = 1_000
"""Of one issuer; some 80 bytes each."""


class _Recent(NamedTuple):
    base: Version
    digest: bytes
    """That of the base."""
    body: DurablesStatement

    @property
    def size(self) -> int:
        return 1 + len(self.body.added) + len(self.body.removed)


class RecentChanges:
    def __init__(self) -> None:
        self._of: dict[int, deque[_Recent]] = {}

    def note(self, digest: bytes, body: DurablesStatement) -> None:
        """Note a change that was applied to the version with this digest."""
        if not {each.number for each in body.added}.isdisjoint(body.removed):
            self.forget(body.issuer)
            return
        recent = _Recent(Version(body.epoch, body.base_seq), digest, replace(body))  # without the bytes it arrived in
        known = self._of.setdefault(body.issuer, deque())
        if known and (known[-1].body.epoch, known[-1].body.seq) != recent.base:
            known.clear()
        known.append(recent)
        count = sum(each.size for each in known)
        while count > CHANGES_MAX:
            count -= known.popleft().size

    def since(self, issuer: int, version: Version, digest: bytes, newest: Version) -> list[DurablesStatement]:
        """Return the changes from a version with this digest to the `newest`; none if some are not known."""
        known = self._of.get(issuer)
        if not known or (known[-1].body.epoch, known[-1].body.seq) != newest:
            return []
        for at, each in enumerate(known):
            if each.base == version:
                return [recent.body for recent in list(known)[at:]] if each.digest == digest else []
        return []

    def forget(self, issuer: int) -> None:
        self._of.pop(issuer, None)
