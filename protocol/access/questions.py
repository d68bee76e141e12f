"""A question to the rules in one form: a verb and what it is about, for tests in a file and for the command line.

Law: `ask` is the one place that turns a verb into a call; each verb that a file or a person can name is in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tamis.protocol.access.decision import Decision, Verb
from tamis.protocol.access.rights import ClassRights, DurableTerms
from tamis.protocol.access.role import AdminLevel
from tamis.protocol.filters import Predicate
from tamis.protocol.values import Value


@dataclass(frozen=True, slots=True)
class Ask:
    """`about`: attributes of a message, a predicate, a level of administration, or a name, as the verb needs. A durable
    subscription is not owned by the one who asks."""

    verb: Verb
    about: Mapping[str, Value] | Predicate | AdminLevel | str


MESSAGE_VERBS = (Verb.PUBLISH, Verb.SEES, Verb.REPLAY)
NAME_VERBS = (Verb.GROUP, Verb.MAKE, Verb.CONSUME, Verb.SKIP, Verb.INSPECT, Verb.REMOVE)
ASKED = (*MESSAGE_VERBS, Verb.SUBSCRIBE, *NAME_VERBS, Verb.ADMIN)
"""Verbs that can be asked for in this form."""


def ask(rights: ClassRights, own: str, question: Ask) -> Decision:
    """Return the decision for a connection with the name `own`."""
    verb, about = question.verb, question.about
    if isinstance(about, Predicate):
        return rights.subscribe(own, about)
    if isinstance(about, AdminLevel):
        return rights.admin(about)
    if isinstance(about, str):
        return _ask_name(rights, own, verb, about)
    if verb is Verb.PUBLISH:
        return rights.publish(own, about)
    return rights.sees_again(own, about) if verb is Verb.REPLAY else rights.sees(own, about)


def _ask_name(rights: ClassRights, own: str, verb: Verb, name: str) -> Decision:
    match verb:
        case Verb.GROUP:
            return rights.group(own, name)
        case Verb.MAKE:
            return rights.make(own, DurableTerms(name, bytes=1))
        case Verb.CONSUME:
            return rights.consume(own, name, is_owner=False)
        case Verb.SKIP:
            return rights.skip(own, name, is_owner=False)
        case Verb.INSPECT:
            return rights.inspect(own, name, is_owner=False)
        case Verb.REMOVE:
            return rights.remove(own, name, is_owner=False)
    raise ValueError(f"{verb} is not about a name")
