"""Path -> answer: what administration shows.

Law: one table says which pages there are and by which method. A page looks at a bounded number of things; where there
are more it says where the next page begins. What only a page needs is imported when it is asked for.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import parse_qs, urlsplit

from tamis.native import Subscribed
from tamis.protocol.errors import SyntaxRefused, TamisError
from tamis.protocol.wire.packed_filters import decode_filter
from tamis.router.admin.metrics import metrics
from tamis.router.admin.routes import routes_form
from tamis.router.admin.status import connection_form, status_form
from tamis.router.dry_run import reached
from tamis.router.running import Running

if TYPE_CHECKING:
    from tamis.router.links.network import Network

LIMIT: Final = 100
LIMIT_MAX: Final = 500
"""Each filter shown takes tens of microseconds: a page stays far below what may hold the loop."""


class Answer(NamedTuple):
    body: bytes
    status: int = 200
    content_type: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()


class Problem(TamisError):
    """A request that cannot be answered as asked."""

    def __init__(self, status: int, what: str, headers: tuple[tuple[str, str], ...] = ()) -> None:
        super().__init__(what)
        self.answer = _json({"error": what}, status)._replace(headers=headers)


@dataclass(frozen=True, slots=True)
class Request:
    method: str
    path: str
    query: Mapping[str, str]
    body: bytes

    @classmethod
    def of(cls, method: str, target: str, body: bytes) -> Request:
        try:
            parts = urlsplit(target)
            query = parse_qs(parts.query, keep_blank_values=True, max_num_fields=16)
        except ValueError as error:
            raise Problem(400, f"the target cannot be read: {error}") from None
        return cls(method, parts.path, {name: values[-1] for name, values in query.items()}, body)

    def number(self, name: str, default: int, least: int, most: int) -> int:
        text = self.query.get(name, str(default))
        if not text.isascii() or not text.isdigit() or len(text) > 20 or not least <= int(text) <= most:
            raise Problem(400, f"{name} must be from {least} to {most}, got {text[:40]!r}")
        return int(text)


def answer(request: Request, running: Running) -> Answer:
    """What `request` gets; Problem where it asks for what there is not."""
    if request.path not in PAGES:
        raise Problem(404, f"there is no {request.path[:100]}; there are {', '.join(PAGES)}")
    method, page = PAGES[request.path]
    if request.method != method and (request.method, method) != ("HEAD", "GET"):
        raise Problem(405, f"{request.path} takes {method}", (("Allow", method),))
    return page(request, running)


@cache
def _version() -> str:
    from importlib.metadata import version

    return version("tamis")


def _json(value: object, status: int = 200) -> Answer:
    return Answer(json.dumps(value).encode() + b"\n", status)


def _health(_: Request, running: Running) -> Answer:
    return _json({"healthy": True, "state": running.life.value})


def _ready(_: Request, running: Running) -> Answer:
    is_ready = running.is_ready
    said = {"ready": is_ready, "state": running.life.value, "problems": running.plane.health.problems}
    return _json(said, 200 if is_ready else 503)


def _metrics(_: Request, running: Running) -> Answer:
    return Answer(metrics(running, _version()).encode(), content_type="text/plain; version=0.0.4; charset=utf-8")


def _status(_: Request, running: Running) -> Answer:
    return _json(status_form(running, _version()))


def _connections(request: Request, running: Running) -> Answer:
    """In the order of their numbers, from `cursor` on."""
    limit, cursor = _page_of(request)
    numbers = sorted(number for number in running.plane.clients if number >= cursor)
    shown = [connection_form(running.plane.clients[number]) for number in numbers[:limit]]
    return _json({"connections": shown, "next": numbers[limit] if len(numbers) > limit else None})


def _filters(request: Request, running: Running) -> Answer:
    """In the order of their handles, from `cursor` on."""
    limit, handle = _page_of(request)
    shown: list[Subscribed] = []
    while (found := running.plane.switch.subscribed(handle)) is not None and len(shown) < limit:
        shown.append(found)
        handle = found.handle + 1
    forms = [_filter_form(item, running) for item in shown]
    return _json({"filters": forms, "next": None if found is None else found.handle})


def _explain(request: Request, running: Running) -> Answer:
    """A message, as a JSON object of its attributes, by the live table."""
    from tamis.protocol.message_text import parse_message

    try:
        attributes = parse_message([request.body.decode()])
    except UnicodeDecodeError:
        raise Problem(400, "the body must be UTF-8") from None
    except SyntaxRefused as error:
        raise Problem(400, f"the body must be one JSON object of attributes: {error.problem}") from None
    limit = request.number("limit", LIMIT, 1, LIMIT_MAX)
    found = reached(running.plane.table, running.plane.switch, attributes)
    shown = found.filters[:limit]
    return _json(
        {
            "interfaces": sorted({item.connection for item in found.filters}),
            "clients": sorted({_client_name(item, running) for item in found.filters}),
            "matching_filters": found.total,
            "complete": found.total == len(shown),
            "filters": [_filter_form(item, running) for item in shown],
        }
    )


def _routes(request: Request, running: Running) -> Answer:
    """Routers in the order of their numbers, from `cursor` on."""
    limit, cursor = _page_of(request, 2**64 - 1)
    return _json(routes_form(_network(running), running.settings.broadcast, limit, cursor))


def _ask_all(_: Request, running: Running) -> Answer:
    """Begin an audit."""
    return _json({"ticket": _network(running).audit()})


def _audited(request: Request, running: Running) -> Answer:
    """How the audit `ticket` went; only the latest is kept."""
    network = _network(running)
    ticket = request.number("ticket", 0, 0, 2**32 - 1)
    if ticket not in network.audits:
        raise Problem(404, "there is no such audit, or a later one")
    found = network.audits[ticket]
    if found is None:
        return _json({"done": False})
    name_of = network.core.desk.topology.name_of
    return _json(
        {"done": True, "answered": found.answered, "differing": [name_of(router) for router in found.differing]}
    )


def _network(running: Running) -> Network:
    if running.plane.network is None:
        raise Problem(404, "this router has no links")
    return running.plane.network


def _page_of(request: Request, cursor_max: int = 2**32 - 1) -> tuple[int, int]:
    return request.number("limit", LIMIT, 1, LIMIT_MAX), request.number("cursor", 0, 0, cursor_max)


def _filter_form(item: Subscribed, running: Running) -> dict[str, object]:
    from tamis.protocol.language import format_filter

    return {
        "handle": item.handle,
        "interface": item.connection,
        "client": _client_name(item, running),
        "subscription": item.subscription,
        "own_messages": item.own_messages,
        "filter": format_filter(decode_filter(item.filter)),
    }


def _client_name(item: Subscribed, running: Running) -> str:
    """Empty for one that has gone and whose filters are being forgotten."""
    client = running.plane.clients.get(item.connection)
    return client.name if client is not None else ""


PAGES: Final[Mapping[str, tuple[str, Callable[[Request, Running], Answer]]]] = {
    "/healthz": ("GET", _health),
    "/readyz": ("GET", _ready),
    "/metrics": ("GET", _metrics),
    "/status": ("GET", _status),
    "/connections": ("GET", _connections),
    "/filters": ("GET", _filters),
    "/explain": ("POST", _explain),
    "/routes": ("GET", _routes),
    "/audit": ("POST", _ask_all),
    "/audited": ("GET", _audited),
}
