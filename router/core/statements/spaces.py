"""R17: the exchange of statements about spaces.

Law: of two statements about one space the one of the higher version is in force; of two contents under one version the
one of the larger digest, and an alarm reports it. A statement newer than all earlier ones is forwarded once, on all
links but the one it came from. Neighbours compare digests over all their spaces beside those over all other state
(`SenderRequest.spaces`), never within them: a router of an earlier release has no spaces. Where the two differ, each
sends the other all of its spaces, once a second at most. None of this delays messages: each is validated where it
enters, by the spaces that its entry router holds.

A statement of a later release that cannot be decoded here is held and forwarded like any other; until a newer one
arrives its space is not validated here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from tamis.protocol.limits import SPACES_BYTES_MAX, SPACES_MAX
from tamis.protocol.wire.routing_bodies import SenderRequest, SpaceStatement
from tamis.router.core.commands import Alarm, CheckBySpaces
from tamis.router.core.rate_limiter import RateLimiter
from tamis.router.core.statements.core_state import CoreState
from tamis.router.core.statements.links import CoreLink
from tamis.router.core.times import S

ALARM_EVERY_US: Final = 60 * S
"""The least time between two alarms about one space."""


class SpaceTalks:
    def __init__(self, core_state: CoreState) -> None:
        self._core_state = core_state
        self._alarmed = RateLimiter(ALARM_EVERY_US)
        self._answered = RateLimiter(core_state.times.answer_every_us)

    def state(self, statements: Iterable[SpaceStatement]) -> None:
        """Hold the statements of this router's own sources that are new, and send them to all neighbours."""
        for statement in statements:
            if self._take(statement):
                self._core_state.flood(statement)
        self._check_by()

    def hear(self, statement: SpaceStatement, came_from: int) -> None:
        if self._take(statement):
            self._core_state.pass_on(statement, came_from)
            self._check_by()

    def differs(self, request: SenderRequest, link: CoreLink) -> bool:
        """Reply to a request whose digest of spaces differs from this router's: send all spaces. Return whether this
        router's digest must follow, which makes the neighbour reply likewise if it still differs."""
        core_state = self._core_state
        if request.spaces in (b"", core_state.spaces.digest):
            return False
        if not self._answered.may((link.neighbour, link.session), core_state.now_us):
            return False
        for statement in core_state.spaces.statements:
            core_state.send(link, statement)
        return True

    def _take(self, statement: SpaceStatement) -> bool:
        """Hold a statement if it is newer than the held one; return whether it was."""
        known, name = self._core_state.spaces, statement.name
        if known.contradicts(statement):
            self._alarm(name, f"space {name} has two definitions with version {statement.version}; one is in force")
        if not known.is_newer(statement):
            return False
        if not known.has_room_for(statement):
            most = f"{SPACES_MAX} spaces of {SPACES_BYTES_MAX:,} bytes together"
            self._alarm("", f"space {name}, version {statement.version}, is refused: at most {most} are stored")
            return False
        problem = known.hold(statement).problem
        if problem:
            self._alarm(
                name, f"space {name}, version {statement.version}, cannot be decoded, so it is not checked: {problem}"
            )
        return True

    def _check_by(self) -> None:
        self._core_state.out.append(CheckBySpaces(self._core_state.spaces.in_force))

    def _alarm(self, name: str, text: str) -> None:
        if self._alarmed.may(name, self._core_state.now_us):
            self._core_state.out.append(Alarm(text))
