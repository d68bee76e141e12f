"""GET /v1/messages: what satisfies predicates, as Server-Sent Events or a line each, until the client leaves."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Final

from tamis.client.errors import SubscriptionRefused
from tamis.client.messages.pending import (
    GROUP,
    PackedPredicate,
    SubscribeOptions,
    decided_in,
    options_of,
    packing,
)
from tamis.gateway.feed import Feed
from tamis.gateway.http.queries import Query
from tamis.gateway.upstream import Caller, Upstream, Upstreams, drawn
from tamis.native.codecs import EventFields, EventForm
from tamis.protocol.errors import DialectError, PredicateError, Refused
from tamis.serving.problem import Headers, Problem, RequestRefused, problem_of, refused
from tamis.serving.request import ClientLeft, Request

BEAT_S: Final = 15.0
"""Seconds between signs of life in a stream of Server-Sent Events."""
COUNT_MAX: Final = 2**53
PREDICATES_MAX: Final = 64
SHORT_BYTES: Final = 512
"""Bytes of a query that is translated in the loop: a millisecond or two."""
SUBSCRIBE_S: Final = 15.0
FORMS: Final[Mapping[str, EventForm]] = {
    "text/event-stream": EventForm.SSE,
    "application/x-ndjson": EventForm.NDJSON,
}
_FIELDS: Final = EventFields.ID | EventFields.TIME | EventFields.MATCHED
_HEADERS: Final = (("Cache-Control", "no-store"), ("X-Accel-Buffering", "no"))


def form_of(request: Request) -> EventForm:
    """Return the form that a request accepts. Raise RequestRefused if it is none of ours."""
    accepted = request.headers.get("accept", "*/*")
    for part in accepted.split(","):
        kind = part.partition(";")[0].strip().lower()
        if kind in FORMS:
            return FORMS[kind]
        if kind in ("*/*", "text/*"):
            return EventForm.SSE
        if kind == "application/*":
            return EventForm.NDJSON
    raise refused("not-acceptable", 406, f"a stream is {' or '.join(FORMS)}, not {accepted[:80]!r}")


async def stream(request: Request, caller: Caller, shared: Upstreams, feeds: set[Feed], headers: Headers) -> None:
    """Stream deliveries; `feeds` has the feed meanwhile. `headers`: further ones of the answer."""
    form = form_of(request)
    keys = ("where", "dialect", "group", "own", "wait", "count", "integers")
    query = Query(request, keys, many=("where",))
    count = query.number("count", 1, COUNT_MAX)
    fields = _FIELDS
    if query.choice("integers", {"number": None, "text": None}, "number") == "text":
        fields |= EventFields.INTEGERS
    upstream = Upstream(shared, caller, f"{form.name.lower()}-{drawn()}")
    await upstream.connect()
    try:
        packed, options = await _in_time(query, len(request.query))
        feed = Feed(upstream, form, fields, count)
        feeds.add(feed)
        try:
            ids = await _subscribed(upstream, packed, options, feed)
            content_type = next(kind for kind, each in FORMS.items() if each is form)
            answer = request.stream(content_type, headers=_HEADERS + headers)
            if form is EventForm.SSE:
                answer.send(b"retry: 1000\n")
            feed.start(answer)
            feed.tell("subscribed", {"ids": list(ids), "router": upstream.pump.core.router, "name": upstream.name})
            await _until_over(feed, request)
            if feed.is_cut:
                request.connection.give_way()
        finally:
            feeds.discard(feed)
            feed.close()
    finally:
        await upstream.close()


async def _until_over(feed: Feed, request: Request) -> None:
    """Return when the feed is over and its text is sent."""
    while not feed.over.done() or feed.waits:
        try:
            async with asyncio.timeout(BEAT_S):
                await feed.wake.wait()
        except TimeoutError:
            feed.beat()
        feed.wake.clear()
        try:
            await request.connection.when_writable()
        except ClientLeft:
            return
        feed.go_on()


async def _in_time(query: Query, size: int) -> tuple[list[PackedPredicate], SubscribeOptions]:
    """Return what a query asks for. What may take long is done by a thread, so that others are served meanwhile."""
    return _wanted(query) if size <= SHORT_BYTES else await asyncio.to_thread(_wanted, query)


def _wanted(query: Query) -> tuple[list[PackedPredicate], SubscribeOptions]:
    texts, dialect = query.all("where"), query.text("dialect")
    if not texts:
        raise refused("query", 400, "`where` is missing: a predicate such as `where=severity > 2`, or `where=true`")
    if len(texts) > PREDICATES_MAX:
        raise refused("query", 400, f"`where` stands at most {PREDICATES_MAX} times")
    group = query.text("group")
    wait = query.choice("wait", {"home": None, "network": None}, "home")
    try:
        options = options_of(query.flag("own"), wait, group)
        decided = [decided_in(text, dialect, exact_for=None if group is None else GROUP) for text in texts]
        return list(packing(decided, options)), options
    except (PredicateError, DialectError) as error:
        raise RequestRefused(problem_of(error, "predicate")) from None
    except Refused as error:
        raise refused("predicate", 400, str(error)) from None


async def _subscribed(
    upstream: Upstream, packed: list[PackedPredicate], options: SubscribeOptions, feed: Feed
) -> tuple[int, ...]:
    """Return the ids of the predicates when the router has them."""
    registry = upstream.pump.core.registry
    try:
        begin = partial(registry.subscribe, packed, options, inbox=feed)
        wanted = await upstream.pump.ask(lambda waiter: begin(waiter=waiter), timeout_s=SUBSCRIBE_S)
    except SubscriptionRefused as error:
        raise RequestRefused(Problem("not-allowed", 403, str(error))) from None
    except Refused as error:
        raise refused("predicate", 400, str(error)) from None
    except TimeoutError:
        raise refused("no-router", 503, f"the router has not answered in {SUBSCRIBE_S:g} s") from None
    return wanted.ids
