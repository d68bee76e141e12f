"""The codecs of gateways, in C: JSON to PUBLISH frames, DELIVER frames to JSON.

Law: an object serves one stream, by one thread at a time. Its buffer is made with it, or shared by those of one thread
(Output); a message that needs a larger one gets it for one call. C works with Python's global lock released.
"""

from __future__ import annotations

import enum
from typing import Any, Final, NamedTuple

from tamis.native._tm import ffi, lib
from tamis.native.json_refusals import JsonCode, JsonRefusal, JsonRefused
from tamis.native.results import check
from tamis.protocol.errors import Refused
from tamis.protocol.limits import DELIVERABLE_BYTES_MAX
from tamis.protocol.spaces.space import NAMING

OUTPUT_BYTES: Final = 262_144
"""The buffer of a stream: what one call writes at most, unless a single message is larger."""
REFUSALS_MAX: Final = 100
"""Refusals of one call; it stops before the next one."""

_Cdata = Any  # cffi's types exist only at run time
_new_bytes: Final = ffi.new_allocator(should_clear_after_alloc=False)


def _buffer(size: int) -> _Cdata:
    return _new_bytes("uint8_t[]", size)


class Output:
    """A buffer that streams of one thread write to, one call at a time: thousands of them need one."""

    def __init__(self) -> None:
        self.c: Final = _buffer(OUTPUT_BYTES)


# --- a message in JSON -----------------------------------------------------------------------------------------------


class JsonMessage(NamedTuple):
    """A PUBLISH frame. Of a socket's also `n`, if it has one, and `binary`: its payload comes behind it."""

    frame: bytes
    flags: int
    n: int | None
    binary: bool


class JsonReader:
    """Reads messages in JSON. `naming`: the attribute that names a message's space. `flags`: of the frames. With
    `is_socket` messages may have the keys of subprotocol `tamis.v1`."""

    def __init__(
        self,
        *,
        naming: str = NAMING,
        frame_bytes_max: int = DELIVERABLE_BYTES_MAX,
        flags: int = 0,
        is_socket: bool = False,
    ) -> None:
        self._rules = _Rules(naming, frame_bytes_max, flags, is_socket)
        self._numbering = ffi.new("tm_json_numbering *")
        self._made, self._refusal = ffi.new("tm_json_made *"), ffi.new("tm_json_refusal *")
        self._out, self._capacity = _buffer(4_096), 4_096

    def read(self, text: bytes, origin: int, counter: int, now_ns: int) -> JsonMessage:
        """Return the frame of a message, which a client would send; JsonRefused if it is refused."""
        size, made, numbering = len(text), self._made, self._numbering
        if size > lib.TM_JSON_LINE_BYTES_MAX:
            raise JsonRefused(JsonRefusal(JsonCode.LINE_LONG, 1, 1, 0))
        out, capacity = self._out, self._capacity
        if size + lib.TM_JSON_SLACK > capacity:
            capacity = size + lib.TM_JSON_SLACK
            out = _buffer(capacity)
        numbering.origin, numbering.counter, numbering.now_ns = origin, counter, now_ns
        result = lib.tm_json_publish(
            self._rules.c, numbering, ffi.from_buffer(text), size, out, capacity, made, self._refusal
        )
        if result == lib.TM_MALFORMED:
            raise JsonRefused(_refusal(self._refusal))
        check(result)
        n = int(made.n) if made.has_n else None
        return JsonMessage(bytes(ffi.buffer(out, made.size)), int(made.flags), n, bool(made.binary))


class _Rules:
    """The rules as C reads them, with the memory that they borrow."""

    def __init__(self, naming: str, frame_bytes_max: int, flags: int, is_socket: bool) -> None:
        self._naming = naming.encode()
        self._borrowed = ffi.from_buffer(self._naming)
        self.c: Final = ffi.new(
            "tm_json_rules *",
            {
                "naming": self._borrowed,
                "naming_size": len(self._naming),
                "frame_bytes_max": frame_bytes_max,
                "flags": flags,
                "is_socket": is_socket,
            },
        )


def _refusal(found: _Cdata) -> JsonRefusal:
    shown = bytes(ffi.buffer(found.name, min(found.name_size, lib.TM_JSON_NAME_SHOWN)))
    name = shown.decode(errors="ignore")
    if found.name_size >= lib.TM_JSON_NAME_SHOWN:
        name = name.rstrip("\0")
    return JsonRefusal(JsonCode(found.code), int(found.line), int(found.column), int(found.position), name)


# --- a stream of messages in JSON ------------------------------------------------------------------------------------


class LinesStopped(enum.IntEnum):
    """Why a call has stopped."""

    ALL = lib.TM_JSON_LINES_ALL
    CREDIT = lib.TM_JSON_LINES_CREDIT
    ROOM = lib.TM_JSON_LINES_ROOM
    REFUSED = lib.TM_JSON_LINES_REFUSED


class LinesRead(NamedTuple):
    """`frames` of `messages` messages, of the first `consumed` bytes of the input, and what was refused among them.
    `needed`: bytes of credit that the next message needs, where that stopped it."""

    frames: bytes
    messages: int
    consumed: int
    stopped: LinesStopped
    refused: list[JsonRefusal]
    needed: int


class JsonStream:
    """Reads a stream of messages, one a line. `counter` is that of the next message; `credit_frames` and
    `credit_bytes` are counted down."""

    def __init__(
        self,
        origin: int,
        counter: int,
        *,
        naming: str = NAMING,
        frame_bytes_max: int = DELIVERABLE_BYTES_MAX,
        flags: int = 0,
        is_socket: bool = False,
        output: Output | None = None,
    ) -> None:
        rules = _Rules(naming, frame_bytes_max, flags, is_socket)
        made = ffi.new("tm_json_lines **")
        check(lib.tm_json_lines_new(rules.c, made))
        self._lines = ffi.gc(made[0], lib.tm_json_lines_free)
        self._numbering = ffi.new("tm_json_numbering *", {"origin": origin, "counter": counter})
        self._credit, self._said = ffi.new("tm_json_lines_credit *"), ffi.new("tm_json_lines_said *")
        self._refusals = ffi.new("tm_json_refusal[]", REFUSALS_MAX)
        self._out = (output or Output()).c

    @property
    def counter(self) -> int:
        return int(self._numbering.counter)

    @counter.setter
    def counter(self, counter: int) -> None:
        self._numbering.counter = counter

    @property
    def credit_frames(self) -> int:
        return int(self._credit.frames)

    @property
    def credit_bytes(self) -> int:
        return int(self._credit.bytes)

    def grant(self, frames: int, octets: int) -> None:
        """Set the credit."""
        self._credit.frames, self._credit.bytes = frames, octets

    def feed(self, data: bytes | memoryview, now_ns: int, *, is_last: bool = False) -> LinesRead:
        """Read what is next in the stream; it ends with `data` if `is_last`. What is not consumed is given again."""
        self._numbering.now_ns = now_ns
        read = self._feed(data, is_last, self._out, OUTPUT_BYTES)
        if read.stopped is LinesStopped.ROOM and not read.messages and not read.refused:
            capacity = int(self._said.needed)
            more = data[read.consumed :]
            further = self._feed(more, is_last, _buffer(capacity), capacity)
            return further._replace(consumed=read.consumed + further.consumed)
        return read

    def _feed(self, data: bytes | memoryview, is_last: bool, out: _Cdata, capacity: int) -> LinesRead:
        said = self._said
        check(
            lib.tm_json_lines_feed(
                *(self._lines, self._numbering, self._credit, ffi.from_buffer(data), len(data), is_last),
                *(out, capacity, self._refusals, REFUSALS_MAX, said),
            )
        )
        refused = [_refusal(self._refusals[i]) for i in range(said.refused)]
        frames = bytes(ffi.buffer(out, said.written))
        stopped = LinesStopped(said.stopped)
        return LinesRead(frames, int(said.frames), int(said.consumed), stopped, refused, int(said.needed))


# --- deliveries as text ----------------------------------------------------------------------------------------------


class EventForm(enum.IntEnum):
    """How deliveries are written."""

    SSE = lib.TM_EVENTS_SSE
    NDJSON = lib.TM_EVENTS_NDJSON
    SOCKET = lib.TM_EVENTS_SOCKET


class EventFields(enum.IntFlag):
    """What stands in a message besides attributes and payload, and how."""

    ID = lib.TM_EVENTS_ID
    TIME = lib.TM_EVENTS_TIME
    MATCHED = lib.TM_EVENTS_MATCHED
    STORED = lib.TM_EVENTS_STORED
    INTEGERS = lib.TM_EVENTS_INTEGERS
    BY_POSITION = lib.TM_EVENTS_BY_POSITION


class EventsStopped(enum.IntEnum):
    """Why a call has stopped."""

    ALL = lib.TM_EVENTS_ALL
    PARTIAL = lib.TM_EVENTS_PARTIAL
    OTHER = lib.TM_EVENTS_OTHER
    ROOM = lib.TM_EVENTS_ROOM


class EventsWritten(NamedTuple):
    """The text of `messages` messages, which are the first `consumed` bytes of the input; (origin, counter) and
    position of the last one."""

    text: bytes
    messages: int
    consumed: int
    stopped: EventsStopped
    last: tuple[int, int]
    position: int


class EventWriter:
    """Writes deliveries. Frames of a WebSocket hold lines up to `joined_bytes_max` bytes; 0: one each."""

    def __init__(
        self, form: EventForm, fields: int = 0, *, joined_bytes_max: int = 65_535, output: Output | None = None
    ) -> None:
        options = {"form": form, "fields": fields, "joined_bytes_max": joined_bytes_max}
        made = ffi.new("tm_events **")
        check(lib.tm_events_new(ffi.new("tm_events_options *", options), made))
        self._events = ffi.gc(made[0], lib.tm_events_free)
        self._said = ffi.new("tm_events_said *")
        self._out = (output or Output()).c

    def name(self, id_: int, name: str) -> None:
        """Name a subscription in "for"; an empty name takes it away."""
        raw = name.encode()
        check(lib.tm_events_name(self._events, id_, ffi.from_buffer(raw), len(raw)))

    def write(self, data: bytes | memoryview) -> EventsWritten:
        """Write the DELIVER frames at the begin of `data`; Refused if a frame behind the first ones is unsound, and
        then nothing is consumed."""
        written = self._write(data, self._out, OUTPUT_BYTES)
        if written.stopped is EventsStopped.ROOM and not written.messages:
            capacity = int(self._said.needed)
            return self._write(data, _buffer(capacity), capacity)
        return written

    def _write(self, data: bytes | memoryview, out: _Cdata, capacity: int) -> EventsWritten:
        said = self._said
        result = lib.tm_events_write(self._events, ffi.from_buffer(data), len(data), out, capacity, said)
        if result == lib.TM_MALFORMED:
            raise Refused(f"no sound DELIVER frame at byte {said.consumed}")
        check(result)
        text = bytes(ffi.buffer(out, said.written))
        last = (int(said.origin), int(said.counter))
        return EventsWritten(
            text, int(said.messages), int(said.consumed), EventsStopped(said.stopped), last, int(said.position)
        )
