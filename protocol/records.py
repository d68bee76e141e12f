"""What a router writes down: the kinds of records of an event log and their fields, one table of each.

Law: a record is one JSON object on a line. It has the fields of its kind in this table and those that every record has,
no others; a field that does not apply is left out. A kind may gain fields under the same version; what changes a
field's meaning or takes one away raises VERSION. Times are Unix time in microseconds by the clock of the router that
writes; `clock` records tell how far that is from its neighbours'.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

VERSION: Final = 1

FieldType = Literal["integer", "number", "boolean", "text", "texts", "integers", "counts"]
"""JSON's own: integers of 64 bits with sign, numbers as doubles; `counts` is an object of text -> integer."""


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    type: FieldType
    meaning: str


@dataclass(frozen=True, slots=True)
class Kind:
    """`family`: into whose files it goes. Messages have files of their own: they are many, and read apart."""

    name: str
    meaning: str
    family: Literal["messages", "events"]
    fields: tuple[Field, ...]


COMMON: Final = (
    Field("v", "integer", "version of this table"),
    Field("kind", "text", "which kind of record"),
    Field("t_us", "integer", "when"),
    Field("router", "text", "who writes"),
    Field("epoch", "integer", "which of its lives: larger ones are later"),
    Field("n", "integer", "number of the record in its file family and life, without gaps: a gap is a loss"),
)

_LINK = Field("neighbour", "text", "the router at the other end")
_ISSUER = (
    Field("issuer", "text", "whose statement it is"),
    Field("issuer_epoch", "integer", "in which of its lives it was made"),
    Field("seq", "integer", "its number in that life"),
)

KINDS: Final = {
    kind.name: kind
    for kind in (
        Kind(
            "life",
            "the router starts, is ready, or stops",
            "events",
            (
                Field("what", "text", "`started`, `ready`, `stopping`, `stopped`; not the last two after a crash"),
                Field("version", "text", "of the program"),
                Field("sampling", "text", "which messages are recorded, as configured"),
                Field("engine", "text", "which matches"),
                Field(
                    "strategy",
                    "text",
                    "by which routers share the filtering; with ` (paper)` or ` (everywhere)` behind it in these modes",
                ),
                Field("broadcast", "text", "along which trees messages go"),
            ),
        ),
        Kind(
            "link",
            "a link to a neighbour came up or went down",
            "events",
            (
                _LINK,
                Field("what", "text", "`up` or `down`"),
                Field("session", "integer", "which connection"),
                Field("interface", "integer", "its number among the interfaces of this life"),
                Field("cost", "integer", "as both ends have it"),
                Field("reason", "text", "why it went down"),
            ),
        ),
        Kind(
            "clock",
            "the neighbour's clock, beside this router's",
            "events",
            (
                _LINK,
                Field("offset_us", "integer", "what to add to this router's time to get the neighbour's"),
                Field("error_us", "integer", "it is off by at most that much: half of the shortest round trip"),
                Field("round_trip_us", "integer", "the shortest one seen lately"),
            ),
        ),
        Kind(
            "topology",
            "the network as this router sees it has changed",
            "events",
            (
                Field("generation", "integer", "how many changes there were in this life"),
                Field("routers", "texts", "who is in reach, itself included"),
                Field("edges", "texts", "`a b cost`, for each link that counts"),
                Field("cause", "text", "what was heard of whom, or which link changed"),
            ),
        ),
        Kind(
            "control",
            "a control frame between routers",
            "events",
            (
                _LINK,
                Field("way", "text", "`in` or `out`"),
                Field("what", "text", "the frame's kind, as the wire calls it"),
                *_ISSUER,
                Field("bytes", "integer", "of all its frames"),
                Field("added", "integer", "filters that it adds"),
                Field("removed", "integer", "filters that it takes away"),
                Field("full", "boolean", "it states all filters, not a change or a piece of them"),
                Field(
                    "cause",
                    "text",
                    "why it was sent: `change` (of what its router wants), `link` (of its links), `flood` (passed on), "
                    "`age` (asking every so often whether both hold the same) or `repair`",
                ),
            ),
        ),
        Kind(
            "subscription",
            "what a client wants has changed, and is in force from now on",
            "events",
            (
                Field("client", "text", "its name; the same one over reconnects if it gave one"),
                Field("connection", "integer", "its number among the connections of this life"),
                Field("subscription", "integer", "the client's own number for it"),
                Field("what", "text", "`added` or `removed`"),
                Field("filters", "texts", "each as the JSON form that `tamis match` reads"),
                Field("keys", "texts", "of the filters, 16 hex digits each: equal ones mean the same"),
                Field("own", "boolean", "the client wants its own messages, too"),
                Field("cause", "text", "`asked` or `gone`"),
            ),
        ),
        Kind(
            "table",
            "what the router holds, each second in which it changed and each minute",
            "events",
            (
                Field("filters", "integer", "of local clients, in the table"),
                Field("remote_filters", "integer", "of other routers"),
                Field("constraints", "integer", "in all of them"),
                Field("table_bytes", "integer", "what the tables take"),
                Field("memory_bytes", "integer", "the resident memory of the process"),
                Field("clients", "integer", "that are connected"),
                Field("stall_us", "integer", "the longest turn of the loop since the last record"),
            ),
        ),
        Kind(
            "interface",
            "the counters of an interface, as increments since its last record; each second in which one moved",
            "events",
            (
                Field(
                    "interface", "integer", "its number in this life; none: of a neighbour that has no link just now"
                ),
                Field("neighbour", "text", "who is behind it, if a router"),
                Field("client", "text", "who is behind it, if a client"),
                Field("messages_in", "integer", "messages that came"),
                Field("messages_out", "integer", "messages that were queued for it"),
                Field("bytes_in", "integer", "all that came, control included"),
                Field("bytes_out", "integer", "all that was written"),
                Field("dropped", "counts", "messages that were meant for it, by reason"),
                Field("refused", "counts", "messages that came by it and went no further, by reason"),
                Field("queued_bytes", "integer", "what waits for it now"),
            ),
        ),
        Kind(
            "message",
            "a message at this router; by its id the same ones are recorded at all routers",
            "messages",
            (
                Field("origin", "text", "first half of its id: who published it, 16 hex digits"),
                Field("number", "integer", "second half of its id"),
                Field("source", "text", "the router where it entered"),
                Field("source_epoch", "integer", "in which of its lives"),
                Field("transit", "integer", "its number there"),
                Field("hop", "integer", "how many links lie between its source and this router, as messages go now"),
                Field("from_neighbour", "text", "who sent it, if a router"),
                Field("from_connection", "integer", "which connection sent it, if a client's"),
                Field("published_us", "integer", "when, by the publisher's clock"),
                Field("match_ns", "integer", "how long the tables took; where several shared a look, its share"),
                Field("matched", "integer", "filters of local clients that it satisfied"),
                Field("to_neighbours", "texts", "where it went on to"),
                Field("to_connections", "integers", "the clients' connections it was queued for"),
                Field(
                    "dropped", "integers", "interfaces it was dropped for; -1: a neighbour that has no link just now"
                ),
                Field("bytes", "integer", "of the frame"),
                Field("attributes", "text", "at the source router: as JSON; an exact float keeps its point"),
                Field(
                    "refused",
                    "text",
                    "why it went no further: `transit` (came before), `parent` (not from there), `hops` (none left), "
                    "`expired`, `draining` and others as in `interface`; `duplicate` keeps it from clients alone",
                ),
            ),
        ),
        Kind(
            "lost",
            "records that could not be kept up with",
            "events",
            (
                Field("family", "text", "of which files"),
                Field("count", "integer", "how many since the last such record"),
            ),
        ),
    )
}
