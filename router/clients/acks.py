"""Answers to SUBSCRIBE and UNSUBSCRIBE as frames.

Law: each item is in the answer once, in a range or in a refusal. An answer is one frame unless that is longer than the
client's largest frame: then the filters in force are left out, next which they are and all reasons, and if it is still
too long, it is split into several frames.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from tamis.protocol.limits import TEXT_BYTES_MAX
from tamis.protocol.wire.client_bodies import Ack, AckOf, Narrowed, Refusal, ranges_of
from tamis.protocol.wire.frames import encode


def answer(
    of: AckOf,
    request: int,
    done: Sequence[int],
    refusals: Sequence[Refusal],
    frame_bytes_max: int,
    narrowed: Sequence[Narrowed] = (),
) -> Iterator[bytes]:
    """Yield the frames of an answer, in order. `done`: the accepted ids; `refusals`: the others; `narrowed`: those of
    `done` that rules of access narrow."""
    yield from _frames(Ack(of, request, ranges_of(done), tuple(refusals), narrowed=tuple(narrowed)), frame_bytes_max)


def refusal(number: int, code: int, reason: str) -> Refusal:
    """Return a refusal; `reason` is cut at TEXT_BYTES_MAX bytes."""
    return Refusal(number, code, reason.encode()[:TEXT_BYTES_MAX].decode(errors="ignore"))


def _frames(ack: Ack, frame_bytes_max: int) -> Iterator[bytes]:
    frame = encode(ack)
    if len(frame) <= frame_bytes_max:
        yield frame
    elif any(each.filters for each in ack.narrowed):
        bare = tuple(Narrowed(each.id) for each in ack.narrowed)
        yield from _frames(replace(ack, narrowed=bare), frame_bytes_max)
    elif ack.narrowed or any(refused.reason for refused in ack.refusals):
        refusals = tuple(refused._replace(reason="") for refused in ack.refusals)
        yield from _frames(replace(ack, refusals=refusals, narrowed=()), frame_bytes_max)
    else:
        half, rest = len(ack.ranges) // 2, len(ack.refusals) // 2
        yield from _frames(replace(ack, ranges=ack.ranges[:half], refusals=ack.refusals[:rest]), frame_bytes_max)
        yield from _frames(replace(ack, ranges=ack.ranges[half:], refusals=ack.refusals[rest:]), frame_bytes_max)
