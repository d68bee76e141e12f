"""The pages of administration, by path.

Law: one table lists the pages and their methods; rates.py limits some of them. A page is bounded in bytes and in this
thread's time (answers.py); if there is more, it has the cursor of the next page. Modules that a single page needs are
imported with its first request. A page that reads the disk is awaited and blocks no other.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import parse_qs, urlsplit

from tamis.native.residual import NativeResidual
from tamis.native.switch_values import Subscribed
from tamis.protocol.errors import SyntaxRefused
from tamis.protocol.limits import MATCH_STEPS, REPORT_DURABLES_MAX, RESIDUAL_PARTS
from tamis.protocol.old_names import with_old
from tamis.protocol.residual import ResidualVerdict, in_words, read_program
from tamis.protocol.strategies import Asks
from tamis.protocol.values import Value
from tamis.protocol.wire.attributes import encode_attributes
from tamis.protocol.wire.packed_filters import decode_filter
from tamis.router.access.client_rights import ClientRights
from tamis.router.access.in_force import AccessInForce
from tamis.router.admin.allowed import may_inspect, may_see
from tamis.router.admin.answers import HEAD_BYTES, PAGE_BYTES, BadRequest, Budget, Items, json_answer
from tamis.router.admin.edges import class_form, edge_forms, onward_forms
from tamis.router.admin.metrics import metrics
from tamis.router.admin.routes import interface_forms, known_routers, router_form, routes_head
from tamis.router.admin.spaces import put_spaces, space_form
from tamis.router.admin.status import connection_form, status_form
from tamis.router.admin.view import RouterView
from tamis.router.clients.dry_run import reached
from tamis.serving.answers import Answer

if TYPE_CHECKING:
    from tamis.router.durable.hosted import HostedDurable
    from tamis.router.links.joined import JoinedNetwork

LIMIT: Final = 100
LIMIT_MAX: Final = 500
DENIED_MAX: Final = 20
DENIED_BYTES: Final = 64 * 1024
"""The most filters, and their bytes, that are listed of those whose program does not let a message pass."""
NUMBERS_PER_LOOK: Final = 256
"""Connection numbers that are tried between two checks of the time."""


@dataclass(frozen=True, slots=True)
class Request:
    method: str
    path: str
    query: Mapping[str, str]
    body: bytes
    rights: ClientRights | None = None
    """What rules of access say about who asks; None if they do not limit it."""

    @classmethod
    def of(cls, method: str, target: str, body: bytes, rights: ClientRights | None = None) -> Request:
        try:
            parts = urlsplit(target)
            query = parse_qs(parts.query, keep_blank_values=True, max_num_fields=16)
        except ValueError as error:
            raise BadRequest(400, f"the target cannot be read: {error}") from None
        return cls(method, parts.path, {name: values[-1] for name, values in query.items()}, body, rights)

    def number(self, name: str, default: int, least: int, most: int) -> int:
        text = self.query.get(name, str(default))
        if not text.isascii() or not text.isdigit() or len(text) > 20 or not least <= int(text) <= most:
            raise BadRequest(400, f"{name} must be from {least} to {most}, got {text[:40]!r}")
        return int(text)


def answer(request: Request, running: RouterView) -> Answer | Awaitable[Answer]:
    """Return the page for `request`, or an awaitable of it. Raise BadRequest if there is no such page or its rate limit
    is exceeded."""
    if request.path not in PAGES:
        raise BadRequest(404, f"there is no page {request.path[:100]}; pages: {', '.join(PAGES)}")
    page = PAGES[request.path]
    if request.method != page.method and (request.method, page.method) != ("HEAD", "GET"):
        raise BadRequest(405, f"{request.path} requires {page.method}", (("Allow", page.method),))
    if page.method == "POST" and not running.rates.take(request.path):
        raise BadRequest(429, f"too many requests for {request.path}; try again in a second", (("Retry-After", "1"),))
    return page.show(request, running)


@cache
def _version() -> str:
    from importlib.metadata import version

    return version("tamis")


def _health(_: Request, running: RouterView) -> Answer:
    return json_answer({"healthy": True, "state": running.life.value})


def _ready(_: Request, running: RouterView) -> Answer:
    """Return whether the router is ready. It becomes so once all links that are up have been in step, and stays so if
    they later are not, so that clients need not move for that."""
    said = {
        "ready": running.is_ready,
        "state": running.life.value,
        "in_step": running.connections.network.is_in_step,
        "problems": running.connections.health.problems,
    }
    return json_answer(said, 200 if running.is_ready else 503)


def _metrics(_: Request, running: RouterView) -> Answer:
    return Answer(metrics(running, _version()).encode(), content_type="text/plain; version=0.0.4; charset=utf-8")


def _status(_: Request, running: RouterView) -> Answer:
    return json_answer(status_form(running, _version()))


def _connections(request: Request, running: RouterView) -> Answer:
    """List clients in order of their connection numbers, from `cursor` on."""
    limit, cursor = _page_of(request)
    budget, clients = Budget(), running.clients.by_connection
    items, end = Items(limit, budget), running.connections.places.connections
    while cursor < end and not items.is_full:
        client = clients.get(cursor)
        if client is not None and not items.add(connection_form(client)):
            break
        cursor += 1
        if cursor % NUMBERS_PER_LOOK == 0 and budget.is_spent:
            break
    return items.page("connections", next=cursor if cursor < end else None)


def _filters(request: Request, running: RouterView) -> Answer:
    """List filters in order of their handles, from `cursor` on."""
    limit, handle = _page_of(request)
    items = Items(limit, Budget())
    while (found := running.connections.switch.subscribed(handle)) is not None and not items.is_full:
        if not items.add(_filter_form(found, running)):
            break
        handle = found.handle + 1
    return items.page("filters", next=None if found is None else found.handle)


def _is_here(subscriber: int, running: RouterView) -> bool:
    """Return whether a subscriber is a client or durable subscription of this router, and not a home elsewhere."""
    return subscriber in running.clients.by_interface or running.connections.switch.durable_of(subscriber) != 0


def _names(request: Request, running: RouterView) -> Answer:
    """List the names of attributes that filters and programs in the network use, filter by filter from `cursor` on."""
    from tamis.router.admin.names import CURSOR_MAX, names_form

    return json_answer(names_form(running, request.number("cursor", 0, 0, CURSOR_MAX)))


def _explain(request: Request, running: RouterView) -> Answer:
    """List the filters of the live table that match a message, a JSON object of its attributes, and the neighbours that
    would receive it from a client of this router. Clients and durable subscriptions are those of the filters that
    `reached` lists, without those whose residual program does not let the message pass (`denied` filters, the first of
    which are `denied_filters`), and those that rules of access keep it from (`withheld` filters)."""
    from tamis.protocol.message_text import parse_message

    try:
        attributes = parse_message([request.body.decode()])
    except UnicodeDecodeError:
        raise BadRequest(400, "the body must be UTF-8") from None
    except SyntaxRefused as error:
        raise BadRequest(400, f"the body must be one JSON object of attributes: {error.problem}") from None
    limit, budget = request.number("limit", LIMIT, 1, LIMIT_MAX), Budget()
    found = reached(running.connections.table, attributes, running.connections.switch.folds)
    items = Items(limit, budget, PAGE_BYTES - HEAD_BYTES - DENIED_BYTES)
    here = [row for row in found.rows if _is_here(row[0], running)]
    packed, subscribed = encode_attributes(attributes), running.connections.switch.subscribed
    refused = [row for row in here if _denies(subscribed(row[1]), packed)]
    wanted = sorted({*here} - {*refused})
    rows = _handed(wanted, attributes, running.clients.access)
    withheld, total = len(wanted) - len(rows), found.total - (len(found.rows) - len(here))
    matching = {subscriber for subscriber, _ in rows}
    durables = {
        subscriber: number for subscriber in matching if (number := running.connections.switch.durable_of(subscriber))
    }
    subscribers = matching - durables.keys()
    names = sorted(filter(None, map(running.connections.durable_name, durables.values())))
    served_by = running.connections.switch.connection_of
    served = {number for number in map(served_by, subscribers) if number is not None}
    not_let = Items(DENIED_MAX, budget, DENIED_BYTES)
    for listed, handles in ((not_let, refused), (items, rows)):
        _list_explained(listed, [handle for _, handle in handles], running)
    stored = {"durables": names[:REPORT_DURABLES_MAX], "durable_count": len(durables)}
    denied = len(refused)
    return items.page(
        "filters",
        {"denied_filters": not_let},
        interfaces=sorted(served),
        clients=sorted({_client_name(subscriber, running) for subscriber in subscribers}),
        **with_old(stored, keeps="durables", keep_count="durable_count"),
        passed_on=None if running.network is None else onward_forms(running.network, attributes),
        by_root=None if running.network is None else class_form(running.network.core, attributes),
        matching_filters=total,
        withheld=withheld,
        denied=denied,
        complete=found.is_whole and len(items) + withheld + denied == total,
    )


def _handed(
    rows: list[tuple[int, int]], attributes: dict[str, Value], access: AccessInForce | None
) -> list[tuple[int, int]]:
    """Return the rows of subscribers that rules let have the message."""
    if access is None:
        return rows
    gets = {subscriber: access.gets(subscriber, attributes) for subscriber in {subscriber for subscriber, _ in rows}}
    return [row for row in rows if gets[row[0]]]


def _routes(request: Request, running: RouterView) -> Answer:
    """List routers in order of their numbers, from `cursor` on; the first page also has the interfaces."""
    network = _network(running)
    limit, cursor = _page_of(request, 2**64 - 1)
    items = Items(limit, Budget())
    after = None
    for router in known_routers(network, cursor):
        if items.is_full or not items.add(router_form(network.core, router)):
            after = router
            break
    head = routes_head(network, running.settings.broadcast)
    interfaces = interface_forms(network) if cursor == 0 else []
    return items.page("routers", **head, interfaces=interfaces, next=after)


def _edges(request: Request, running: RouterView) -> Answer:
    """List the edges of this router, root by root, from `cursor` on."""
    network = _network(running)
    limit, cursor = _page_of(request)
    items = Items(limit, Budget())
    after = None
    for at, form in enumerate(edge_forms(network.core, cursor), cursor):
        if items.is_full or not items.add(form):
            after = at
            break
    head = routes_head(network, running.settings.broadcast)
    strategy = running.settings.strategy.facts
    return items.page("edges", **head, strategy=strategy.name, by_edges=strategy.asks is Asks.BY_EDGES, next=after)


def _unmatched(request: Request, running: RouterView) -> Answer:
    """List stored messages that matched no subscription, oldest first, after the number `cursor`."""
    from tamis.router.admin.unmatched import head_form, messages_after

    limit, after = _page_of(request, 2**64 - 1)
    items = Items(limit, Budget())
    is_more, left_out = False, 0
    for n, form in messages_after(running, after, lambda attributes: may_see(request.rights, attributes)):
        if form is None:
            left_out += 1
        elif items.is_full or not items.add(form):
            is_more = True
            break
        after = n
    return items.page("unmatched", **head_form(running), left_out=left_out, next=after if is_more else None)


def _durables(request: Request, running: RouterView, listed: str = "durables", stores: str = "is_storing") -> Answer:
    """List durable subscriptions in the order in which they were made, from the number `cursor` on; with `name`, only
    that one."""
    from tamis.router.admin.durable import durables_after

    limit, cursor = _page_of(request)
    items, name = Items(limit, Budget()), request.query.get("name")
    following = None

    def is_shown(held: HostedDurable) -> bool:
        return may_inspect(request.rights, held.name, held.owner)

    for number, form in durables_after(running, cursor, name, is_shown):
        if items.is_full or not items.add(form):
            following = number
            break
    return items.page(listed, **{stores: running.settings.durable is not None}, next=following)


def _elsewhere(request: Request, running: RouterView) -> Answer:
    """List the durable subscriptions of other routers that this one knows, in the order of their names, from name
    number `cursor` on; with `name`, only those of this name."""
    from tamis.router.admin.durable import elsewhere_forms

    limit, cursor = _page_of(request)
    items, following = Items(limit, Budget()), None
    for number, stated, form in elsewhere_forms(running, cursor, request.query.get("name")):
        if not may_inspect(request.rights, stated.name, stated.owner):
            continue
        if items.is_full or not items.add(form):
            following = number
            break
    return items.page("elsewhere", next=following)


def _waiting(request: Request, running: RouterView) -> Awaitable[Answer]:
    """List the messages that wait in the durable subscription `name` after the position `cursor`; with `dead=1`, its
    dead letters."""
    from tamis.router.admin.durable import waiting_page

    limit, cursor = _page_of(request, 2**64 - 1)
    name, is_dead = request.query.get("name", ""), request.query.get("dead") == "1"
    return waiting_page(running, name, cursor, limit, is_dead, request.rights)


def _ask_all(_: Request, running: RouterView) -> Answer:
    """Start an audit and return its ticket."""
    return json_answer({"ticket": _network(running).audit()})


def _audited(request: Request, running: RouterView) -> Answer:
    """Return the result of the audit `ticket`; only the latest one is available."""
    network = _network(running)
    ticket = request.number("ticket", 0, 0, 2**32 - 1)
    if ticket not in network.audits:
        raise BadRequest(404, "there is no such audit, or a later one has replaced it")
    found = network.audits[ticket]
    if found is None:
        return json_answer({"done": False})
    name_of = network.core.core_state.topology.name_of
    return json_answer(
        {"done": True, "answered": found.answered, "differing": [name_of(router) for router in found.differing]}
    )


def _network(running: RouterView) -> JoinedNetwork:
    if running.network is None:
        raise BadRequest(404, "this router has no links")
    return running.network


def _spaces(request: Request, running: RouterView) -> Answer:
    """List the spaces in force with their figures, from index `cursor` on."""
    limit, cursor = _page_of(request)
    known, figures = running.connections.spaces.set, running.connections.switch.spaces()
    names = [*known.spaces]
    items = Items(limit, Budget())
    while cursor < len(names) and not items.is_full:
        space = known.spaces[names[cursor]]
        if not items.add({**space_form(space), **figures[space.name]._asdict()}):
            break
        cursor += 1
    around = {"attribute": known.naming, "unknown": "refuse" if known.refuses_unknown else "allow"}
    return items.page("spaces", **around, next=cursor if cursor < len(names) else None)


def _put_spaces(request: Request, running: RouterView) -> Answer:
    return put_spaces(request.body, running)


def _page_of(request: Request, cursor_max: int = 2**32 - 1) -> tuple[int, int]:
    return request.number("limit", LIMIT, 1, LIMIT_MAX), request.number("cursor", 0, 0, cursor_max)


def _filter_form(item: Subscribed, running: RouterView) -> dict[str, object]:
    from tamis.protocol.language import format_filter

    form = {
        "handle": item.handle,
        "interface": item.connection,
        "client": _client_name(item.subscriber, running),
        "subscription": item.subscription,
        "own_messages": item.own_messages,
        "group": _group_of(item, running),
        "durable": running.connections.durable_name(item.durable) if item.durable else None,
        "filter": format_filter(decode_filter(item.filter)),
        "dialect": _dialect_of(item, running) or None,
        "exact": not item.residual,
    }
    if item.residual:
        said = in_words(read_program(item.residual))
        form |= {"residual": said, "candidates": item.candidates, "passed": item.passed}
    return with_old(form, keep="durable")


def _list_explained(items: Items, handles: list[int], running: RouterView) -> None:
    """List filters, each with its program in hexadecimal: who asks runs it, condition by condition."""
    for handle in handles:
        item = running.connections.switch.subscribed(handle)
        if item is not None:
            program = {"program": item.residual.hex()} if item.residual else {}
            if items.is_full or not items.add(_filter_form(item, running) | program):
                return


def _denies(item: Subscribed | None, attributes: bytes) -> bool:
    """Return whether the residual program of a filter's subscription does not let a message pass that it matches."""
    if item is None or not item.residual:
        return False
    said = NativeResidual(item.residual).run(attributes, MATCH_STEPS // RESIDUAL_PARTS)
    return said.verdict is not ResidualVerdict.TRUE


def _dialect_of(item: Subscribed, running: RouterView) -> str:
    """Return the dialect that a filter was written in; "" for the language of Tamis, or if its client did not say."""
    if not item.durable or running.durable is None:
        return item.dialect
    held = running.durable.registry.by_number.get(item.durable)
    return held.made.policy.dialect if held is not None else ""


def _group_of(item: Subscribed, running: RouterView) -> str | None:
    """Return the worker group of a filter's subscription; None if it is in none."""
    subscriber = running.clients.by_interface.get(item.subscriber)
    return subscriber.groups.get(item.subscription) if subscriber is not None else None


def _client_name(interface: int, running: RouterView) -> str:
    """Return the name of a subscriber's client; "" if the client has left and its filters are being removed."""
    subscriber = running.clients.by_interface.get(interface)
    return subscriber.name if subscriber is not None and subscriber.client is not None else ""


def _give(request: Request, running: RouterView) -> Awaitable[Answer]:
    """Give the durable subscription `durable` to the principal `owner`."""
    from tamis.router.admin.giving import give

    return give(request.query.get("durable", ""), request.query.get("owner", ""), request.rights, running)


def _purge(request: Request, running: RouterView) -> Awaitable[Answer]:
    """Remove from the durable subscription `durable` what its owner may not have."""
    from tamis.router.admin.purging import purge

    return purge(request.query.get("durable", ""), request.rights, running)


class Page(NamedTuple):
    method: str
    show: Callable[[Request, RouterView], Answer | Awaitable[Answer]]


PAGES: Final[Mapping[str, Page]] = {
    "/healthz": Page("GET", _health),
    "/readyz": Page("GET", _ready),
    "/metrics": Page("GET", _metrics),
    "/status": Page("GET", _status),
    "/connections": Page("GET", _connections),
    "/filters": Page("GET", _filters),
    "/names": Page("GET", _names),
    "/spaces": Page("GET", _spaces),
    "/spaces/put": Page("POST", _put_spaces),
    "/unmatched": Page("GET", _unmatched),
    "/durables": Page("GET", _durables),
    "/durables/elsewhere": Page("GET", _elsewhere),
    "/durables/waiting": Page("GET", _waiting),
    "/durables/give": Page("POST", _give),
    "/durables/purge": Page("POST", _purge),
    "/kept": Page("GET", partial(_durables, listed="kept", stores="keeps")),  # names of the previous version
    "/kept/waiting": Page("GET", _waiting),
    "/explain": Page("POST", _explain),
    "/routes": Page("GET", _routes),
    "/edges": Page("GET", _edges),
    "/audit": Page("POST", _ask_all),
    "/audited": Page("GET", _audited),
}
