"""Answers to SUBSCRIBE and UNSUBSCRIBE as frames.

Law: each item is in the answer once, in a range or in a refusal. An answer is one frame unless that is longer than the
client's largest frame: then its reasons are left out, and if it is still too long, it is split into several frames.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tamis.protocol.limits import TEXT_BYTES_MAX
from tamis.protocol.wire.client_bodies import Ack, AckOf, Range, Refusal, ranges_of
from tamis.protocol.wire.frames import encode


def answer(
    of: AckOf, request: int, done: Sequence[int], refusals: Sequence[Refusal], frame_bytes_max: int
) -> Iterator[bytes]:
    """Yield the frames of an answer, in order. `done`: the accepted ids; `refusals`: the others."""
    yield from _frames(of, request, ranges_of(done), tuple(refusals), frame_bytes_max)


def refusal(number: int, code: int, reason: str) -> Refusal:
    """Return a refusal; `reason` is cut at TEXT_BYTES_MAX bytes."""
    return Refusal(number, code, reason.encode()[:TEXT_BYTES_MAX].decode(errors="ignore"))


def _frames(
    of: AckOf, request: int, ranges: tuple[Range, ...], refusals: tuple[Refusal, ...], frame_bytes_max: int
) -> Iterator[bytes]:
    frame = encode(Ack(of, request, ranges, refusals))
    if len(frame) <= frame_bytes_max:
        yield frame
    elif any(refused.reason for refused in refusals):
        bare = tuple(refused._replace(reason="") for refused in refusals)
        yield from _frames(of, request, ranges, bare, frame_bytes_max)
    else:
        half, rest = len(ranges) // 2, len(refusals) // 2
        yield from _frames(of, request, ranges[:half], refusals[:rest], frame_bytes_max)
        yield from _frames(of, request, ranges[half:], refusals[rest:], frame_bytes_max)
