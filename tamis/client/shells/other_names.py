"""Arguments that clients of other systems have, and their equivalents here, for the text of a TypeError.

Law: a valid call costs no more than a plain function call, and its type is unchanged. The text for an argument stands
once, in OTHERS.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from functools import wraps
from typing import Final, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C", bound=type)
Call = TypeVar("Call", bound=Callable[..., object])

_ADDRESS: Final = 'a router is given by its address, connect("tamis://HOST:PORT")'
_NAME: Final = "a client proves its name by a token: name=, token="
_NAMED: Final = "use name="
_TLS: Final = "an address tamis+tls://HOST:PORT is encrypted; tls= takes an ssl.SSLContext"
_CALLED: Final = "use on_connected=, on_disconnected= and on_gap="
_ALIVE: Final = "a connection without data for hold_s= seconds counts as dead"
_REDIAL: Final = (
    "a client reconnects without end; redial_s= is the longest pause, patience_s= the time for the first connection"
)
_CONTENT: Final = 'a message has attributes instead of a topic: {"topic": "prices", "symbol": "X"}'
_PAYLOAD: Final = "the content is payload= (bytes) or json="
_ATTRIBUTES: Final = "headers are attributes of the message"
_CONFIRM: Final = 'confirm=True waits for the router, confirm="stored" for its disk; retry=True sends again after a cut'
_PREDICATES: Final = "a subscription has predicates: 'topic = \"prices\" and price > 10'"
_ITERATED: Final = "there is no callback: iterate by `async for` in a task, or by `for` in a thread"
_GROUP: Final = "group= shares messages among clients; `durable` and `consume` make a queue on disk"
_DURABLE: Final = "a durable subscription stores messages on disk: `durable` creates it, `consume` reads it"
_CREDIT: Final = "credit= is the number of messages that the router may send ahead"
_SECONDS: Final = "use timeout_s=, in seconds"
_TTL: Final = "ttl_s=30 lets a message expire after 30 seconds"
_QUESTION: Final = "`request` waits for the answer; a responder answers by `question.answer`"
_START: Final = 'start= is "new", "earliest", a datetime or the id of a message'
_ACKED: Final = "message.ack() acknowledges a message; without it, the message is delivered again"


UNKNOWN: Final = "see help() of the method for its arguments"


def _each(names: str, sentence: str) -> dict[str, str]:
    return dict.fromkeys(names.split(), sentence)


_SENT: Final = (
    _each("topic topics subject channel routing_key exchange queue stream", _CONTENT)
    | _each("body message msg data value content", _PAYLOAD)
    | _each("headers properties key partition metadata", _ATTRIBUTES)
    | _each("qos acks ack retain persistent durable mandatory delivery_mode sync", _CONFIRM)
    | _each("ttl expiration expiry expire", _TTL)
    | _each("reply reply_to correlation_id", _QUESTION)
    | _each("callback on_delivery", _CONFIRM)
)
_WANTED: Final = (
    _each("topic topics subject channel pattern routing_key exchange stream filter where query", _PREDICATES)
    | _each("callback cb handler on_message listener", _ITERATED)
    | _each("queue queue_group group_id consumer_group", _GROUP)
    | _each("durable durable_name qos persistent", _DURABLE)
    | _each("offset from_beginning auto_offset_reset start deliver_policy", _DURABLE)
    | _each("auto_ack no_ack ack manual_ack", _ACKED)
    | _each(
        "prefetch prefetch_count max_in_flight pending_msgs_limit", "use inbox_messages= and inbox_bytes= of connect"
    )
    | _each("json", "`message.json()` decodes a payload in JSON")
)
_UNNAMED: Final = _each("predicate", "predicates are positional: subscribe('price > 10', 'symbol = \"X\"')")
_STORED: Final = (
    _each("max_age retention expires", 'until="acked", or for_= a time')
    | _each("max_bytes size", "bytes= limits the bytes stored")
    | _each("max_msgs maxlen max_length", "count= limits the messages stored")
    | _each("ttl x_expires inactive_threshold", "idle= is the time without a consumer after which it is removed")
    | _each("max_deliver delivery_limit", "max_deliveries= limits the failed deliveries of a message")
    | _each("ack_wait visibility_timeout", "use ack_wait_s=, in seconds")
    | _each(
        "dead_letter_exchange dlq dead_letter_queue", "dead_letter= names the durable subscription for dead letters"
    )
    | _each(
        "max_ack_pending prefetch_count", "max_unacked= limits the messages that are delivered and not acknowledged"
    )
    | _each("offset from_beginning auto_offset_reset deliver_policy", _START)
    | _each("topic topics subject channel subjects filter_subject", _PREDICATES)
    | _each("durable durable_name persistent", "a durable subscription is always on disk")
)
_CONSUMED: Final = (
    _each("prefetch prefetch_count max_in_flight qos batch", _CREDIT)
    | _each(
        "queue durable durable_name stream",
        "the name of the durable subscription is the first argument: consume('jobs')",
    )
    | _each("callback cb handler on_message", _ITERATED)
    | _each("auto_ack no_ack ack manual_ack", _ACKED)
    | _each("offset", "after= skips messages up to a position")
    | _each("group group_id", "all consumers of one durable subscription share its messages")
)

OTHERS: Final[Mapping[str, Mapping[str, str]]] = {
    "connect": _each("host hostname port server servers url uri brokers bootstrap_servers address", _ADDRESS)
    | _each("user username password credentials auth user_credentials", _NAME)
    | _each("client_id clientid identifier", _NAMED)
    | _each("ssl ssl_context tls_context use_tls ca_certs cafile tls_set", _TLS)
    | _each("on_connect on_disconnect on_message disconnected_cb reconnected_cb error_cb closed_cb", _CALLED)
    | _each("keepalive heartbeat ping_interval session_timeout_ms", _ALIVE)
    | _each("timeout connect_timeout reconnect allow_reconnect max_reconnect_attempts reconnect_time_wait", _REDIAL)
    | _each("vhost virtual_host db", "a router serves one network, with one space of attributes")
    | _each("clean_session clean_start durable", _DURABLE),
    "publish": _SENT,
    "try_publish": _SENT,
    "publish_many": _SENT | _each("json", "give payloads with the attributes: [({'n': 1}, b'...'), ...]"),
    "trace": _SENT,
    "route": _SENT,
    "request": _SENT | _each("timeout", _SECONDS),
    "subscribe": _WANTED | _UNNAMED,
    "respond": _WANTED | _UNNAMED,
    "replay": _WANTED | _each("offset from_beginning start", "since= and until= are datetimes with a time zone"),
    "durable": _STORED,
    "consume": _CONSUMED,
    "close": _each("timeout timeout_s", "drain_s= is the time to complete calls in progress"),
}
"""By call: the arguments of other libraries, and the equivalent of each."""


def names_others(call: Callable[P, R]) -> Callable[P, R]:
    """Return `call` wrapped: given an argument of another library, it raises a TypeError that names the equivalent."""
    parameters = inspect.signature(call).parameters

    @wraps(call)
    def named(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return call(*args, **kwargs)
        except TypeError:
            if unknown := [word for word in kwargs if word not in parameters]:
                raise names_of_others(call.__name__, unknown, call) from None
            raise

    return named


def all_name_others(client: C) -> C:
    """Wrap the methods of a class that OTHERS lists, except those that check `**others` themselves: the cost of a
    wrapper is measurable for each publish."""
    for name in OTHERS:
        call = getattr(client, name, None)
        if call is not None and "others" not in inspect.signature(call).parameters:
            setattr(client, name, names_others(call))
    return client


def without_attributes(call: Call) -> Call:
    """Let a call without its first argument, the attributes, reach the check of its `**others`. The type of the call
    still requires attributes, and None is refused."""
    call.__defaults__ = (None, *(call.__defaults__ or ()))
    return call


def names_of_others(name: str, unknown: Iterable[str], call: Callable[..., object]) -> TypeError:
    """Return the error for a call of `call`, the method `name`, with the arguments `unknown`."""
    parameters = inspect.signature(call).parameters
    reasons: dict[str, list[str]] = {}
    for word in unknown:
        near = get_close_matches(word, parameters, 1)
        reason = OTHERS.get(name, {}).get(word) or (f"did you mean {near[0]}=?" if near else UNKNOWN)
        reasons.setdefault(reason, []).append(f"{word}=")
    return TypeError(
        "; ".join([f"{name}() takes no {' and no '.join(words)}: {reason}" for reason, words in reasons.items()])
    )
