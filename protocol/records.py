"""The records of a router's event log: their kinds and fields, as one table.

Law: a record is one JSON object on a line. It has the fields of its kind in this table, those that every record has,
and no others; a field that does not apply is left out. A kind may gain fields under one version; a change of a field's
meaning, or its removal, increases VERSION. Times are Unix time in microseconds by the clock of the router that writes;
`clock` records have its difference from those of the neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

VERSION: Final = 1

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
    RecordField("kind", "text", "which kind of record"),
    RecordField("t_us", "integer", "when"),
    RecordField("router", "text", "who writes"),
    RecordField("epoch", "integer", "which of its lives: larger ones are later"),
    RecordField("n", "integer", "number of the record in its file family and life, without gaps: a gap is a loss"),
)

_DURABLE = RecordField("keep", "integer", "number of the keep at this router, which no other keep ever has")

_LINK = RecordField("neighbour", "text", "the router at the other end")
_ISSUER = (
    RecordField("issuer", "text", "whose statement it is"),
    RecordField("issuer_epoch", "integer", "in which of its lives it was made"),
    RecordField("seq", "integer", "its number in that life"),
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
                    "what", "text", "`started`, `ready`, `stopping`, `stopped`; not the last two after a crash"
                ),
                RecordField("version", "text", "of the program"),
                RecordField("sampling", "text", "which messages are recorded, as configured"),
                RecordField("engine", "text", "which matches"),
                RecordField(
                    "strategy",
                    "text",
                    "by which routers share the filtering; with ` (paper)` or ` (everywhere)` behind it in these modes",
                ),
                RecordField("broadcast", "text", "along which trees messages go"),
            ),
        ),
        RecordKind(
            "link",
            "a link to a neighbour came up or went down",
            "events",
            (
                _LINK,
                RecordField("what", "text", "`up` or `down`"),
                RecordField("session", "integer", "which connection"),
                RecordField("interface", "integer", "its number among the interfaces of this life"),
                RecordField("cost", "integer", "as both ends have it"),
                RecordField("reason", "text", "why it went down"),
            ),
        ),
        RecordKind(
            "clock",
            "the neighbour's clock, beside this router's",
            "events",
            (
                _LINK,
                RecordField("offset_us", "integer", "what to add to this router's time to get the neighbour's"),
                RecordField("error_us", "integer", "it is off by at most that much: half of the shortest round trip"),
                RecordField("round_trip_us", "integer", "the shortest one seen lately"),
            ),
        ),
        RecordKind(
            "topology",
            "the network as this router sees it has changed",
            "events",
            (
                RecordField("generation", "integer", "how many changes there were in this life"),
                RecordField("routers", "texts", "who is in reach, itself included"),
                RecordField("edges", "texts", "`a b cost`, for each link that counts"),
                RecordField("cause", "text", "what was heard of whom, or which link changed"),
            ),
        ),
        RecordKind(
            "control",
            "a control frame between routers",
            "events",
            (
                _LINK,
                RecordField("way", "text", "`in` or `out`"),
                RecordField("what", "text", "the frame's kind, as the wire calls it"),
                *_ISSUER,
                RecordField("bytes", "integer", "of all its frames"),
                RecordField("added", "integer", "filters that it adds"),
                RecordField("removed", "integer", "filters that it takes away"),
                RecordField("full", "boolean", "it states all filters, not a change or a piece of them"),
                RecordField(
                    "cause",
                    "text",
                    "why it was sent: `change` (of what its router wants), `link` (of its links), `flood` (passed on), "
                    "`age` (asking every so often whether both hold the same) or `repair`",
                ),
            ),
        ),
        RecordKind(
            "subscription",
            "what a client wants has changed, and is in force from now on",
            "events",
            (
                RecordField("client", "text", "its name; the same one over reconnects if it gave one"),
                RecordField("connection", "integer", "its number among the connections of this life"),
                RecordField("subscription", "integer", "the client's own number for it"),
                RecordField("what", "text", "`added` or `removed`"),
                RecordField("filters", "texts", "each as the JSON form that `tamis match` reads"),
                RecordField("keys", "texts", "of the filters, 16 hex digits each: equal ones mean the same"),
                RecordField("own", "boolean", "the client wants its own messages, too"),
                RecordField("group", "text", "of `added`: the worker group that it is in; left out: none"),
                RecordField("cause", "text", "`asked` or `gone`"),
            ),
        ),
        RecordKind(
            "table",
            "what the router holds, each second in which it changed and each minute",
            "events",
            (
                RecordField("filters", "integer", "of local clients, in the table"),
                RecordField("remote_filters", "integer", "of other routers"),
                RecordField("constraints", "integer", "in all of them"),
                RecordField("table_bytes", "integer", "what the tables take"),
                RecordField("memory_bytes", "integer", "the resident memory of the process"),
                RecordField("clients", "integer", "that are connected"),
                RecordField("stall_us", "integer", "the longest turn of the loop since the last record"),
            ),
        ),
        RecordKind(
            "interface",
            "the counters of an interface, as increments since its last record; each second in which one moved",
            "events",
            (
                RecordField(
                    "interface", "integer", "its number in this life; none: of a neighbour that has no link just now"
                ),
                RecordField("neighbour", "text", "who is behind it, if a router"),
                RecordField("client", "text", "who is behind it, if a client"),
                RecordField("messages_in", "integer", "messages that came"),
                RecordField("messages_out", "integer", "messages that were queued for it"),
                RecordField("bytes_in", "integer", "all that came, control included"),
                RecordField("bytes_out", "integer", "all that was written"),
                RecordField("dropped", "counts", "messages that were meant for it, by reason"),
                RecordField("refused", "counts", "messages that came by it and went no further, by reason"),
                RecordField("queued_bytes", "integer", "what waits for it now"),
            ),
        ),
        RecordKind(
            "message",
            "a message at this router; by its id the same ones are recorded at all routers",
            "messages",
            (
                RecordField("origin", "text", "first half of its id: who published it, 16 hex digits"),
                RecordField("number", "integer", "second half of its id"),
                RecordField("source", "text", "the router where it entered"),
                RecordField("source_epoch", "integer", "in which of its lives"),
                RecordField("transit", "integer", "its number there"),
                RecordField(
                    "hop", "integer", "how many links lie between its source and this router, as messages go now"
                ),
                RecordField("from_neighbour", "text", "who sent it, if a router"),
                RecordField("from_connection", "integer", "which connection sent it, if a client's"),
                RecordField("published_us", "integer", "when, by the publisher's clock"),
                RecordField("match_ns", "integer", "how long the tables took; where several shared a look, its share"),
                RecordField("matched", "integer", "filters of local clients that it satisfied"),
                RecordField("to_neighbours", "texts", "where it went on to"),
                RecordField("to_connections", "integers", "the clients' connections it was queued for"),
                RecordField(
                    "dropped", "integers", "interfaces it was dropped for; -1: a neighbour that has no link just now"
                ),
                RecordField("bytes", "integer", "of the frame"),
                RecordField("attributes", "text", "at the source router: as JSON; an exact float keeps its point"),
                RecordField(
                    "refused",
                    "text",
                    "why it went no further: `transit` (came before), `parent` (not from there), `hops` (none left), "
                    "`expired`, `draining` and others as in `interface`; `duplicate` keeps it from clients alone",
                ),
            ),
        ),
        RecordKind(
            "kept",
            "what became of a message that a keep has; of a sampled message all of it is recorded, of others nothing",
            "messages",
            (
                _DURABLE,
                RecordField(
                    "what",
                    "text",
                    "`kept`; `given` to a member; `acked`, `expired`, `dropped`, `replaced` (by a later value), `dead` "
                    "(moved to the keep of dead letters), `undeliverable`, `damaged` (cannot be read), `skipped` (by "
                    "its owner): it left; `replayed`: given after it left; `told`: a member was told of losses of any",
                ),
                RecordField("position", "integer", "number of the record of the log by which the keep has it"),
                RecordField("origin", "text", "of `kept`, `given`, `replayed`: first half of its id, 16 hex digits"),
                RecordField("number", "integer", "the same: second half of its id"),
                RecordField("maybe_duplicate", "boolean", "the same: it may have been given before a crash or copy"),
                RecordField(
                    "source",
                    "text",
                    "of `kept`: `publisher`, `start` (the keep began with it) or `letter` (a dead letter)",
                ),
                RecordField("expires_us", "integer", "of `kept`: when its publisher lets go of it"),
                RecordField("connection", "integer", "whom it was given to or told, or who had it when it left"),
                RecordField(
                    "deliveries", "integer", "how often it was given out in this life of the router, with this"
                ),
                RecordField("lost", "text", "of `told`: which way of leaving it is about"),
                RecordField("total", "integer", "of losses and `told`: lost so since the keep was made"),
            ),
        ),
        RecordKind(
            "keep",
            "a keep was made or has ended, or somebody attached to it or left it",
            "events",
            (
                _DURABLE,
                RecordField(
                    "what",
                    "text",
                    "`made`; `found` in the log at a start; `attached`, `detached`; `forgotten`, as somebody asked or "
                    "its lease was over",
                ),
                RecordField("name", "text", "its name"),
                RecordField("client", "text", "who made it, or attached"),
                RecordField("connection", "integer", "of who attached or left: its number in this life"),
                RecordField("attachment", "integer", "the client's own number for it"),
                RecordField("filters", "texts", "each as the JSON form that `tamis match` reads"),
                RecordField("keys", "texts", "of the filters, as in `subscription`"),
                RecordField(
                    "terms", "counts", "its bounds as numbers, by their names in a CREATE_DURABLE frame; 0: none"
                ),
                RecordField("overflow", "text", "`drop-oldest` or `refuse`"),
                RecordField("order_by", "text", "messages of one value of this attribute go in order"),
                RecordField("latest_by", "text", "of each value of this attribute only the last message stays"),
                RecordField("dead_letter", "text", "the keep that gets what is dead"),
                RecordField("doubts", "integer", "of `found`: stretches of positions that damage has taken"),
                RecordField("cause", "text", "of `forgotten`: `asked` or `lease`"),
            ),
        ),
        RecordKind(
            "depth",
            "how a keep stands, each second in which that changed; counts since the keep was made, whatever is sampled",
            "events",
            (
                _DURABLE,
                RecordField("open", "integer", "messages that wait or are out"),
                RecordField("out", "integer", "of them, at members"),
                RecordField("past", "integer", "acknowledged, and kept on"),
                RecordField("bytes", "integer", "of frames, open and past"),
                RecordField("oldest_us", "integer", "age of the first that is open"),
                RecordField("acked", "integer", "acknowledged"),
                RecordField("lost", "counts", "what left otherwise, by the way of leaving"),
                RecordField("doubts", "integer", "stretches of positions that damage has taken"),
                RecordField("refused", "integer", "messages that found it full, in this life of the router"),
                RecordField("delivered", "integer", "given out, in this life"),
                RecordField("redelivered", "integer", "of those, again"),
                RecordField("members", "integer", "who is attached"),
            ),
        ),
        RecordKind(
            "lost",
            "records that could not be kept up with",
            "events",
            (
                RecordField("family", "text", "of which files"),
                RecordField("count", "integer", "how many since the last such record"),
            ),
        ),
    )
}
