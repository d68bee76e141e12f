"""SUBSCRIBE under rules of access: which subscriptions of a frame are refused, by rights and by quotas, and of which
others the rules let through a part only.

Law: a subscription is refused if certainly none of its messages may be handed to the client, or its worker group may
not be joined; the reason names the role and the constraint. What is accepted is still judged message by message, at the
hand. A frame is judged in slices, each subscription by the rules of then.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from time import perf_counter
from typing import Final, Protocol

from tamis.native.results import OutOfMemory
from tamis.native.subscribe_frame import SubscribeFrame
from tamis.protocol.access.decision import Decision
from tamis.protocol.errors import FrameError, Refused
from tamis.protocol.wire.client_bodies import Narrowed, Refusal
from tamis.protocol.wire.codes import RefusalCode
from tamis.router.access.client_rights import ClientRights
from tamis.router.access.subscriptions import HAND
from tamis.router.access.usage import Counted
from tamis.router.clients.acks import refusal
from tamis.router.clients.requests import JudgedFrame

SLICE_S: Final = 0.004
"""Seconds of one slice. Rules that are one alternative cost microseconds a filter, others a hundred times as long the
first time."""


_Slices = Generator[None, None, None]


class SubscribingClient(Protocol):
    """The part of a client whose frames are judged."""

    @property
    def is_open(self) -> bool:
        """Whether the client is admitted and not ending."""

    @property
    def filters(self) -> int:
        """The number of its filters."""


def judge(rights: ClientRights, frame: SubscribeFrame, client: SubscribingClient, found: JudgedFrame) -> _Slices:
    """Add what rules say about the subscriptions in `frame` to `found`, in slices; if a quota bounds filters, those not
    refused are counted from now on."""
    refused = _refused_group(rights, frame.group) if frame.group else None
    if refused is not None:
        found.refusals.extend(_refusal(id_, refused) for id_ in frame.ids)
        return
    guards, name, stop = rights.guards, rights.client.name, perf_counter() + SLICE_S
    for id_, packed in frame.filters.items():
        if perf_counter() > stop:
            yield
            if not client.is_open:
                return
            guards, stop = rights.guards, perf_counter() + SLICE_S
        left = guards.subscriptions.left(HAND, name, packed)
        if not left:
            _judge(rights, id_, packed, found)
        elif left is not packed and not guards.observes:
            found.narrowed.append(Narrowed(id_, left))
    if guards.rights.bounds_filters:
        found.refusals.extend(_past_quota(rights, frame, {each.number for each in found.refusals}, client.filters))


def count(rights: ClientRights, client: SubscribingClient) -> None:
    """Count the filters that a client has now, if a quota bounds them."""
    if rights.guards.rights.bounds_filters and client.is_open:
        rights.has_filters(client.filters)


def _refused_group(rights: ClientRights, group: str) -> Decision | None:
    return rights.refusal(lambda of_class, own: of_class.group(own, group), group)


def _judge(rights: ClientRights, id_: int, packed: tuple[bytes, ...], found: JudgedFrame) -> None:
    """Add what rules say about one subscription by their definition to `found`; a malformed one is passed by, since the
    switch refuses it."""
    try:
        asked = rights.guards.subscriptions.defined(HAND, rights.client.name, packed)
    except FrameError:
        return
    in_force = asked.in_force
    if asked.refusal is not None and (refused := rights.refused(asked.refusal)) is not None:
        found.refusals.append(_refusal(id_, refused))
        return
    if asked.is_for_answers and rights.of_class.allowing_answers():
        try:
            rights.gets_answers(id_)
        except (OutOfMemory, Refused) as error:
            found.refusals.append(refusal(id_, RefusalCode.OUT_OF_MEMORY, f"no guard for answers: {error}"))
            return
        in_force = rights.narrowed(id_, packed)
    if in_force != packed and not rights.access.observes:
        found.narrowed.append(Narrowed(id_, in_force or ()))


def _past_quota(rights: ClientRights, frame: SubscribeFrame, refused: set[int], has: int) -> Iterator[Refusal]:
    """Yield the refusals of the subscriptions in `frame` past a quota of filters, besides those refused before; the
    others are counted from now on. `has`: the filters of the client."""
    more = 0
    for id_, packed in frame.filters.items():
        if id_ in refused:
            continue
        exceeded = rights.exceeded(Counted.FILTERS, more + len(packed))
        if exceeded:
            yield refusal(id_, RefusalCode.TOO_MANY_FILTERS, exceeded)
        else:
            more += len(packed)
    rights.has_filters(has + more)


def _refusal(id_: int, refused: Decision) -> Refusal:
    return refusal(id_, RefusalCode.NOT_ALLOWED, refused.reason)
