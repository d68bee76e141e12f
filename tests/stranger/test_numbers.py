"""Every u64 of every frame at 0, 1, 2^63 - 1, 2^63 and 2^64 - 1, from a client and from a neighbour.

What must hold meanwhile: two honest clients hear each other across an honest third router, both routers are ready and
log no traceback, and what one router holds of the other is what that one says of itself. A neighbour that makes up a
*plausible* statement of another router, one fresher than its own, is believed until the issuer hears of it: then the
issuer says something newer still, which must win within seconds. Only signed statements can do better.

At commit da1168e the clients' half held; of the neighbours' half an LSA and an RA about another router at 2^63 and more
stopped that router for good, as did an entry of a UR.
"""

from __future__ import annotations

import contextlib
import copy
import struct
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.stranger import frames
from tests.stranger.client import Ended, Stranger
from tests.stranger.frames import EQ, Header, body_of, data_frame, extension, frame
from tests.stranger.neighbour import Neighbour
from tests.stranger.predicates import NOTHING, links_digest, number, packed, parts, predicate_digest
from tests.stranger.routers import Network, Router, until

VALUES = (0, 1, 2**63 - 1, 2**63, 2**64 - 1)
PATIENCE_S = 5.0
PASSED_MS = 10 * 86_400_000
A, B, C, NOBODY = (number(name) for name in ("a", "b", "c", "nobody"))
Path = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Said:
    """A body, and where in it a u64 stands."""

    word: str
    kind: int
    body: list[Any]
    paths: tuple[Path, ...]

    def swept(self) -> Iterator[tuple[str, list[Any]]]:
        for path in self.paths:
            for value in VALUES:
                body = copy.deepcopy(self.body)
                place = body
                for step in path[:-1]:
                    place = place[step]
                place[path[-1]] = value
                yield f"{self.word} at {path}: {value}", body


def sizes(*numbers: int) -> tuple[Path, ...]:
    return tuple((each,) for each in numbers)


TRACED = [7, A, "b", NOBODY, 3, 1, 1, 1, [[NOBODY, 1]], 1, [[NOBODY, False, 1]], ""]
TRACED_PATHS = (*sizes(0, 1, 3, 5, 6), (8, 0, 0), (8, 0, 1), (10, 0, 0), (10, 0, 2))
DRY = [7, A, "b", NOBODY, 1, [[NOBODY, 1]], 1, [NOBODY]]
DRY_PATHS = (*sizes(0, 1, 3), (5, 0, 0), (7, 0))
FROM_ANYBODY = (
    Said("PING", frames.PING, [5], sizes(0)),
    Said("PONG", frames.PONG, [5, 5], sizes(0, 1)),
    Said("ACK", frames.ACK, [4, 0, [[1, 2]], [[5, 1, "", 7]]], ((2, 0, 0), (2, 0, 1), (3, 0, 0), (3, 0, 3))),
    Said("LOST", frames.LOST, [5, 5, 1, [1]], sizes(0, 1)),
    Said("CREDIT", frames.CREDIT, [5, 5], sizes(0, 1)),
    Said("TRACE_RECORD", frames.TRACE_RECORD, TRACED, TRACED_PATHS),
    Said("DRY_RUN_REPORT", frames.DRY_RUN_REPORT, DRY, DRY_PATHS),
    Said("HELD", frames.HELD, [C, 5, 5, [B]], (*sizes(0, 1, 2), (3, 0))),
    Said("EH", frames.EH, [C, bytes(16), 5, 5], sizes(0, 2, 3)),
    Said("ER", frames.ER, [C, bytes(16)], sizes(0)),
    Said("EPOCH_REFUSED", frames.EPOCH_REFUSED, [A, 5, 5], sizes(0, 1, 2)),
    Said("AUTHENTICATED", frames.AUTHENTICATED, [b"", 1, 5, 5], sizes(1, 3)),
)
FROM_A_CLIENT = (
    Said("SUBSCRIBE", frames.SUBSCRIBE, [5, [[5, [packed([])]]], False, 0, False], (*sizes(0), (1, 0, 0))),
    Said("UNSUBSCRIBE", frames.UNSUBSCRIBE, [5, [5]], (*sizes(0), (1, 0))),
    Said("LSA", frames.LSA, ["c", 5, 5, [[A, 5, 1]]], (*sizes(1, 2), (3, 0, 0), (3, 0, 1))),
    Said("RA", frames.RA, [C, 5, 5, 1, 1, b"\x90"], sizes(0, 1, 2)),
    Said("SR", frames.SR, [C, 5, 5, 1, 1, b"\x90"], sizes(0, 1, 2)),
    Said("UR", frames.UR, [C, 5, 5, 1, 1, b"\x90"], sizes(0, 1, 2)),
    Said("EA", frames.EA, [C, 5, 5, 1, 1, b"\x90"], sizes(0, 1, 2)),
    Said("SPACE", frames.SPACE, [C, 5, 5, 1, 1, b"\x90"], sizes(0, 1, 2)),
)
HEADER = Header(source=A, epoch=5, entry=5, origin=NOBODY, counter=5, published_ns=5)
HEADER_FIELDS = ("source", "epoch", "entry", "origin", "counter", "published_ns")


def headers(base: Header) -> Iterator[tuple[str, Header]]:
    for field in HEADER_FIELDS:
        for value in VALUES:
            said = {each: getattr(base, each) for each in HEADER_FIELDS} | {field: value}
            yield f"header's {field}: {value}", Header(**said)


class Honest:
    """Clients at a and c, and what the routers say of themselves and of each other."""

    def __init__(self, net: Network) -> None:
        self.net, self.count = net, 0
        self.near, self.far = Stranger(*net["a"].clients, "near"), Stranger(*net["c"].clients, "far")
        for each in (self.near, self.far):
            assert not each.subscribe({1: [[["honest", frames.GE, 0]]]}, wait=frames.NETWORK)

    def hear_each_other(self, said: str) -> None:
        """Each of the other, this message and nothing before it. Nothing is confirmed: a neighbour that does not answer
        is not in step, and a router says so to whoever asks it for a confirmation."""
        self.count += 1
        for one, other in ((self.near, self.far), (self.far, self.near)):
            one.publish({"honest": self.count})
            try:
                found = other.message()
            except TimeoutError:
                raise AssertionError(f"{said}: {other.name} does not hear {one.name} any more") from None
            assert found.attributes == {"honest": self.count}, said
            assert found.header.origin == one.number, said

    def hear_each_other_again(self) -> bool:
        """Both, of a message each; what was lost before is no matter."""
        self.count += 1
        for one, other in ((self.near, self.far), (self.far, self.near)):
            one.publish({"honest": self.count})
            while not other.is_silent(0.3):
                if other.message().attributes["honest"] == self.count:
                    break
            else:
                return False
        return True

    def are_well(self, said: str) -> None:
        for name, other in (("a", "c"), ("c", "a")):
            router = self.net[name]
            assert router.is_alive, said
            assert router.tracebacks == 0, (said, router.log[-3_000:])
            assert router.is_ready, said
            until(lambda router=router, other=other: statement(router, other) == statement(self.net[other], other), 10)
            epoch = statement(self.net[other], other)["version"][0]
            assert epoch < time.time_ns() // 10**6 + 86_400_000, (said, "an epoch of a day ahead was taken over")

    def close(self) -> None:
        self.near.close()
        self.far.close()


def statement(router: Router, issuer: str) -> dict[str, Any]:
    """What `router` holds of `issuer`."""
    pages = router.page("/routes?limit=500")["routers"]
    kept = ("version", "topology_version", "digest", "filters", "links")
    return {key: each[key] for each in pages if each["router"] == issuer for key in kept}


@pytest.fixture(name="net")
def _net(tmp_path) -> Iterator[Network]:
    with Network(tmp_path, "ac", ["ac", "ab", "ad"], elsewhere="bd") as net:
        net.until_linked("ac")
        net.until_ready("ac")
        yield net


@pytest.fixture(name="honest")
def _honest(net) -> Iterator[Honest]:
    honest = Honest(net)
    yield honest
    honest.close()


# --- from a client ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_no_number_of_a_client_hurts_anybody(net, honest):
    for said, data in client_frames():
        with contextlib.suppress(Ended, OSError), Stranger(*net["a"].clients, "hostile", patience_s=2) as client:
            client.wait_for_credit(1)
            client.send(data.replace(b"ORIGIN__", struct.pack("<Q", client.number)))
            client.send(frame(frames.PING, [1]))
            client.expect(frames.PONG)
        honest.hear_each_other(said)
    honest.are_well("all of a client's numbers")


def client_frames() -> Iterator[tuple[str, bytes]]:
    origin = int.from_bytes(b"ORIGIN__", "little")
    for kind in (frames.PUBLISH, frames.DRY_RUN):
        for said, header in headers(Header(origin=origin, counter=5)):
            trace = [extension(frames.TRACE, struct.pack("<Q", 9))]
            yield f"{kind}: {said}", data_frame(header, {"n": 1}, b"", trace, kind, frames.TRACED | frames.CONFIRM)
    for type_ in (frames.TRACE, frames.EXPIRY, frames.LOG_POSITION):
        for value in VALUES:
            area = [extension(type_, struct.pack("<Q", value))]
            header = Header(origin=origin, counter=time.time_ns())
            flags = frames.TRACED if type_ == frames.TRACE else 0
            yield f"extension {type_}: {value}", data_frame(header, {"n": 1}, b"", area, flags=flags)
    for each in (*FROM_ANYBODY, *FROM_A_CLIENT):
        for said, body in each.swept():
            yield said, frame(each.kind, body)


@pytest.mark.slow
def test_no_epoch_in_a_clients_hello_hurts_anybody(net, honest):
    for value in VALUES:
        with Stranger(*net["a"].clients, "hostile", greet=False) as client:
            client.send(frame(frames.HELLO, [1, "hostile", value, bytes(16), 1, 2, [], 1 << 20, 30_000, 0]))
            with contextlib.suppress(Ended):
                client.expect(frames.WELCOME)
        honest.hear_each_other(f"HELLO, epoch {value}")
    honest.are_well("HELLO of a client")


# --- from a neighbour ------------------------------------------------------------------------------------------------


class Hostile(Neighbour):
    """Linked and heard, and it answers nothing by itself: what a asks is for the sweep to answer."""

    is_answering = True

    def _answer(self, body: list[Any]) -> None:
        if self.is_answering:
            super()._answer(body)


def linked(net: Network, name: str = "b", epoch: int = 0, is_joined: bool = True) -> Hostile:
    """Once the other end counts the link; or at once, which takes less time and is enough to be heard."""
    found = Hostile(net["a"].neighbours, name, epoch or time.time_ns() // 10**6)
    if is_joined:
        return found.join()
    found.state()
    found.advertise({})
    return found


def routing_frames() -> Iterator[tuple[str, list[bytes]]]:
    """About c, about b itself, and about somebody whom nobody knows; of an epoch that has passed, but for the number
    that is swept."""
    filters = {5: packed([["n", EQ, 1]])}
    digest, now = predicate_digest(filters), time.time_ns() // 10**6 - PASSED_MS
    for name in ("c", "b", "nobody"):
        n = number(name)
        state = Said(f"LSA of {name}", frames.LSA, [name, now, 9, [[A, 5, 1]]], (*sizes(1, 2), (3, 0, 0), (3, 0, 1)))
        for said, body in state.swept():
            yield said, [frame(frames.LSA, body)]
        whole = [n, now, 9, True, 0, [[5, filters[5]]], [], digest, 1, True]
        change = [n, now, 9, False, 8, [[5, filters[5]]], [4], digest, 1, True]
        for base, word in ((whole, "whole"), (change, "change")):
            paths = (*sizes(0, 1, 2, 4, 8), (5, 0, 0), *(((6, 0),) if word == "change" else ()))
            for said, body in Said(f"RA of {name}, {word}", frames.RA, base, paths).swept():
                yield said, list(parts(frames.RA, body[0], body[1], body[2], body))
        for said, body in Said(
            f"part of an RA of {name}", frames.RA, [n, now, 9, 1, 2, b"\x9a"], sizes(0, 1, 2)
        ).swept():
            yield said, [frame(frames.RA, body)]
        request = [B, now, 9, 0, b"", [[n, now, 9, digest]], [[n, now, 9, links_digest([])]]]
        paths = (*sizes(0, 1, 2), (5, 0, 0), (5, 0, 1), (5, 0, 2), (6, 0, 0), (6, 0, 1), (6, 0, 2))
        for said, body in Said(f"SR with {name}", frames.SR, request, paths).swept():
            yield said, list(parts(frames.SR, body[0], body[1], body[2], body))


@pytest.mark.slow
@pytest.mark.parametrize("part", ["statements", "others", "messages"])
def test_no_number_of_a_neighbour_hurts_anybody(net, honest, part):
    neighbour = linked(net)
    try:
        for said, data in neighbour_frames(part):
            if neighbour.ended is not None:
                neighbour.close()
                neighbour = linked(net, is_joined=False)
            for each in data:
                neighbour.send(each)
            honest.hear_each_other(said)
            if part == "statements":
                assert net["c"].is_ready, said
                assert net["c"].tracebacks == 0, (said, net["c"].log[-3_000:])
    finally:
        neighbour.close()
    honest.are_well(part)
    starts_again(net, honest)


def neighbour_frames(part: str) -> Iterator[tuple[str, list[bytes]]]:
    if part == "statements":
        yield from routing_frames()
    elif part == "others":
        for each in FROM_ANYBODY:
            yield from ((said, [frame(each.kind, body)]) for said, body in each.swept())
    else:
        for source in (A, B, C, NOBODY):
            base = Header(source, time.time_ns() // 10**6, 5, NOBODY, 5, 5)
            for kind in (frames.PUBLISH, frames.DRY_RUN):
                trace = [extension(frames.TRACE, struct.pack("<Q", 9))]
                for said, header in headers(base):
                    data = data_frame(header, {"n": 1}, b"", trace, kind, frames.TRACED, 9)
                    yield f"{kind}: {said}", [data]


def starts_again(net: Network, honest: Honest) -> None:
    """What was kept of the numbers does not keep c from starting."""
    honest.far.close()
    net["c"].kill()
    net["c"].start()
    until(lambda: net["c"].links_up == {"a"}, 10)
    honest.far = Stranger(*net["c"].clients, "far")
    assert not honest.far.subscribe({1: [[["honest", frames.GE, 0]]]}, wait=frames.NETWORK)
    honest.hear_each_other("after a start")
    honest.are_well("after a start")


@pytest.mark.slow
def test_no_number_in_a_reply_hurts_anybody(net, honest):
    """A reply counts only where it was asked for: each is one to the question of a session of its own."""
    filters = {5: packed([["n", EQ, 1]])}
    digest, now = predicate_digest(filters), time.time_ns() // 10**6 - PASSED_MS
    entry_paths = tuple((3, 0, *rest) for rest in ((0,), (1,), (2,), (4, 0, 0), (5,), (6,)))
    for name in ("c", "nobody"):
        entry = [number(name), now, 9, digest, [[5, filters[5]]], 0, 1]
        paths = (*sizes(0, 1, 2), *entry_paths, (6, 0))
        for said, body in Said(f"UR with {name}", frames.UR, [0, 0, 0, [entry], False, 1, [B]], paths).swept():
            neighbour = Hostile(net["a"].neighbours, "b", time.time_ns() // 10**6)
            neighbour.is_answering = False
            neighbour.state()
            neighbour.advertise({})
            until(lambda neighbour=neighbour: neighbour.heard(frames.SR), PATIENCE_S)
            asked = body_of(neighbour.heard(frames.SR)[0])
            fields = [value or given for value, given in zip(asked[:3], body[:3], strict=True)]
            swept = [body[i] if (i,) in paths and body[i] != 0 else fields[i] for i in range(3)]
            neighbour.say_in_parts(frames.UR, *asked[:3], [*swept, *body[3:]])
            neighbour.say_in_parts(frames.UR, *swept, [*swept, *body[3:]])
            honest.hear_each_other(said)
            neighbour.close()
            assert net["c"].is_ready, said
            assert net["c"].tracebacks == 0, (said, net["c"].log[-3_000:])
    honest.are_well("UR")
    starts_again(net, honest)


@pytest.mark.slow
def test_no_epoch_in_a_neighbours_hello_hurts_anybody(net, honest):
    for value in VALUES:
        with contextlib.suppress(Ended, AssertionError):
            linked(net, "d", value or 1).close()
        if value == 0:
            with contextlib.suppress(Ended):
                Hostile(net["a"].neighbours, "d", 0).close()
        honest.hear_each_other(f"HELLO, epoch {value}")
    honest.are_well("HELLO of a neighbour")


@pytest.mark.slow
@pytest.mark.parametrize("seq", [*VALUES, None])
def test_a_plausible_statement_of_another_is_overcome_within_seconds(net, honest, seq):
    """The known limit: until c hears of it, a and whoever is behind it believe what b made up. With `seq`: in c's own
    epoch; without: in one that c may have had a minute from now."""
    neighbour = linked(net)
    epoch = statement(net["c"], "c")["version"][0] + (60_000 if seq is None else 0)
    made_up = 1 if seq is None else seq
    neighbour.say_in_parts(frames.RA, C, epoch, made_up, [C, epoch, made_up, True, 0, [], [], NOTHING, 0, False])
    neighbour.say(frames.LSA, ["c", epoch, made_up, []])
    time.sleep(0.5)  # a has read it
    until(honest.hear_each_other_again, 10)
    honest.hear_each_other("seconds later")
    honest.are_well("seconds later")
    neighbour.close()
    starts_again(net, honest)
