"""The page that removes from a durable subscription what its owner may not have any more.

Law: nothing is removed that the owner may have by the rules of now, or that is at a consumer. Its owner may ask for it,
and who may administer; the answer comes when the removal is on disk.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from tamis.protocol.errors import FrameError
from tamis.protocol.wire.deliver_view import DeliverView
from tamis.router.admin.answers import BadRequest, json_answer
from tamis.router.admin.durable import held_of
from tamis.router.admin.giving import check_may
from tamis.router.durable.hosted import HostedDurable
from tamis.router.durable.refusals import RequestRefused
from tamis.serving.answers import Answer

if TYPE_CHECKING:
    from tamis.router.access.client_rights import ClientRights
    from tamis.router.access.in_force import AccessInForce
    from tamis.router.admin.view import RouterView
    from tamis.router.durable.service import DurableService

LOOK_MESSAGES: Final = 200
WRITTEN_S: Final = 0.2
"""Two ticks of the switch, within which a removal is appended to the log."""


async def purge(name: str, rights: ClientRights | None, running: RouterView) -> Answer:
    """Remove what the owner of the durable subscription `name` may not have, and return how many messages. Raise
    BadRequest if that is not allowed."""
    service, held = held_of(running, name, rights)
    check_may(rights, held, "purge")
    access = running.clients.access
    if access is None or access.observes:
        raise BadRequest(409, "no rules of access are enforced here, so that no message is forbidden")
    removed = await _purged(service, held, access)
    if removed:
        access.note("purged", by=rights.client.name if rights is not None else "", about=name, messages=removed)
    return json_answer({"durable": name, "owner": held.owner, "removed": removed})


async def _purged(service: DurableService, held: HostedDurable, access: AccessInForce) -> int:
    registry, after, removed = service.registry, 0, 0
    looked = await service.look(held, after, LOOK_MESSAGES, None)
    while True:
        if registry.by_number.get(held.number) is not held:
            raise BadRequest(404, f"durable subscription {held.name!r} was removed meanwhile")
        for message in looked.found:
            if _is_forbidden(access, held, message.frame):
                removed += registry.durables.purge(held.number, message.position)
        if looked.next is None:
            break
        looked = await service.look(held, looked.next, LOOK_MESSAGES, None)
    if removed:
        await asyncio.sleep(WRITTEN_S)
        done: asyncio.Future[RequestRefused | None] = asyncio.get_running_loop().create_future()
        registry.when_on_disk(0, lambda error: None if done.done() else done.set_result(error))
        if (error := await done) is not None:
            raise BadRequest(409, error.reason)
    return removed


def _is_forbidden(access: AccessInForce, held: HostedDurable, frame: bytes) -> bool:
    """Return whether the owner may not have a stored message by the rules of now."""
    try:
        attributes = DeliverView(frame).attributes
    except FrameError:
        return False
    return not access.rights_of_owner(held.owner).sees_of(held.name, held.owner, attributes)
