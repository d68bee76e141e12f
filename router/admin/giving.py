"""The page that gives a durable subscription to another owner.

Law: its owner may give it, and who may administer; the answer comes when the change is on disk.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tamis.protocol.access.decision import Verb
from tamis.protocol.access.role import AdminLevel
from tamis.protocol.errors import Refused
from tamis.protocol.peer_names import check_peer_name
from tamis.router.access.usage import Counted
from tamis.router.admin.answers import BadRequest, json_answer
from tamis.router.admin.durable import held_of
from tamis.router.durable.hosted import HostedDurable
from tamis.router.durable.refusals import RequestRefused
from tamis.serving.answers import Answer

if TYPE_CHECKING:
    from tamis.router.access.client_rights import ClientRights
    from tamis.router.access.in_force import AccessInForce
    from tamis.router.admin.view import RouterView


async def give(name: str, owner: str, rights: ClientRights | None, running: RouterView) -> Answer:
    """Give the durable subscription `name` to `owner`, and return what has changed. Raise BadRequest if nothing has."""
    service, held = held_of(running, name, rights)
    check_may(rights, held, "give")
    before, access = held.owner, running.clients.access
    if owner == before:
        raise BadRequest(409, f"durable subscription {name!r} is {owner}'s already")
    _check_owner(access, owner, len(held.filters))
    done: asyncio.Future[RequestRefused | None] = asyncio.get_running_loop().create_future()
    try:
        service.registry.give(held, owner, lambda error: None if done.done() else done.set_result(error))
        error = await done
    except RequestRefused as refused:
        error = refused
    if error is not None:
        raise BadRequest(409, error.reason)
    service.homes.restate(held)
    if access is not None:
        access.note(
            "given", by=rights.client.name if rights is not None else "", about=name, before=before, owner=owner
        )
    return json_answer({"durable": name, "owner": owner, "before": before})


def check_may(rights: ClientRights | None, held: HostedDurable, what: str) -> None:
    """Raise BadRequest if the asker neither owns a durable subscription nor may administer."""
    if rights is None or rights.owns(held.owner):
        return
    refused = rights.refusal(lambda of_class, _: of_class.admin(AdminLevel.ADMIN), held.name)
    if refused is not None:
        raise BadRequest(403, f"{refused.reason}; or its owner may {what} it")
    rights.note_allowed(Verb.ADMIN, held.name)


def _check_owner(access: AccessInForce | None, owner: str, filters: int) -> None:
    """Raise BadRequest if this name may not own one more durable subscription."""
    try:
        check_peer_name(owner)
    except Refused as error:
        raise BadRequest(400, str(error)) from None
    if access is None:
        return
    found = access.rules.of(owner)
    if found is None:
        raise BadRequest(400, f"the rules of access have no principal {owner!r}")
    for what, more in ((Counted.DURABLES, 1), (Counted.FILTERS, filters)):
        exceeded = "" if access.observes else access.usage.exceeded(owner, found.rights, what, more)
        if exceeded:
            raise BadRequest(409, exceeded)
