"""What a router of a later version says crosses routers of this one with the fields that they do not know.

x is that router: it appends fields to all that it says and to the records inside. Bodies are bytes on every link.
"""

from __future__ import annotations

from typing import Any

import msgpack

from tamis.protocol.wire.frames import decode, encode
from tamis.protocol.wire.numbers import stable_number
from tamis.protocol.wire.parts import PartAssembler, cut, packed_whole, split
from tamis.protocol.wire.routing_bodies import Body, Held, LinkState, ReceiverAdvertisement, SenderRequest, UpdateReply
from tamis.protocol.wire.slices import at_once
from tamis.router.core.events import Await
from tamis.router.core.statements import sizes
from tamis.router.core.times import MS, S
from tests.router.core.bodies import less
from tests.router.core.world import World

BODY, RECORD = [9, "body of version 3"], [b"record of version 3", {"k": [None, 1.5]}]
IN_BYTES = {what: b"".join(map(msgpack.packb, fields)) for what, fields in (("body", BODY), ("record", RECORD))}
X, C = stable_number("x"), stable_number("c")


def raw_of(body: Body) -> bytes:
    return encode(body)[8:] if isinstance(body, LinkState | Held) else at_once(packed_whole(body))


def later(body: Body) -> Body:
    """As x says it, and as this version reads it."""
    plain: Any = msgpack.unpackb(raw_of(body))
    if isinstance(body, LinkState):
        records = plain[3]
        plain.extend(["", False][len(plain) - 4 :])
    elif isinstance(body, ReceiverAdvertisement):
        records = plain[5]
    elif isinstance(body, UpdateReply):
        for entry in plain[3]:
            entry.extend([0, 0][len(entry) - 5 :])
        records = plain[3] + [filter_ for entry in plain[3] for filter_ in entry[4]]
    else:
        records = []
    for record in records:
        if isinstance(record[1], bytes):  # a filter, which this version knows to be of no group
            record.extend(["", 0][len(record) - 2 :])
        record.extend(RECORD)
    raw = msgpack.packb(plain + BODY)
    if isinstance(body, LinkState | Held):
        frame = encode(body)[:8] + raw
        return decode(len(frame).to_bytes(4, "little") + frame[4:])  # type: ignore[return-value]
    [part] = cut(body, raw, 65_536)
    whole = PartAssembler().add(part)
    assert whole is not None
    return whole


def over_the_wire(body: Body) -> Body:
    if isinstance(body, LinkState | Held):
        return decode(encode(body))  # type: ignore[return-value]
    assembler = PartAssembler()
    [whole] = [whole for part in split(body) if (whole := assembler.add(part)) is not None]
    return whole


class Wires(World):
    def _send(self, name: str, session: int, body: Body) -> None:
        says_more = name == "x" and not isinstance(body, SenderRequest)
        super()._send(name, session, later(body) if says_more else over_the_wire(body))

    def about_x(self, of: type, frm: str, to: str) -> list[bytes]:
        """Bodies that say something of x, as they went from one router to another."""
        bodies = [body for name, peer, body in self.sent if (name, peer) == (frm, to) and isinstance(body, of)]
        return [raw_of(body) for body in bodies if _says_of_x(body)]


def _says_of_x(body: Body) -> bool:
    if isinstance(body, LinkState):
        return body.issuer == "x"
    if isinstance(body, UpdateReply):
        return any(entry.issuer == X and entry.filters for entry in body.entries)
    return (body.holders == (X,)) if isinstance(body, Held) else body.ticket.origin == X


def chain() -> Wires:
    world = Wires("xabc", ["xa", "ab", "bc"])
    world.run(5 * S)
    world.sent.clear()
    return world


def test_link_states_and_advertisements_are_passed_on_byte_for_byte():
    world = chain()
    world.want("x", less(1, "n"), less(2, "m"))
    world.run(1 * S)
    world.want("x", less(3, "o"))
    world.unwant("x", less(1, "n"))
    world.start("y")
    world.connect("x", "y")
    world.run(5 * S)
    for kind in (LinkState, ReceiverAdvertisement):
        said = world.about_x(kind, "x", "a")
        assert said
        assert world.about_x(kind, "a", "b") == world.about_x(kind, "b", "c") == said
        assert all(raw.endswith(IN_BYTES["body"]) for raw in said)
        assert any(IN_BYTES["record"] in raw for raw in said)
    world.check()


def test_who_asks_later_gets_them_too():
    world = chain()
    world.want("x", less(1, "n"), less(2, "m"))
    world.run(1 * S)
    world.want("x", less(3, "o"))
    world.run(5 * S)
    world.stop("c")
    world.start("c", epoch=9)
    world.sent.clear()
    world.connect("b", "c")
    world.run(5 * S)
    [state] = set(world.about_x(LinkState, "b", "c"))
    assert state.endswith(IN_BYTES["body"])
    [reply] = world.about_x(UpdateReply, "b", "c")
    assert reply.count(IN_BYTES["record"]) == 3, "each filter, whichever change it came with"
    world.check()


def test_an_entry_keeps_its_own_for_as_long_as_its_version_is_held(monkeypatch):
    for bound in (sizes.STATEMENT_BYTES_MAX, 10):  # whole, and in pieces
        monkeypatch.setattr(sizes, "STATEMENT_BYTES_MAX", bound)
        monkeypatch.setattr(sizes, "FILTER_OVERHEAD_BYTES", 0)
        world = Wires("xabc", ["ab", "bc"])
        world.want("x", less(1, "n"), less(2, "m"), less(3, "o"))
        world.run(5 * S)
        world.connect("x", "a")  # a asks x
        world.run(5 * S)
        world.stop("c")
        world.start("c", epoch=9)
        world.sent.clear()
        world.connect("b", "c")
        world.run(5 * S)
        entries = [entry for raw in world.about_x(UpdateReply, "b", "c") for entry in msgpack.unpackb(raw)[3]]
        entries = [entry for entry in entries if entry[0] == X]
        assert entries
        assert all(len(filter_) == 6 for entry in entries for filter_ in entry[4])
        if bound > 10:  # passed on as an advertisement, whose fields are others
            continue
        assert [entry[7:] for entry in entries] == [RECORD] * len(entries)


def test_held_is_passed_on_with_them():
    world = chain()
    world.want("c", less(1, "n"))
    world.handle("c", Await(1))
    while ("c", 1) not in world.reached:
        world.run(1 * MS)
    [said] = {raw_of(body) for name, peer, body in world.sent if (name, peer) == ("x", "a") and isinstance(body, Held)}
    [passed] = world.about_x(Held, "b", "c")
    assert passed == said
    assert said.endswith(IN_BYTES["body"])
