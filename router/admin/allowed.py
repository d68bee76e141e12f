"""Administration under rules of access: who asks, the level that each page needs, and what a page may show.

Law: a page that is not listed needs the highest level. A message is shown only to who might receive it. The token in
`Authorization: Bearer` is the name of a principal, a colon, and its token; the holder of `admin_token` may do
everything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tamis.protocol.access.decision import Verb
from tamis.protocol.access.role import AdminLevel
from tamis.protocol.values import Value
from tamis.router.access.admitted import Admitted
from tamis.router.access.client_rights import ClientRights
from tamis.router.access.in_force import AccessInForce
from tamis.router.admin.answers import BadRequest

_LEVELS: Final = {
    **dict.fromkeys(
        ("/metrics", "/status", "/connections", "/names", "/spaces", "/routes", "/edges"), AdminLevel.VIEWER
    ),
    **dict.fromkeys(("/durables", "/durables/elsewhere", "/kept"), AdminLevel.VIEWER),
    **dict.fromkeys(("/filters", "/explain", "/unmatched", "/audit", "/audited"), AdminLevel.OPERATOR),
    **dict.fromkeys(("/durables/waiting", "/kept/waiting"), AdminLevel.OPERATOR),
}


_BY_OWNER: Final = frozenset({"/durables/give", "/durables/purge"})
"""Pages that decide themselves, since an owner needs no level for them."""


@dataclass(slots=True)
class _Asker:
    """A principal that asks for pages and has no connection of a client."""

    name: str
    admitted: Admitted
    interface: int = -1
    answers_id: int = 0


def asker_of(access: AccessInForce, credential: str) -> ClientRights | None:
    """Return the rights of the principal that has sent `NAME:TOKEN`; None if it is none."""
    name, _, token = credential.partition(":")
    found = access.admits(name, token.encode())
    return ClientRights(access, _Asker(name, found)) if isinstance(found, Admitted) else None


def check_level(rights: ClientRights, path: str) -> None:
    """Raise BadRequest if the asker may not have the page `path`."""
    if path in _BY_OWNER:
        return
    level = _LEVELS.get(path, AdminLevel.ADMIN)
    refused = rights.refusal(lambda of_class, _: of_class.admin(level), path)
    if refused is not None:
        raise BadRequest(403, refused.reason)
    if level is AdminLevel.ADMIN:
        rights.note_allowed(Verb.ADMIN, path)


def may_inspect(rights: ClientRights | None, durable: str, owner: str) -> bool:
    """Return whether a durable subscription is shown to the asker."""
    if rights is None:
        return True
    is_owner = rights.owns(owner)
    return rights.refusal(lambda of_class, own: of_class.inspect(own, durable, is_owner=is_owner)) is None


def may_see(rights: ClientRights | None, attributes: Mapping[str, Value], durable: str = "") -> bool:
    """Return whether a message, of a durable subscription if it names one, is shown to the asker."""
    if rights is None:
        return True
    return (
        rights.refusal(
            lambda of_class, own: (
                of_class.sees_of(durable, own, attributes) if durable else of_class.sees(own, attributes)
            )
        )
        is None
    )
