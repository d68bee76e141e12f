"""What the live fuzz sends: frames drawn again each time, and what is done to them.

Law: most are right, so that sessions go on and what is inside is reached. A mutation mostly puts the length right
again, because a wrong one ends the session before anything else is looked at.
"""

from __future__ import annotations

import hashlib
import json
import struct
import time
from collections.abc import Callable, Iterator, Mapping
from random import Random

from tests.stranger import frames
from tests.stranger.chance import Chance
from tests.stranger.frames import Header, data_frame, extension, frame, raw_frame
from tests.stranger.predicates import NOTHING, number, packed, parts

ODD = (0, 1, 7, 8, 63, 64, 127, 128, 255, 256, 65_535, 65_536, 2**31 - 1, 2**31, 2**32 - 1)
BYTES_LEAST = 9
NAMES = ("a", "b", "c", "nobody")
WORKERS = number("workers") & 0xFFFF_FFFF


def client_seeds(chance: Chance, me: int) -> Iterator[bytes]:
    """Frames that a client may send, drawn again each time."""
    while True:
        kind = chance.randrange(9)
        header = Header(origin=me, counter=time.time_ns(), published_ns=chance.getrandbits(62))
        if kind < 4:
            area = [
                extension(
                    chance.choice((1, 2, 3, 4, 0x777, 0x8001, frames.ROUTE)),
                    chance.randbytes(chance.choice((1, 4, 8, 9))),
                )
            ]
            extensions = area if chance.random() < 0.4 else ()
            flags = chance.choice((0, 0, 1, 2, 4, 0x10))
            what = chance.choice((frames.PUBLISH, frames.PUBLISH, frames.PUBLISH, frames.DRY_RUN))
            yield data_frame(
                header, chance.attributes(), chance.randbytes(chance.randrange(40)), extensions, what, flags
            )
        elif kind < 7:
            batch = [
                [chance.randrange(50), [packed(each) for each in chance.disjunction()]]
                for _ in range(chance.choice((1, 1, 3, 20)))
            ]
            group = chance.choice(((), (), ("",), ("workers",)))
            options = [chance.random() < 0.5, chance.randrange(2), False, *group]
            yield frame(frames.SUBSCRIBE, [chance.getrandbits(31), batch, *options])
        elif kind == 7:
            ids = list({chance.randrange(50) for _ in range(chance.randrange(1, 30))})
            yield frame(frames.UNSUBSCRIBE, [chance.getrandbits(31), ids])
        else:
            yield chance.choice(
                (
                    frame(frames.PING, [chance.getrandbits(64)]),
                    frame(frames.PONG, [chance.getrandbits(64)]),
                    frame(frames.ACK, [4, 0, [[1, 5]], []]),
                    frame(frames.ERROR, [11, "passing", 0, False]),
                    frame(frames.AUTH, [chance.choice((0, 1, 2, 5)), chance.randbytes(chance.randrange(40))]),
                    frame(frames.DRAIN, [10, "done"]),
                    raw_frame(chance.randrange(256), chance.randbytes(chance.randrange(60))),
                )
            )


def link_seeds(chance: Chance, me: int) -> Iterator[bytes]:
    """Frames that a neighbour may send."""
    while True:
        yield from chance.choice((_state, _advertisement, _request, _reply, _report, _message, _space, _edge))(
            chance, me
        )


def _version(chance: Chance) -> tuple[int, int, int]:
    """Issuer, epoch, seq."""
    return number(chance.choice(NAMES)), time.time_ns() // 10**6, chance.randrange(1, 1_000)


def _filters(chance: Chance) -> list[object]:
    of_group = chance.choice(((), (), ("workers", 4)))
    return [[chance.randrange(1_000), packed(chance.filter()), *of_group] for _ in range(chance.choice((0, 1, 3, 30)))]


def _state(chance: Chance, me: int) -> list[bytes]:
    issuer, epoch, seq = _version(chance)
    adjacent = [[number(each), 1, 1] for each in chance.sample(NAMES, 2)]
    told = frame(frames.EPOCH_REFUSED, [issuer, epoch, epoch]), frame(frames.HELD, [issuer, epoch, seq, [me, issuer]])
    return [frame(frames.LSA, [chance.choice(NAMES), epoch, seq, adjacent]), chance.choice(told)]


def _advertisement(chance: Chance, _me: int) -> list[bytes]:
    issuer, epoch, seq = _version(chance)
    added, is_full, base = _filters(chance), chance.random() < 0.7, chance.randrange(seq)
    body = [issuer, epoch, seq, is_full, base, added, [1, 2], chance.randbytes(16), len(added), True]
    return list(parts(frames.RA, issuer, epoch, seq, body))


def _request(chance: Chance, me: int) -> list[bytes]:
    issuer, epoch, seq = _version(chance)
    known = [[issuer, epoch, seq, NOTHING]]
    vectors, digest = [0, b"", known, known], [chance.randrange(2), chance.randbytes(16), [], []]
    digest += chance.choice(([], [b""], [chance.randbytes(16)]))
    return list(parts(frames.SR, me, epoch, seq, [me, epoch, seq, *chance.choice((vectors, digest))]))


def _reply(chance: Chance, _me: int) -> list[bytes]:
    issuer, epoch, seq = _version(chance)
    added, asker = _filters(chance), number("a")
    pieces = chance.choice(((), (0, len(added) + 1), (0, len(added))))
    entry = [issuer, epoch, seq, chance.randbytes(16), added, *pieces]
    return list(parts(frames.UR, asker, epoch, seq, [asker, epoch, seq, [entry], False, 1, [issuer]]))


def _space(chance: Chance, _me: int) -> list[bytes]:
    name, version = f"s{chance.randrange(300)}", chance.choice((1, 2, 3, chance.getrandbits(63) or 1))
    kinds: list[object] = ["string", "number", {"integer": [0, chance.randrange(9)]}, {"one_of": ["a", "b"]}, 7, {}]
    attributes = {f"a{each}": chance.choice(kinds) for each in range(chance.choice((0, 1, 5)))}
    said = {"attributes": attributes, "name": name, "open": chance.random() < 0.5}
    text = json.dumps(said, sort_keys=True, separators=(",", ":")).encode()
    what = chance.choice((text, text, b"", chance.randbytes(30)))
    digest = hashlib.blake2b(what, digest_size=16).digest()
    return list(parts(frames.SPACE, number(name), version, int.from_bytes(digest[:8], "big"), [name, version, what]))


def _edge(chance: Chance, me: int) -> list[bytes]:
    issuer, epoch, seq = _version(chance)
    behind, base = chance.choice((NOTHING, chance.randbytes(16))), chance.randrange(seq)
    added = [
        [chance.randrange(1_000), packed(chance.filter()), chance.random() < 0.5] for _ in range(chance.randrange(9))
    ]
    change = chance.choice(([True, 0, added, []], [False, base, added, [1, 2]]))
    body = [issuer, behind, epoch, seq, *change, chance.randbytes(16), len(added), chance.random() < 0.5, True]
    told = frame(frames.EH, [me, behind, epoch, seq]), frame(frames.ER, [issuer, behind])
    return [*parts(frames.EA, issuer, epoch, seq, body), chance.choice(told)]


def _report(chance: Chance, me: int) -> list[bytes]:
    issuer = number(chance.choice(NAMES))
    record = [9, issuer, "b", me, 3, 1, 1, 1, [[me, 1]], 1, [[me, True, 1]], ""]
    dry = [9, issuer, "b", me, 1, [[me, 1]], 1, [me]]
    return [frame(frames.TRACE_RECORD, record), frame(frames.DRY_RUN_REPORT, dry), frame(frames.LOST, [3, 300, 5, []])]


def _route(chance: Chance, me: int) -> bytes:
    """To all routers, or to some of a list, which is in order but for one in ten."""
    listed = sorted({me, *(number(each) for each in chance.sample(NAMES, chance.randrange(len(NAMES))))})
    if chance.random() < 0.1:
        listed.reverse()
    data = struct.pack(f"<B{len(listed)}Q", 2, *listed)
    return extension(frames.ROUTE, chance.choice((b"\x01", data, data)))


def _message(chance: Chance, me: int) -> list[bytes]:
    issuer, epoch, _ = _version(chance)
    header = Header(issuer, epoch, chance.getrandbits(20), me, chance.getrandbits(60), 0)
    is_traced = chance.random() < 0.3
    extensions = [_route(chance, me)] if chance.random() < 0.4 else []
    extensions += [extension(frames.TRACE, chance.randbytes(8))] if is_traced else []
    if chance.random() < 0.4:
        extensions.append(extension(10, struct.pack("<IQ", WORKERS, chance.choice((me, number(chance.choice(NAMES)))))))
        extensions += [extension(12, b"")] * (chance.random() < 0.5)
    data = data_frame(
        header, chance.attributes(), b"x", extensions, frames.PUBLISH, frames.TRACED if is_traced else 0, 9
    )
    return [data, frame(frames.PING, [chance.getrandbits(64)])]


# --- mutations -------------------------------------------------------------------------------------------------------

Mutation = Callable[[Random, bytearray, int, list[bytes]], None]


def _flip(chance: Random, out: bytearray, at: int, _others: list[bytes]) -> None:
    out[at] ^= 1 << chance.randrange(8)


def _replace(chance: Random, out: bytearray, at: int, _others: list[bytes]) -> None:
    out[at] = chance.choice((0, 1, 0x7F, 0x80, 0xC0, 0xC1, 0xDF, 0xFF))


def _drop(chance: Random, out: bytearray, at: int, _others: list[bytes]) -> None:
    del out[at : at + chance.choice((1, 2, 4, 8, 30))]


def _insert(chance: Random, out: bytearray, at: int, _others: list[bytes]) -> None:
    out[at:at] = chance.randbytes(chance.choice((1, 2, 8, 40)))


def _number(chance: Random, out: bytearray, at: int, _others: list[bytes]) -> None:
    width = chance.choice((1, 2, 4, 8))
    value = chance.choice(ODD) % 256**width
    out[at : at + width] = value.to_bytes(width, chance.choice(("little", "big")))


def _splice(chance: Random, out: bytearray, at: int, others: list[bytes]) -> None:
    other = chance.choice(others)
    start = chance.randrange(len(other))
    out[at : at + chance.randrange(1, 60)] = other[start : start + chance.randrange(1, 60)]


def _repeat(chance: Random, out: bytearray, at: int, _others: list[bytes]) -> None:
    out[at:at] = out[at : at + chance.randrange(1, 60)]


def _cut(_chance: Random, out: bytearray, at: int, _others: list[bytes]) -> None:
    del out[max(at, 4) :]


MUTATIONS: Mapping[str, Mutation] = {
    each.__name__: each for each in (_flip, _replace, _drop, _insert, _number, _splice, _repeat, _cut)
}


def mutated(chance: Random, data: bytes, others: list[bytes]) -> bytes:
    """One to four mutations, mostly behind the prefix."""
    out = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 4))):
        is_anywhere = chance.random() < 0.3 or len(out) <= BYTES_LEAST
        at = chance.randrange(len(out)) if is_anywhere else chance.randrange(8, len(out))
        MUTATIONS[chance.choice(list(MUTATIONS))](chance, out, at, others)
        out += bytes(max(0, BYTES_LEAST - len(out)))
    if chance.random() < 0.9:
        struct.pack_into("<I", out, 0, len(out))
    return bytes(out)
