"""Requests about durable subscriptions under rules of access: which are refused, and the guard of what is stored.

Law: a request that rules do not allow is refused before it has any effect. Where a refusal would tell that a durable
subscription exists, the answer is the one for a name that does not exist.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Protocol

from tamis.protocol.access.decision import Decision, Verb
from tamis.protocol.access.patterns import first_match
from tamis.protocol.access.rights import ClassRights, DurableTerms
from tamis.protocol.errors import FrameError
from tamis.protocol.filters import Predicate
from tamis.protocol.wire.codes import RefusalCode
from tamis.protocol.wire.deliver_view import DeliverView
from tamis.protocol.wire.durable_bodies import Consume, CreateDurable, Get, Overflow, RemoveDurable, Replay
from tamis.protocol.wire.packed_filters import decode_filter
from tamis.router.access.client_rights import ClientRights, Question
from tamis.router.access.usage import Counted
from tamis.router.durable.refusals import RequestRefused, no_such_durable


class OwnedDurable(Protocol):
    @property
    def owner(self) -> str: ...


class Hosting(Protocol):
    """The durable subscriptions that a request may be about."""

    @property
    def by_name(self) -> Mapping[str, OwnedDurable]: ...


def check_allowed(rights: ClientRights, registry: Hosting, body: object) -> None:
    """Raise RequestRefused if rules do not allow the request `body`; otherwise note in the audit log what it changes.
    One that is malformed passes, and is refused later."""
    check_request(rights, registry, body)
    _note_allowed(rights, body)


def check_request(rights: ClientRights, registry: Hosting, body: object) -> None:
    """Raise RequestRefused if rules do not allow the request `body`, which is not processed yet."""
    match body:
        case CreateDurable():
            _check_make(rights, registry, body)
        case RemoveDurable(name=name):
            is_owner = _owns(rights, registry.by_name.get(name))
            _check(rights, name, lambda of_class, own: of_class.remove(own, name, is_owner=is_owner))
        case Consume(name=name):
            is_owner = _owns(rights, registry.by_name.get(name))
            if body.after or body.latest:
                _check(rights, name, lambda of_class, own: of_class.skip(own, name, is_owner=is_owner))
            else:
                _check(rights, name, lambda of_class, own: of_class.consume(own, name, is_owner=is_owner))
        case Get(name=name):
            is_owner = _owns(rights, registry.by_name.get(name))
            _check(rights, name, lambda of_class, own: of_class.consume(own, name, is_owner=is_owner))
        case Replay():
            _check_replay(rights, body)


def _note_allowed(rights: ClientRights, body: object) -> None:
    match body:
        case CreateDurable(name=name):
            rights.note_allowed(Verb.MAKE, name)
        case RemoveDurable(name=name):
            rights.note_allowed(Verb.REMOVE, name)
        case Consume(name=name) if body.after or body.latest:
            rights.note_allowed(Verb.SKIP, name)
        case Replay():
            rights.note_allowed(Verb.REPLAY, "")


def may_get(rights: ClientRights | None, durable: str, frame: bytes) -> bool:
    """Return whether a stored message of a durable subscription may be handed to a client."""
    if rights is None:
        return True
    attributes = DeliverView(frame).attributes
    return rights.refusal(lambda of_class, own: of_class.sees_of(durable, own, attributes)) is None


def may_replay(rights: ClientRights | None, frame: bytes, age_s: float) -> bool:
    """Return whether a message of the log may be replayed to a client."""
    if rights is None:
        return True
    attributes = DeliverView(frame).attributes
    return rights.refusal(lambda of_class, own: of_class.sees_again(own, attributes, age_s)) is None


def _check(rights: ClientRights, name: str, question: Question) -> None:
    refused = rights.refusal(question, name)
    if refused is not None and refused.hides:
        raise no_such_durable(name)
    if refused is not None:
        raise RequestRefused(RefusalCode.NOT_ALLOWED, refused.reason)


def _owns(rights: ClientRights, held: OwnedDurable | None) -> bool:
    return held is not None and rights.owns(held.owner)


def _check_make(rights: ClientRights, registry: Hosting, body: CreateDurable) -> None:
    policy, found = body.policy, registry.by_name.get(body.name)
    wanted = _predicate(policy.filters)
    if wanted is None:
        return
    refuses = policy.overflow is Overflow.REFUSE
    terms = DurableTerms(body.name, wanted, policy.bytes, refuses, -(-policy.idle_ms // 1_000))
    _check(rights, body.name, lambda of_class, own: of_class.make(own, terms))
    if found is not None and not rights.owns(found.owner) and not rights.access.observes:
        raise RequestRefused(RefusalCode.NOT_ALLOWED, f"the name {body.name!r} is taken")
    if policy.dead_letter and not _owns(rights, registry.by_name.get(policy.dead_letter)):
        _check(rights, policy.dead_letter, lambda of_class, own: _buries(of_class, own, policy.dead_letter))
    for what, more in ((Counted.DURABLES, 1), (Counted.FILTERS, len(policy.filters))):
        exceeded = rights.exceeded(what, more) if found is None else ""
        if exceeded:
            raise RequestRefused(RefusalCode.OVER_QUOTA, exceeded)


def _buries(of_class: ClassRights, own: str, name: str) -> Decision:
    """Return whether dead letters may go to `name`, which is not the client's: it might make it."""
    for role in of_class.roles:
        if role.durable is not None and first_match(role.durable.names, name, own):
            return Decision(Verb.MAKE, True, role.name)
    return Decision(Verb.MAKE, False, reason=f"no role allows make of {name}, the destination of dead letters")


def _check_replay(rights: ClientRights, body: Replay) -> None:
    wanted = _predicate(body.filters)
    if wanted is not None:
        since_s = max(0.0, time.time() - body.since_ns / 1e9)
        refused = rights.refusal(lambda of_class, own: of_class.replay(own, wanted, since_s))
        if refused is not None:
            raise RequestRefused(RefusalCode.NOT_ALLOWED, refused.reason)


def _predicate(packed: tuple[bytes, ...]) -> Predicate | None:
    try:
        return Predicate(tuple(map(decode_filter, packed)))
    except FrameError:
        return None
