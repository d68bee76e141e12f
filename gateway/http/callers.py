"""Who makes a request: Basic NAME:TOKEN, or Bearer TOKEN with the name in `Tamis-Name`.

Law: an address that has shown wrong credentials is slowed down (serving/slowing.py). The router sees the gateway alone
as its peer, so that this is for the gateway to do.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from tamis.gateway.upstream import ANONYMOUS, Caller, NotLetIn
from tamis.protocol.errors import Refused
from tamis.protocol.peer_names import check_peer_name
from tamis.serving.addresses import address_of
from tamis.serving.bearer import credential_of
from tamis.serving.problem import Problem, RequestRefused, refused
from tamis.serving.request import Request
from tamis.serving.slowing import HELD_S, Slowing

NAME_HEADER: Final = "tamis-name"
CHALLENGE: Final = (("WWW-Authenticate", 'Basic realm="Tamis", charset="UTF-8"'),)

_log = logging.getLogger(__name__)


def caller_of(request: Request) -> Caller:
    """Return who a request says that it is from. Raise RequestRefused if that is malformed."""
    credential = credential_of(request.headers)
    named = request.headers.get(NAME_HEADER, "")
    name = (credential.name if credential is not None else "") or named or ANONYMOUS
    try:
        check_peer_name(name, "the name of a client")
    except Refused as error:
        raise refused("credential", 401, str(error)) from None
    return Caller(name, credential.token if credential is not None else None)


@asynccontextmanager
async def admission(request: Request, slowing: Slowing) -> AsyncIterator[None]:
    """Let the router judge the credential of a request inside; wait before if its address has shown wrong ones."""
    address = address_of(request.connection.peer)
    while (wait_s := slowing.wait_s(address)) > 0:
        if wait_s > HELD_S:
            later = (("Retry-After", str(math.ceil(wait_s))),)
            raise refused("slow-down", 429, "too many wrong tokens came from this address; try again later", later)
        await asyncio.sleep(wait_s)
    try:
        yield
    except NotLetIn as error:
        slowing.failed(address)
        _log.warning("credential refused", extra={"fields": {"peer": request.connection.peer}})
        raise RequestRefused(challenged(error.problem, request)) from None


def challenged(problem: Problem, request: Request) -> Problem:
    """Return a problem that asks for a credential; a page in a browser would show its user a dialogue."""
    is_page = "origin" in request.headers or "sec-fetch-site" in request.headers
    headers = () if is_page else CHALLENGE
    return Problem(problem.kind, problem.status, problem.detail, headers=headers)
