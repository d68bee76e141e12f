"""The routes of the gateway, and what is checked before each: the host, the origin, the credential.

Law: nothing of a body is read before these are checked, and the connection to the router shows the client's own
credential.
"""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable, Collection
from typing import Final, NamedTuple

from tamis.gateway.bodies import Bodies
from tamis.gateway.feed import Feed
from tamis.gateway.http.callers import admission, caller_of
from tamis.gateway.http.lines_in import publish_lines
from tamis.gateway.http.messages import publish_body, publish_json
from tamis.gateway.http.streams import stream
from tamis.gateway.posters import Posters
from tamis.gateway.upstream import Caller, Upstreams
from tamis.protocol.nearest import did_you_mean
from tamis.serving.answers import Answer
from tamis.serving.origin import check_host, check_origin, cors_headers, preflight
from tamis.serving.problem import Problem, RequestRefused, refused
from tamis.serving.request import Request
from tamis.serving.slowing import Slowing

LINES: Final = "application/x-ndjson"
JSON: Final = "application/json"
ALLOWED_HEADERS: Final = "Authorization, Content-Type, Accept, Last-Event-ID, Tamis-Name"
_CLOUDEVENTS: Final = "application/cloudevents"


class Route(NamedTuple):
    """`needs_caller`: the route is for clients of the router."""

    handle: Callable[[Surface, Request, Caller, str | None], Awaitable[Answer | None]]
    needs_caller: bool = True


class Surface:
    """The requests of one gateway. `names`: hosts by which it is reached; `origins`: of pages that may use it."""

    def __init__(
        self, shared: Upstreams, posters: Posters, names: Collection[str] = (), origins: Collection[str] = ()
    ) -> None:
        self._shared, self._posters, self._names, self._origins = shared, posters, names, origins
        self._bodies = Bodies()
        self.slowing = Slowing(time.monotonic)
        self.feeds: set[Feed] = set()
        self.is_draining = False

    def handle(self, request: Request) -> Answer | Awaitable[Answer | None]:
        check_host(request.headers, request.connection.local, self._names, "--name")
        origin = check_origin(request.headers, self._origins)
        routes = ROUTES.get(request.path)
        if routes is None:
            raise refused("no-route", 404, f"there is no {request.path[:80]!r}{did_you_mean(request.path, ROUTES)}")
        methods = ", ".join(routes)
        asked = preflight(request.method, request.headers, origin, methods, ALLOWED_HEADERS)
        if asked is not None:
            return asked
        route = routes.get(request.method)
        if route is None:
            raise refused("method", 405, f"{request.path} takes {methods}", (("Allow", methods),))
        return self._answer(route, request, origin)

    async def _answer(self, route: Route, request: Request, origin: str | None) -> Answer | None:
        try:
            if not route.needs_caller:
                return await route.handle(self, request, _NOBODY, origin)
            if self.is_draining:
                raise refused("draining", 503, "this gateway is stopping", (("Retry-After", "1"),))
            caller = caller_of(request)
            async with admission(request, self.slowing):
                made = await route.handle(self, request, caller, origin)
        except RequestRefused as error:
            raise RequestRefused(_readable(error.problem, origin)) from None
        return made if made is None else made._replace(headers=(*made.headers, *cors_headers(origin)))

    async def publish(self, request: Request, caller: Caller, origin: str | None) -> Answer:  # noqa: ARG002
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind.startswith(_CLOUDEVENTS) or "ce-specversion" in request.headers:
            raise refused("media-type", 415, f"CloudEvents are not taken yet: use {JSON}, {LINES}, or any other type")
        if kind == LINES:
            return await publish_lines(request, caller, self._shared)
        if kind == JSON and not _has_attributes(request):
            return await publish_json(request, caller, self._posters, self._bodies)
        return await publish_body(request, caller, self._posters, self._bodies)

    async def subscribe(self, request: Request, caller: Caller, origin: str | None) -> None:
        await stream(request, caller, self._shared, self.feeds, cors_headers(origin))

    def drain(self) -> None:
        """Take no new request of a client, and end the streams."""
        self.is_draining = True
        for feed in list(self.feeds):
            feed.end()

    async def healthy(self, *_: object) -> Answer:
        return Answer(json.dumps({"healthy": True}).encode())

    async def ready(self, *_: object) -> Answer:
        return Answer(json.dumps({"ready": not self.is_draining}).encode(), 503 if self.is_draining else 200)


_NOBODY: Final = Caller("", None)
ROUTES: Final = {
    "/v1/messages": {"GET": Route(Surface.subscribe), "POST": Route(Surface.publish)},
    "/healthz": {"GET": Route(Surface.healthy, needs_caller=False)},
    "/readyz": {"GET": Route(Surface.ready, needs_caller=False)},
}


def _has_attributes(request: Request) -> bool:
    """Return whether the query of a request has attributes: then its body is a payload."""
    return any(part and not part.startswith("confirm=") for part in request.query.split("&"))


def _readable(problem: Problem, origin: str | None) -> Problem:
    """Return a problem that the page of a listed origin may read."""
    if origin is None:
        return problem
    said = {name: getattr(problem, name) for name in Problem.__dataclass_fields__}
    return Problem(**said | {"headers": (*problem.headers, *cors_headers(origin))})
