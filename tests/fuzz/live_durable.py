"""Frames of the live fuzz about durable subscriptions: create, fill, consume, acknowledge, replay and remove.

Law: subscriptions are few and have small limits, so that sessions share them and none fills the log; their filters need
the attribute MARK, which no message of the honest pair has.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from tests.stranger import frames
from tests.stranger.chance import Chance
from tests.stranger.frames import Header, data_frame, extension, frame
from tests.stranger.predicates import packed

MARK = "hostile"
DURABLES, IDS = 12, 6
REQUESTS = 2**31
VERDICTS = 4
U64 = 2**64 - 1

Given = tuple[int, int]
"""The id of a consumer, and a position that it received."""


def kept_seeds(chance: Chance, me: int, given: list[Given]) -> Iterator[bytes]:
    """Frames about durable subscriptions, drawn again each time: first CREATE_DURABLE and CONSUME. `given`,
    which may grow, is what acknowledgements are about."""
    yield _durable(chance)
    yield _consume(chance)
    kinds = (*[_publish] * 8, _consume, _consume, _consume, _credit, _credit, _durable, _replay, _detach)
    while True:
        kind: Callable[[Chance], bytes] = chance.choice(kinds)
        roll = chance.random()
        if roll < 0.3:
            yield _acknowledge(chance, given)
        elif roll < 0.31:
            yield frame(frames.REMOVE_DURABLE, [chance.randrange(REQUESTS), _name(chance)])
        elif kind is _publish:
            yield _publish(chance, me)
        else:
            yield kind(chance)


def _name(chance: Chance) -> str:
    return "dead" if chance.random() < 0.08 else f"k{chance.randrange(DURABLES)}"


def _some(chance: Chance, fields: list[object], least: int) -> list[object]:
    """All of them, or without those at the end that may be left out."""
    return fields if chance.random() < 0.5 else fields[: chance.randrange(least, len(fields) + 1)]


def _wanted(chance: Chance) -> list[bytes]:
    filters = [[]] if chance.random() < 0.5 else chance.disjunction()
    return [packed([*each[:4], [MARK, frames.EXISTS]]) for each in filters]


def _durable(chance: Chance) -> bytes:
    policy = [
        *(_wanted(chance), chance.choice((0, 0, 0, 50, 10**6)), chance.choice((1, 5_000, 200_000, 200_000))),
        chance.choice((0, 0, 1, 50)),
        *(0, chance.choice((0, 1_000, 10**8)), chance.choice((1, 20, 30_000)), chance.choice((0, 1, 2, 5))),
        *([chance.randrange(100) for _ in range(chance.randrange(4))], chance.choice(("", "", "dead"))),
        *(chance.choice((1, 3, 1_000)), chance.choice(("", "", "order", chance.name()))),
        *(("",) if chance.random() < 0.9 else (chance.name(),)),
    ]
    start, since_ns = chance.choice(((0, 0), (0, 0), (1, 0), (2, time.time_ns() - 10**9), (3, 0)))
    origin, counter = (chance.getrandbits(63), time.time_ns()) if start == 3 else (0, 0)
    homes = chance.choice(([], [], ["a"], ["a", "c"]))
    body = [
        chance.randrange(REQUESTS),
        _name(chance),
        _some(chance, policy, 3),
        start,
        since_ns,
        origin,
        counter,
        homes,
    ]
    return frame(frames.CREATE_DURABLE, body if start else _some(chance, body, 3))


def _consume(chance: Chance) -> bytes:
    credit = chance.choice((0, 1, 20, 20, 10_000, U64))
    after = chance.choice((*[0] * 12, time.time_ns(), U64))
    body = [chance.randrange(REQUESTS), chance.randrange(IDS), _name(chance), credit, after, chance.random() < 0.2]
    return frame(frames.CONSUME, _some(chance, body, 4))


def _detach(chance: Chance) -> bytes:
    return frame(frames.CANCEL_CONSUME, [chance.randrange(REQUESTS), chance.randrange(IDS)])


def _credit(chance: Chance) -> bytes:
    return frame(frames.CREDIT, [chance.choice((0, 5, 100, U64)), 0, chance.randrange(IDS)])


def _replay(chance: Chance) -> bytes:
    now_ns = time.time_ns()
    since_ns, until_ns = chance.choice(((0, U64), (now_ns - 10**9, now_ns), (0, 0), (now_ns, U64)))
    id_, credit = chance.randrange(IDS), chance.choice((0, 3, 100))
    return frame(frames.REPLAY, [chance.randrange(REQUESTS), id_, _wanted(chance), since_ns, until_ns, credit])


def _publish(chance: Chance, me: int) -> bytes:
    header = Header(origin=me, counter=time.time_ns(), published_ns=chance.getrandbits(62))
    attributes = chance.attributes() | {MARK: chance.randrange(9)} | chance.choice(({}, {"order": chance.randrange(3)}))
    expiry = time.time_ns() + chance.choice((-1, 10**6, 10**8, 10**12))
    area = [extension(frames.EXPIRY, expiry.to_bytes(8, "little"))] if chance.random() < 0.2 else []
    flags = chance.choice((frames.DURABLE | frames.CONFIRM, frames.DURABLE | frames.CONFIRM, frames.CONFIRM, 0))
    flags |= frames.RETRY if chance.random() < 0.1 else 0
    payload = chance.randbytes(chance.choice((0, 10, 40, 3_000)))
    return data_frame(header, attributes, payload, area, frames.PUBLISH, flags)


def _acknowledge(chance: Chance, given: list[Given]) -> bytes:
    """Of what was given, or of anything: one position, all up to it, or several."""
    id_, position = chance.choice(given) if given and chance.random() < 0.9 else (chance.randrange(IDS), time.time_ns())
    others = sorted({position, *(at for each, at in given if each == id_ and chance.random() < 0.3)})
    several = [[at, at] for at, before in zip(others, [-9, *others], strict=False) if at > before + 1]
    ranges = chance.choice(([[position, position]], [[0, position]], several, [[0, U64]]))
    request, verdict = chance.choice((0, chance.randrange(1, REQUESTS))), chance.randrange(VERDICTS)
    delay_ms, reason = chance.choice((0, 0, 5, 10**9)), chance.choice(("", "broken")) if verdict in (1, 3) else ""
    body = [frames.DELIVERED, request, ranges, [], verdict, id_, delay_ms if verdict == 1 else 0, reason]
    return frame(frames.ACK, body)
