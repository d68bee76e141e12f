"""Large control bodies in parts: RA, SR, UR, SPACE, EA and DURABLES, one part in a frame.

Law: parts of one body leave and arrive in order, since a link keeps order; other frames pass between them. A body with
a fresher (epoch, seq) of its origin replaces an unfinished older one, whose late parts are dropped silently. A part
that fits neither is refused together with its body, but not the connection. Unfinished bodies never exceed `bytes_max`
together, whatever sizes the parts claim.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Final

from tamis.protocol import limits
from tamis.protocol.errors import FrameError, Refused
from tamis.protocol.wire.body_reader import BodyReader
from tamis.protocol.wire.codes import ErrorCode
from tamis.protocol.wire.edge_bodies import EdgeStatement
from tamis.protocol.wire.home_bodies import DurablesStatement
from tamis.protocol.wire.routing_bodies import ReceiverAdvertisement, SenderRequest, SpaceStatement, UpdateReply
from tamis.protocol.wire.schema import U64, Binary, PositiveU32, record_of
from tamis.protocol.wire.slices import Slices, at_once, packed, read
from tamis.protocol.wire.whole import Ticket

PART_OVERHEAD_BYTES: Final = 64
"""Room for prefix, ticket and counts, so that a whole part frame fits CONTROL_PART_BYTES_MAX."""

CHUNK_BYTES_MAX: Final = limits.CONTROL_PART_BYTES_MAX - PART_OVERHEAD_BYTES


@dataclass(frozen=True, slots=True)
class Part:
    """Part `k` of `n`, counted from 1, of the body that the ticket names. The kind of the frame determines the kind of
    body."""

    origin: U64
    epoch: U64
    seq: U64
    k: PositiveU32
    n: PositiveU32
    chunk: Annotated[bytes, Binary(1, CHUNK_BYTES_MAX)]

    def __post_init__(self) -> None:
        if not self.k <= self.n <= limits.CONTROL_PARTS_MAX:
            raise Refused(f"part {self.k} of {self.n}: k is at most n, n at most {limits.CONTROL_PARTS_MAX}")

    @property
    def ticket(self) -> Ticket:
        return Ticket(self.origin, self.epoch, self.seq)


class AdvertisementPart(Part):
    """Part of an RA."""

    __slots__ = ()


class RequestPart(Part):
    """Part of an SR."""

    __slots__ = ()


class ReplyPart(Part):
    """Part of a UR."""

    __slots__ = ()


class SpacePart(Part):
    """Part of a SPACE."""

    __slots__ = ()


class EdgePart(Part):
    """Part of an EA."""

    __slots__ = ()


class DurablesPart(Part):
    """Part of a DURABLES."""

    __slots__ = ()


Whole = ReceiverAdvertisement | SenderRequest | UpdateReply | SpaceStatement | EdgeStatement | DurablesStatement
_WHOLE_OF: Final[dict[type[Part], type[Whole]]] = {
    AdvertisementPart: ReceiverAdvertisement,
    RequestPart: SenderRequest,
    ReplyPart: UpdateReply,
    SpacePart: SpaceStatement,
    EdgePart: EdgeStatement,
    DurablesPart: DurablesStatement,
}
_PART_OF: Final = {whole: part for part, whole in _WHOLE_OF.items()}


def split(whole: Whole, part_bytes_max: int = limits.CONTROL_PART_BYTES_MAX) -> list[Part]:
    """Return the parts of a body. Their frames have at most `part_bytes_max` bytes, which a peer with a small frame
    limit needs."""
    return cut(whole, at_once(packed_whole(whole)), part_bytes_max)


def packed_whole(whole: Whole) -> Slices[bytes]:
    """Return the bytes that are cut into parts: those received with the body, or else packed in slices."""
    if whole.raw:
        return whole.raw
    return (yield from packed(record_of(type(whole)), whole))


def cut(whole: Whole, body: bytes, part_bytes_max: int) -> list[Part]:
    step = min(part_bytes_max, limits.CONTROL_PART_BYTES_MAX) - PART_OVERHEAD_BYTES
    starts = range(0, len(body), step)
    part = _PART_OF[type(whole)]
    return [part(*whole.ticket, k, len(starts), body[at : at + step]) for k, at in enumerate(starts, 1)]


class PartAssembler:
    """Assembles bodies from parts, for one session of a link."""

    def __init__(self, bytes_max: int = limits.ASSEMBLY_BYTES_MAX) -> None:
        self._bytes_max = bytes_max
        self._unfinished: dict[tuple[type[Part], int], _Unfinished] = {}
        self.bytes_held = 0

    def add(self, part: Part) -> Whole | None:
        """Add a part; return the body that it completes, else None. FrameError once for a body that is refused; its
        other parts are dropped."""
        complete = self.collect(part)
        return None if complete is None else at_once(complete.read())

    def collect(self, part: Part) -> Complete | None:
        """Add a part; return the complete body as bytes to be read in slices, else None."""
        key = (type(part), part.origin)
        held = self._unfinished.get(key)
        if held is None or part.ticket > held.ticket:
            self._forget(key)
            held = self._start(key, part)
        elif part.ticket < held.ticket:
            return None
        if not held.refused:
            self._append(held, part)
        if part.k < part.n:
            return None
        self._forget(key)
        return None if held.refused else Complete(part, bytes(held.body))

    def _start(self, key: tuple[type[Part], int], part: Part) -> _Unfinished:
        if len(self._unfinished) >= limits.ASSEMBLY_STREAMS_MAX:
            raise _refusal(part, f"{limits.ASSEMBLY_STREAMS_MAX} other bodies are unfinished")
        held = self._unfinished[key] = _Unfinished(part.ticket, part.n)
        return held

    def _append(self, held: _Unfinished, part: Part) -> None:
        problem = ""
        if part.n != held.n or part.k != held.parts + 1:
            problem = f"expected part {held.parts + 1} of {held.n}"
        elif self.bytes_held + len(part.chunk) > self._bytes_max:
            problem = f"unfinished bodies have at most {self._bytes_max} bytes"
        if problem:
            self.bytes_held -= len(held.body)
            held.body, held.refused = bytearray(), True
            raise _refusal(part, problem)
        held.body += part.chunk
        held.parts += 1
        self.bytes_held += len(part.chunk)

    def _forget(self, key: tuple[type[Part], int]) -> None:
        held = self._unfinished.pop(key, None)
        self.bytes_held -= len(held.body) if held else 0


@dataclass(slots=True)
class _Unfinished:
    """The parts of one body so far. A refused body stays, empty, so its other parts are recognised."""

    ticket: Ticket
    n: int
    parts: int = 0
    body: bytearray = field(default_factory=bytearray)
    refused: bool = False


@dataclass(frozen=True, slots=True)
class Complete:
    """A body whose parts are all present, with `last` behind the others."""

    last: Part
    body: bytes

    def read(self) -> Slices[Whole]:
        """Read the body in slices; FrameError if the bytes are invalid."""
        declared = _WHOLE_OF[type(self.last)]
        reader = BodyReader(self.body, declared.__name__)
        try:
            whole: Whole = yield from read(record_of(declared), reader)
            reader.finish()
        except FrameError as error:
            raise _refusal(self.last, error.problem) from None
        if whole.ticket != self.last.ticket:
            raise _refusal(self.last, f"the body has the ticket {tuple(whole.ticket)}")
        whole.keep(self.body)
        yield from whole.look()
        return whole


def _refusal(part: Part, problem: str) -> FrameError:
    return FrameError(ErrorCode.BAD_PARTS, f"part {part.k} of {part.n} of {tuple(part.ticket)}: {problem}")
