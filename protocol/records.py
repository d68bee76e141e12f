"""The records of a router's event log: their kinds and fields, as one table.

Law: a record is one JSON object on a line, or a row of the columns of `record_columns.py`. It has the fields of its
kind in this table, those that every record has, and no others; a field that does not apply is left out. A kind may gain
fields under one version; a change of a field's meaning, or its removal, increases VERSION. Times are Unix time in
microseconds by the clock of the router that writes; `clock` records have its difference from those of the neighbours.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

VERSION: Final = 1

ENDINGS: Final = (".parquet", ".jsonl.gz", ".jsonl")
"""The forms of a file of records: columns, compressed lines, lines that may still be written. While a file is brought
into another form, both exist; readers take the first of these, and no other."""

FieldType = Literal["integer", "number", "boolean", "text", "texts", "integers", "counts"]
"""The types of JSON: integers are signed 64 bit, numbers are doubles; `counts` is an object of text -> integer."""


@dataclass(frozen=True, slots=True)
class RecordField:
    name: str
    type: FieldType
    meaning: str


@dataclass(frozen=True, slots=True)
class RecordKind:
    """One kind of record. `family` selects its files: messages have files of their own, since they are many and are
    read separately."""

    name: str
    meaning: str
    family: Literal["messages", "events"]
    fields: tuple[RecordField, ...]


COMMON: Final = (
    RecordField("v", "integer", "version of this table"),
    RecordField("kind", "text", "kind of record"),
    RecordField("t_us", "integer", "time of the event"),
    RecordField("router", "text", "the router that writes the record"),
    RecordField("epoch", "integer", "number of the router's run; later runs have larger ones"),
    RecordField("n", "integer", "number of the record in its file family and run; a gap is a loss"),
)

_DURABLE = RecordField("keep", "integer", "number of the durable subscription at this router, never reused")

_LINK = RecordField("neighbour", "text", "the router at the other end")
_ISSUER = (
    RecordField("issuer", "text", "the router that issued the statement"),
    RecordField("issuer_epoch", "integer", "the run of the issuer in which it was made"),
    RecordField("seq", "integer", "its number in that run"),
)

KINDS: Final = {
    kind.name: kind
    for kind in (
        RecordKind(
            "life",
            "the router starts, is ready, or stops",
            "events",
            (
                RecordField(
                    "what", "text", "`started`, `ready`, `stopping`, `stopped`; a crash has neither of the last two"
                ),
                RecordField("version", "text", "version of the program"),
                RecordField("sampling", "text", "the configured sampling of messages"),
                RecordField("engine", "text", "the matching engine"),
                RecordField(
                    "strategy",
                    "text",
                    "the routing strategy; followed by ` (paper)` or ` (everywhere)` in these modes",
                ),
                RecordField("broadcast", "text", "the broadcast layer"),
            ),
        ),
        RecordKind(
            "link",
            "a link to a neighbour came up or went down",
            "events",
            (
                _LINK,
                RecordField("what", "text", "`up` or `down`"),
                RecordField("session", "integer", "number of the connection"),
                RecordField("interface", "integer", "its number among the interfaces of this run"),
                RecordField("cost", "integer", "the cost that both ends agree on"),
                RecordField("reason", "text", "the reason why it went down"),
            ),
        ),
        RecordKind(
            "clock",
            "the neighbour's clock relative to this router's",
            "events",
            (
                _LINK,
                RecordField("offset_us", "integer", "the neighbour's time minus this router's"),
                RecordField("error_us", "integer", "the largest error of the offset: half of the shortest round trip"),
                RecordField("round_trip_us", "integer", "the shortest recent round trip"),
            ),
        ),
        RecordKind(
            "topology",
            "this router's view of the network has changed",
            "events",
            (
                RecordField("generation", "integer", "number of changes in this run"),
                RecordField("routers", "texts", "reachable routers, itself included"),
                RecordField("edges", "texts", "`a b cost`, for each link in use"),
                RecordField("cause", "text", "the statement that was received, or the link that changed"),
            ),
        ),
        RecordKind(
            "control",
            "a control frame between routers",
            "events",
            (
                _LINK,
                RecordField("way", "text", "`in` or `out`"),
                RecordField("what", "text", "the frame kind, by its name on the wire"),
                *_ISSUER,
                RecordField("bytes", "integer", "bytes of all its frames"),
                RecordField("added", "integer", "filters that it adds"),
                RecordField("removed", "integer", "filters that it removes"),
                RecordField("full", "boolean", "true if it states all filters, not a change or a part"),
                RecordField(
                    "cause",
                    "text",
                    "the reason: `change` (of its router's interest), `link` (of its links), `flood` (forwarded), "
                    "`age` (the periodic comparison of state) or `repair`",
                ),
            ),
        ),
        RecordKind(
            "subscription",
            "a subscription of a client has changed, with effect from now on",
            "events",
            (
                RecordField("client", "text", "its name; it stays equal over reconnects if the client chose it"),
                RecordField("connection", "integer", "its number among the connections of this run"),
                RecordField("subscription", "integer", "the number that the client gave it"),
                RecordField("what", "text", "`added` or `removed`"),
                RecordField("filters", "texts", "each as the JSON form that `tamis match` reads"),
                RecordField(
                    "keys", "texts", "keys of the filters, 16 hex digits each: equivalent filters have equal keys"
                ),
                RecordField("own", "boolean", "true if the client also receives its own messages"),
                RecordField("group", "text", "of `added`: its worker group; left out: none"),
                RecordField("residual", "text", "of `added`: its residual program, in hexadecimal; left out: none"),
                RecordField("cause", "text", "`asked` (by the client) or `gone` (the client left)"),
            ),
        ),
        RecordKind(
            "table",
            "the tables of the router, each second in which they changed and each minute",
            "events",
            (
                RecordField("filters", "integer", "filters of local clients in the table"),
                RecordField("remote_filters", "integer", "filters of other routers"),
                RecordField("constraints", "integer", "constraints of all filters"),
                RecordField("table_bytes", "integer", "bytes of the tables"),
                RecordField("memory_bytes", "integer", "the resident memory of the process"),
                RecordField("clients", "integer", "connected clients"),
                RecordField("stall_us", "integer", "the longest turn of the event loop since the last record"),
            ),
        ),
        RecordKind(
            "interface",
            "the counters of an interface, as increments since its last record; each second in which one changed",
            "events",
            (
                RecordField("interface", "integer", "its number in this run; none for a neighbour without a link now"),
                RecordField("neighbour", "text", "the router behind it"),
                RecordField("client", "text", "the client behind it"),
                RecordField("messages_in", "integer", "messages received"),
                RecordField("messages_out", "integer", "messages queued for it"),
                RecordField("bytes_in", "integer", "bytes received, control included"),
                RecordField("bytes_out", "integer", "bytes written"),
                RecordField("dropped", "counts", "messages for it that were dropped, by reason"),
                RecordField("refused", "counts", "messages received from it and not forwarded, by reason"),
                RecordField("queued_bytes", "integer", "bytes queued for it now"),
            ),
        ),
        RecordKind(
            "message",
            "a message at this router; sampling by id selects equal messages at all routers",
            "messages",
            (
                RecordField("origin", "text", "first half of its id: the publisher, 16 hex digits"),
                RecordField("number", "integer", "second half of its id"),
                RecordField("source", "text", "the entry router"),
                RecordField("source_epoch", "integer", "the run of the entry router"),
                RecordField("transit", "integer", "its number at the entry router"),
                RecordField("hop", "integer", "number of links from its source to this router, by the current route"),
                RecordField("from_neighbour", "text", "the router that sent it"),
                RecordField("from_connection", "integer", "the client connection that sent it"),
                RecordField("published_us", "integer", "the time by the publisher's clock"),
                RecordField(
                    "match_ns", "integer", "the time of matching; its share if several messages were matched together"
                ),
                RecordField("matched", "integer", "matching filters of local clients"),
                RecordField("to_neighbours", "texts", "the neighbours that it was forwarded to"),
                RecordField("to_connections", "integers", "the client connections that it was queued for"),
                RecordField(
                    "dropped", "integers", "interfaces that it was dropped for; -1: a neighbour without a link now"
                ),
                RecordField("bytes", "integer", "bytes of the frame"),
                RecordField(
                    "attributes",
                    "text",
                    "at the source router: its attributes as JSON; an integral float has a decimal point",
                ),
                RecordField(
                    "refused",
                    "text",
                    "the reason why it was not forwarded: `transit` (a copy), `parent` (from the wrong neighbour), "
                    "`hops` (none left), `expired`, `draining`, others as in `interface`; `duplicate` (not delivered)",
                ),
            ),
        ),
        RecordKind(
            "kept",
            "an event of a message in a durable subscription, or in the chain from the router where it entered to one "
            "that has durable subscriptions; all events of sampled messages are recorded",
            "messages",
            (
                _DURABLE,
                RecordField(
                    "what",
                    "text",
                    "`kept` (stored); `given` (delivered); its outcome: `acked`, `expired`, `dropped`, `replaced` (by "
                    "a later value), `dead` (a dead letter now), `undeliverable`, `damaged` (unreadable), `skipped` "
                    "(by the owner); `replayed` (after its outcome); `told`: losses reported to a consumer. "
                    "Others: `peer`",
                ),
                RecordField(
                    "peer",
                    "text",
                    "of a chain: the router for which this one stores the message (`entered`) or has given some up "
                    "(`given_up`); the one whose message is not stored here (`passed`), or reported as lost (`missed`)",
                ),
                RecordField("first", "integer", "of `given_up`, `missed`: all of the chain from this position"),
                RecordField("position", "integer", "its position in the log; of a chain: in that of the first router"),
                RecordField(
                    "origin",
                    "text",
                    "of `kept`, `given`, `replayed`, `entered`, `passed`: first half of its id, 16 hex digits",
                ),
                RecordField(
                    "number", "integer", "of `kept`, `given`, `replayed`, `entered`, `passed`: second half of its id"
                ),
                RecordField(
                    "maybe_duplicate",
                    "boolean",
                    "of `kept`, `given`, `replayed`: it may have been delivered before a crash or copy",
                ),
                RecordField(
                    "source",
                    "text",
                    "of `kept`: `publisher`, `start` (from the log, at the start) or `letter` (a dead letter)",
                ),
                RecordField("expires_us", "integer", "of `kept`: its expiry time"),
                RecordField("connection", "integer", "the connection of the consumer"),
                RecordField(
                    "deliveries", "integer", "number of its deliveries in this run of the router, this one included"
                ),
                RecordField("lost", "text", "of `told`: the outcome that is reported"),
                RecordField(
                    "total",
                    "integer",
                    "of losses and `told`: messages with this outcome since the durable subscription was created; of "
                    "`given_up`, `missed`: messages, left out if unknown",
                ),
            ),
        ),
        RecordKind(
            "keep",
            "a durable subscription was created or removed, or a consumer came or left",
            "events",
            (
                _DURABLE,
                RecordField(
                    "what",
                    "text",
                    "`made`; `found` in the log at a start; `attached`, `detached` (a consumer); `forgotten` (removed "
                    "by a client, or its lease expired)",
                ),
                RecordField("name", "text", "its name"),
                RecordField("client", "text", "the client that created or consumes it"),
                RecordField("connection", "integer", "number of the consumer's connection in this run"),
                RecordField("attachment", "integer", "the number that the client gave it"),
                RecordField("filters", "texts", "each as the JSON form that `tamis match` reads"),
                RecordField("keys", "texts", "keys of the filters, as in `subscription`"),
                RecordField("residual", "text", "its residual program, in hexadecimal; left out: none"),
                RecordField(
                    "terms", "counts", "the limits of its policy, by their names in a CREATE_DURABLE frame; 0: none"
                ),
                RecordField("overflow", "text", "`drop-oldest` or `refuse`"),
                RecordField("order_by", "text", "messages with equal values of this attribute are delivered in order"),
                RecordField("latest_by", "text", "only the last message of each value of this attribute is stored"),
                RecordField("dead_letter", "text", "the durable subscription for dead letters"),
                RecordField("doubts", "integer", "of `found`: damaged ranges of positions"),
                RecordField("cause", "text", "of `forgotten`: `asked` (removed) or `lease` (expired)"),
            ),
        ),
        RecordKind(
            "depth",
            "the state of a durable subscription, each second in which it changed; counts since its creation",
            "events",
            (
                _DURABLE,
                RecordField("open", "integer", "depth: messages that are not acknowledged"),
                RecordField("out", "integer", "of these, at consumers"),
                RecordField("past", "integer", "acknowledged messages that are still stored"),
                RecordField("bytes", "integer", "bytes of the frames of `open` and `past`"),
                RecordField("oldest_us", "integer", "age of the oldest of `open`"),
                RecordField("acked", "integer", "acknowledged messages"),
                RecordField("lost", "counts", "messages with other outcomes, by outcome"),
                RecordField("doubts", "integer", "damaged ranges of positions"),
                RecordField("refused", "integer", "messages refused because it was full, in this run of the router"),
                RecordField("delivered", "integer", "deliveries, in this run"),
                RecordField("redelivered", "integer", "redeliveries among them"),
                RecordField("members", "integer", "number of consumers"),
            ),
        ),
        RecordKind(
            "lost",
            "records lost because the writer was too slow",
            "events",
            (
                RecordField("family", "text", "the file family"),
                RecordField("count", "integer", "records lost since the last such record"),
            ),
        ),
    )
}


def whole_lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the bytes of `chunks` in blocks that end with a line, or with the last chunk."""
    rest = b""
    for chunk in chunks:
        whole, newline, after = chunk.rpartition(b"\n")
        if newline:
            yield rest + whole + newline
            rest = after
        else:
            rest += chunk
    if rest:
        yield rest
