"""Fields that a later version appends to a statement reach routers two links away byte for byte.

s ----- a ----- b ----- t          a and b are processes; s states something of itself with fields that nobody
                                   knows yet, and t compares what it is told of s with what s said
"""

from __future__ import annotations

from collections.abc import Iterator

import msgpack
import pytest

from tests.stranger import frames
from tests.stranger.frames import EQ, body_of, frame
from tests.stranger.neighbour import Neighbour
from tests.stranger.predicates import packed, predicate_digest
from tests.stranger.routers import Network, until

pytestmark = pytest.mark.slow

TREE = 1
"""The scope of a request."""
KNOWN = ["", False]
"""The last fields of a link state today: the layout of most routers, and that it does not leave."""
LATER = [{"weight": 3}, b"\x00\xff", -1]
"""What a later version might append."""
FILTERS = {1: packed([["x", EQ, [1]]])}


@pytest.fixture(name="ends")
def _ends(tmp_path) -> Iterator[tuple[Neighbour, Neighbour]]:
    with Network(tmp_path, "ab", ["ab", "sa", "bt"], elsewhere="st") as net:
        net.until_linked("ab")
        said = Neighbour(net["a"].neighbours, "s", 7).join()
        told = Neighbour(net["b"].neighbours, "t", 7).join()
        until(lambda: said.number in told.states)
        yield said, told
        said.close()
        told.close()
        assert net["a"].tracebacks == net["b"].tracebacks == 0


def bodies(told: Neighbour, kind: int) -> list[bytes]:
    """The records of the frames of a kind, which came in one part each."""
    return [body_of(data)[5] for data in told.heard(kind)]


def advertisement(said: Neighbour) -> list[object]:
    said.seq += 1
    body = [said.number, said.epoch, said.seq, True, 0, list(FILTERS.items()), [], predicate_digest(FILTERS)]
    said.predicates[said.number] = (said.epoch, said.seq, FILTERS)
    return [*body, len(FILTERS), False]


def test_of_a_link_state(ends):
    said, told = ends
    said.seq += 1
    state = frame(frames.LSA, [said.name, said.epoch, said.seq, [[said.peer, 1, 1]], *KNOWN, *LATER])
    said.send(state)
    until(lambda: state in told.seen)


def test_of_an_advertisement(ends):
    said, told = ends
    body = [*advertisement(said), *LATER]
    said.say_in_parts(frames.RA, said.number, said.epoch, said.seq, body)
    until(lambda: msgpack.packb(body) in bodies(told, frames.RA))
    assert told.predicates[said.number] == (said.epoch, said.seq, FILTERS)


def test_of_a_request_for_a_whole_tree(ends):
    """A reply crosses one link, and what is learned from it is stated again; the request goes on."""
    said, told = ends
    body = [said.number, said.epoch, 99, TREE, b"", [], [], b"", [], b"", [], b"", *LATER]
    said.say_in_parts(frames.SR, said.number, said.epoch, 99, body)
    until(lambda: msgpack.packb(body) in bodies(told, frames.SR))


def test_of_a_reply_of_a_whole_tree(ends, monkeypatch):
    said, told = ends
    monkeypatch.setattr(told, "_answer", lambda _: None)
    filters = {1: packed([["y", EQ, [2]]])}
    entry = [told.number, told.epoch, told.seq + 1, predicate_digest(filters), list(filters.items())]
    said.say_in_parts(frames.SR, said.number, said.epoch, 99, [said.number, said.epoch, 99, TREE, b"", [], []])
    until(lambda: any(body_of(data)[:3] == [said.number, said.epoch, 99] for data in told.heard(frames.SR)))
    reply = [said.number, said.epoch, 99, [entry], False, 1, [], *LATER]
    told.say_in_parts(frames.UR, said.number, said.epoch, 99, reply)
    until(lambda: msgpack.packb(reply) in bodies(said, frames.UR))
