"""SUBSCRIBE under rules of access: which subscriptions of a frame are refused, by rights and by quotas.

Law: a subscription is refused if certainly none of its messages may be handed to the client, or its worker group may
not be joined; the reason names the role and the constraint. What is accepted is still judged message by message, at the
hand.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tamis.native.results import OutOfMemory
from tamis.native.subscribe_frame import SubscribeFrame
from tamis.protocol.access.decision import Decision
from tamis.protocol.errors import FrameError, Refused
from tamis.protocol.wire.client_bodies import Narrowed, Refusal
from tamis.protocol.wire.codes import RefusalCode
from tamis.router.access.client_rights import ClientRights
from tamis.router.access.usage import Counted
from tamis.router.clients.acks import refusal


def refused_subscriptions(rights: ClientRights, frame: SubscribeFrame) -> Iterator[Refusal]:
    """Yield the refusals of the subscriptions in `frame` that rules do not allow; a malformed filter is passed by,
    since the switch refuses it."""
    if frame.names_group:
        group = frame.group
        refused = rights.refusal(lambda of_class, own: of_class.group(own, group), group)
        if refused is not None:
            yield from (_refusal(id_, refused) for id_ in frame.ids)
            return
    for id_, packed in frame.filters.items():
        try:
            asked = rights.asked(packed)
        except FrameError:
            continue
        refused = rights.refused(asked.decision)
        if refused is not None:
            yield _refusal(id_, refused)
        elif asked.is_for_answers and rights.of_class.allowing_answers():
            try:
                rights.gets_answers(id_)
            except (OutOfMemory, Refused) as error:
                yield refusal(id_, RefusalCode.OUT_OF_MEMORY, f"no guard for answers: {error}")


def past_quota(rights: ClientRights, frame: SubscribeFrame, refused: set[int], has: int) -> Iterator[Refusal]:
    """Yield the refusals of the subscriptions in `frame` past a quota of filters, besides those refused before; the
    others are counted from now on. `has`: the filters of the client."""
    if not rights.of_class.bounds_filters:
        return
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


def narrowed_subscriptions(rights: ClientRights, frame: SubscribeFrame, ids: Iterable[int]) -> Iterator[Narrowed]:
    """Yield those of the accepted subscriptions `ids` in `frame` of which rules let through a part only."""
    for id_ in ids:
        asked = frame.filters[id_]
        found = rights.narrowed(id_, asked)
        if found != asked:
            yield Narrowed(id_, found or ())


def _refusal(id_: int, refused: Decision) -> Refusal:
    return refusal(id_, RefusalCode.NOT_ALLOWED, refused.reason)
