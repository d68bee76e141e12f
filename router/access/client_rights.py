"""What the rules in force say about the requests of one client.

Law: each request is decided when it is processed, by the rules of then. A decision that refuses is counted, and is
returned only if it is enforced.
"""

from __future__ import annotations

from collections.abc import Callable

from tamis.protocol.access.decision import Decision, Verb
from tamis.protocol.access.rights import ClassRights
from tamis.router.access.class_guards import ClassGuards
from tamis.router.access.in_force import AccessInForce, GuardedClient
from tamis.router.access.subscriptions import Packed
from tamis.router.access.usage import Counted

Question = Callable[[ClassRights, str], Decision]
"""Asks the rights of a class about a client with the full name."""


class ClientRights:
    """The rights of `client`."""

    def __init__(self, access: AccessInForce, client: GuardedClient) -> None:
        self.access, self.client = access, client

    @property
    def guards(self) -> ClassGuards:
        """Those of its class."""
        return self.access.class_of(self.client)

    @property
    def of_class(self) -> ClassRights:
        return self.guards.rights

    def refusal(self, question: Question, about: str = "") -> Decision | None:
        """Return the decision by which a request is refused; None if it is served. `about`: the name of what it is
        about, for the audit log."""
        return self.refused(question(self.of_class, self.client.name), about)

    def refused(self, decision: Decision, about: str = "") -> Decision | None:
        """Return a decision by which a request is refused; None if it is served."""
        passes = self.access.passes(decision)
        if not decision.allowed:
            self._note(
                "refused", decision.verb, about, role=decision.role, constraint=decision.constraint, enforced=not passes
            )
        return None if passes else decision

    def note_allowed(self, verb: Verb, about: str) -> None:
        """Add a request that changes something, and that rules allow, to the audit log."""
        self._note("allowed", verb, about)

    def _note(self, kind: str, verb: Verb, about: str, **said: object) -> None:
        client = self.client
        self.access.note(
            kind, principal=client.admitted.principal, name=client.name, verb=verb.value, about=about, **said
        )

    def exceeded(self, what: Counted, more: int) -> str:
        """Return which quota `more` of this would exceed, as a sentence; "" if none, or if nothing is enforced."""
        return "" if self.access.observes else self.access.usage.exceeded(self.client.name, self.of_class, what, more)

    def has_filters(self, filters: int) -> None:
        """Record how many filters the client has now."""
        self.access.usage.has_filters(self.client.interface, filters)

    def narrowed(self, subscription: int, packed: Packed) -> Packed | None:
        """Return the filters of a subscription AND-ed with the rules; None if they would be too many or too long."""
        return self.access.narrowed(self.client.interface, subscription, packed)

    def owns(self, owner: str) -> bool:
        """Return whether what is recorded for the full name `owner` is the client's."""
        return owner == self.client.name

    @property
    def own_roles(self) -> frozenset[str]:
        """The roles of a client that the rules do not list, as a signed token has given them; otherwise none."""
        client = self.client
        is_listed = self.access.rules.of(client.admitted.principal or client.name) is not None
        return frozenset() if is_listed else client.admitted.roles or frozenset()

    def gets_answers(self, subscription: int) -> None:
        """Let the client get answers by this subscription, in place of an earlier one. Raise OutOfMemory, or Refused
        beyond a limit."""
        self.client.answers_id = subscription
        self.access.guard(self.client)
