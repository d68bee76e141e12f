"""The rules in force in a router: who comes in, what guards each client, and what a request may do.

Law: there is no moment in which more is allowed than by the old rules or by the new ones: all guards change between two
messages, in one call of `change`, or none does. A client whose rules cannot be enforced is not served.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from typing import Final, Protocol

from tamis.native.guards import GuardFigures
from tamis.native.results import OutOfMemory
from tamis.protocol.access.decision import Decision, Verb
from tamis.protocol.access.rights import ClassRights
from tamis.protocol.access.rules import AccessMode, AccessRules
from tamis.protocol.errors import Refused
from tamis.router.access.admitted import Admitted, Denial
from tamis.router.access.class_guards import ClassGuards, GuardingSwitch, Held

NO_ROLES: Final[frozenset[str]] = frozenset()


class GuardedClient(Protocol):
    """A client as rules see it. `interface`: its number in the switch; `answers_id`: its subscription to answers, 0 if
    it has none."""

    interface: int
    name: str
    admitted: Admitted
    answers_id: int


class AccessInForce:
    """The rules of one router, and the guards of its switch."""

    def __init__(self, switch: GuardingSwitch, rules: AccessRules) -> None:
        self._switch, self.rules = switch, rules
        self._classes: dict[frozenset[str], ClassGuards] = {}
        self._held: dict[int, Held] = {}  # by interface
        self.refused: Counter[tuple[Verb, str]] = Counter()
        """Requests that the rules did not allow, by verb and role."""

    @property
    def observes(self) -> bool:
        """Whether everything passes, and decisions are only recorded."""
        return self.rules.mode is AccessMode.OBSERVE

    # --- admission ---------------------------------------------------------------------------------------------------

    def admits(self, name: str, token: bytes) -> Admitted | Denial:
        """Return what a client `name` that sends `token` is admitted as, or the denial."""
        digest = hashlib.sha256(token).digest()
        return self._by_digest(name, digest) or Denial("this token is not valid for this name")

    def again(self, name: str, admitted: Admitted) -> Admitted | None:
        """Return what a client is admitted as by the rules of now; None: its session ends."""
        if admitted.proof is not None:
            return admitted.proof.admitted(name)
        return self._by_digest(name, admitted.token_digest or b"")

    def _by_digest(self, name: str, digest: bytes) -> Admitted | None:
        found = self.rules.principals.resolve(name) if self.rules.principals.shows_digest(name, digest) else None
        if found is None:
            return None
        line, number = found
        return Admitted(digest, line, frozenset(self.rules.classes.rights[number].names))

    # --- rights ------------------------------------------------------------------------------------------------------

    def rights_of(self, client: GuardedClient) -> ClassRights:
        """Return what a client may do."""
        return self._class_of(client.admitted.roles or NO_ROLES).rights

    def passes(self, decision: Decision) -> bool:
        """Count a decision that refuses; return whether the request is served."""
        if not decision.allowed:
            self.refused[decision.verb, decision.role] += 1
        return decision.allowed or self.observes

    def _class_of(self, roles: frozenset[str]) -> ClassGuards:
        """Return the class with these roles; roles that the rules no longer have give no rights."""
        rules = self.rules
        known = roles.intersection(rules.roles)
        found = self._classes.get(known)
        if found is None:
            rights = rules.classes.rights[rules.classes.number(known)]
            found = self._classes[known] = ClassGuards(self._switch, rights, observes=self.observes)
        return found

    # --- changed rules -----------------------------------------------------------------------------------------------

    def change(self, rules: AccessRules, clients: Iterable[GuardedClient]) -> list[GuardedClient]:
        """Enforce other rules from the next message on, for all clients of the switch. Return those that may not stay:
        nothing enters from them or reaches them any more. Raise OutOfMemory, or Refused beyond a limit of guards; then
        nothing has changed."""
        before = self.rules, self._classes
        self.rules, self._classes = rules, {}
        planned: list[tuple[GuardedClient, Admitted | None, Held]] = []
        try:
            for client in clients:
                admitted = self.again(client.name, client.admitted)
                roles = admitted.roles if admitted is not None else None
                held = self._class_of(roles or NO_ROLES).of_client(client.name, client.answers_id)
                planned.append((client, admitted, held))
        except (OutOfMemory, Refused):
            self.rules, self._classes = before
            for _, _, held in planned:
                held.of.release(held)
            raise
        return [client for client, admitted, held in planned if not self._has_changed(client, admitted, held)]

    def _has_changed(self, client: GuardedClient, admitted: Admitted | None, held: Held) -> bool:
        """Guard a client by `held`; return whether it may stay."""
        try:
            self._hold(client.interface, held)
        except OutOfMemory:
            return False
        if admitted is not None:
            client.admitted = admitted
        return admitted is not None

    # --- guards ------------------------------------------------------------------------------------------------------

    def guard(self, client: GuardedClient) -> None:
        """Guard a client from the next message on, in place of what guarded it. Raise OutOfMemory, or Refused beyond a
        limit; then nothing has changed."""
        held = self._class_of(client.admitted.roles or NO_ROLES).of_client(client.name, client.answers_id)
        self._hold(client.interface, held)

    def gone(self, interface: int) -> None:
        """Release the guards of a client that the switch has forgotten."""
        held = self._held.pop(interface, None)
        if held is not None:
            held.of.release(held)

    def figures(self) -> GuardFigures:
        """Return the sums of the counters of all guards of now."""
        found = [figures for each in self._classes.values() for figures in each.figures()]
        return GuardFigures(*map(sum, zip(*found, strict=True))) if found else GuardFigures(0, 0, 0)

    def _hold(self, interface: int, held: Held) -> None:
        try:
            self._switch.guard(interface, held.guarding)
        except BaseException:
            held.of.release(held)
            raise
        before = self._held.get(interface)
        self._held[interface] = held
        if before is not None:
            before.of.release(before)
