"""POST /v1/messages with one message: a JSON object, or any other body with the attributes in the query."""

from __future__ import annotations

from time import time_ns
from typing import Final, cast

from tamis.client.confirming import Confirm, level_of
from tamis.client.errors import ClientClosed, PublishRefused, PublishUnknown
from tamis.client.messages.outbox import Unconfirmed
from tamis.gateway.bodies import Bodies
from tamis.gateway.http.queries import Query, pairs_of
from tamis.gateway.posters import Posters
from tamis.gateway.upstream import Caller, Upstream
from tamis.native.codecs import JsonReader
from tamis.native.json_refusals import JsonCode, JsonRefusal, JsonRefused
from tamis.protocol.errors import MessageTextError, Refused
from tamis.protocol.limits import DELIVERABLE_BYTES_MAX
from tamis.protocol.message_text import read_value
from tamis.protocol.values import Value, check_name
from tamis.protocol.wire.codes import RefusalCode
from tamis.protocol.wire.data_frames import encode_publish
from tamis.protocol.wire.header import CONFIRM, DURABLE, EVERY_HOME
from tamis.serving.answers import Answer
from tamis.serving.problem import Problem, RequestRefused, problem_of, refused
from tamis.serving.request import Request

BODY_BYTES_MAX: Final = 983_040
"""Bytes of a body: 1 MiB less the room for the frame around it."""
ANSWER_S: Final = 15.0
"""Seconds for the router's answer."""
LEVELS: Final = {"accepted": True, "stored": True, "held": True, "none": False}
"""The levels of `confirm`, and whether the router answers."""
_STATUS: Final = {
    RefusalCode.NOT_ALLOWED: ("not-allowed", 403),
    RefusalCode.OVER_QUOTA: ("slow-down", 429),
    RefusalCode.OVERLOADED: ("slow-down", 429),
    RefusalCode.NOT_IN_SPACE: ("not-in-space", 422),
    RefusalCode.TOO_LARGE: ("too-large", 413),
    RefusalCode.DUPLICATE: ("duplicate", 409),
    RefusalCode.DRAINING: ("draining", 503),
    RefusalCode.NOT_IN_STEP: ("not-in-step", 503),
    RefusalCode.NO_LOG: ("no-log", 409),
    RefusalCode.LOG_FULL: ("log-full", 507),
    RefusalCode.LOG_FAILED: ("log-failed", 507),
    RefusalCode.NOT_HELD: ("not-held", 504),
}
_LATER: Final = (("Retry-After", "1"),)


def flags_of(level: str) -> int:
    """Return the flags of a message whose answer is at this level of `confirm`."""
    told = level_of(None if level == "none" else cast("Confirm", level))
    return CONFIRM * told.is_answered | DURABLE * told.is_stored | EVERY_HOME * told.is_held


async def publish_json(request: Request, caller: Caller, posters: Posters, bodies: Bodies) -> Answer:
    level = Query(request, ("confirm",)).choice("confirm", LEVELS, "accepted")
    reader = JsonReader(flags=flags_of(level))
    async with posters.of(caller) as upstream, bodies.of(request, caller.name, BODY_BYTES_MAX) as body:
        id_ = upstream.pump.outbox.next_id
        try:
            frame = reader.read(body, id_.origin, id_.counter, time_ns()).frame
        except JsonRefused as error:
            raise RequestRefused(json_problem(error.refusal, body)) from None
        return await _published(upstream, frame, level)


async def publish_body(request: Request, caller: Caller, posters: Posters, bodies: Bodies) -> Answer:
    """Publish the body as payload, with the attributes of the query."""
    level, attributes = _attributes(request)
    async with posters.of(caller) as upstream, bodies.of(request, caller.name, BODY_BYTES_MAX) as payload:
        id_ = upstream.pump.outbox.next_id
        try:
            frame = encode_publish(*id_, time_ns(), attributes, payload, flags_of(level))
        except Refused as error:
            raise refused("message", 400, str(error)) from None
        return await _published(upstream, frame, level)


async def _published(upstream: Upstream, frame: bytes, level: str) -> Answer:
    if len(frame) > DELIVERABLE_BYTES_MAX:
        raise refused("too-large", 413, f"a message has at most {DELIVERABLE_BYTES_MAX} bytes in all")
    outbox = upstream.pump.outbox
    try:
        message: Unconfirmed = await upstream.pump.ask(
            lambda waiter: outbox.publish_frame(frame, waiter, retry=False), timeout_s=ANSWER_S
        )
    except PublishRefused as error:
        raise RequestRefused(_problem_of(error)) from None
    except Refused as error:
        raise refused("too-large", 413, str(error)) from None
    except (PublishUnknown, ClientClosed) as error:
        raise refused("unknown", 504, f"{error}: the message may have been published") from None
    except TimeoutError:
        why = f"the router has not answered in {ANSWER_S:g} s: the message may have been published"
        raise refused("unknown", 504, why) from None
    id_ = f'"id": "{message.id.origin}-{message.id.counter}"'
    stored = "" if level in ("none", "accepted") else f', "stored": {_json(message.is_stored)}'
    return Answer(f"{{{id_}{stored}}}\n".encode(), 202)


def _json(is_stored: bool | None) -> str:
    return "null" if is_stored is None else "true" if is_stored else "false"


def _problem_of(error: PublishRefused) -> Problem:
    known = RefusalCode(error.code) if error.code in RefusalCode._value2member_map_ else None
    kind, status = _STATUS.get(known, ("refused", 422)) if known is not None else ("refused", 422)
    return Problem(kind, status, str(error), headers=_LATER if status in (429, 503) else ())


def _attributes(request: Request) -> tuple[str, dict[str, Value]]:
    """Return the level of `confirm`, and the attributes of a query; a name stands once."""
    level, attributes = "accepted", dict[str, Value]()
    for name, text in pairs_of(request):
        if name == "confirm":
            level = text
            continue
        if name in attributes:
            raise refused("message", 400, f"the attribute {name!r} stands twice")
        try:
            attributes[check_name(name)] = read_value(text)
        except (Refused, MessageTextError) as error:
            raise refused("message", 400, f"{name}: {error}") from None
    if level not in LEVELS:
        raise refused("query", 400, f"`confirm` is {' or '.join(LEVELS)}, not {level!r}")
    return level, attributes


def json_problem(refusal: JsonRefusal, text: bytes) -> Problem:
    """Return the problem of a message in JSON, with its position."""
    if refusal.code in (JsonCode.TOO_LARGE, JsonCode.LINE_LONG):
        return Problem("too-large", 413, refusal.problem)
    shown = text.decode(errors="replace")
    return problem_of(MessageTextError(refusal.problem, shown, refusal.line, refusal.column), "json")
