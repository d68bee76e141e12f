"""Fuzz target: any bytes as what a SPACE says, as a neighbour may send them.

Law: a router holds the bytes whatever they are, and nothing is raised: they make a space, or a sentence says why not. A
space that they make is written as these bytes, is the same as itself, and the switch takes it.
"""

from __future__ import annotations

import json

from tamis.native import Switch, SwitchOptions, Table
from tamis.protocol.spaces import ChangeKind, Space, SpaceSet, compare, pack
from tamis.protocol.wire.routing_bodies import SpaceStatement
from tamis.router.core.known_spaces import PROBLEM_MAX, KnownSpaces

NAME = "trades"
_ATTRIBUTES: tuple[dict[str, object], ...] = (
    {},
    {"issue": "string", "price": {"fixed": [0, 10_000], "digits": 2}, "side": {"one_of": ["buy", "sell"]}},
    {"volume": {"integer": [0, 1_000_000], "optional": True}, "note": {"kind": "string", "optional": True}},
    {"live": "boolean", "level": "number", "left": {"integer": [-(2**63), 2**63 - 1]}},
    {f"a{number}": "string" for number in range(64)},
    {"\ud800": {"one_of": ["\udfff"]}, "": [], "x": {"integer": [1, 0]}, "y": {"fixed": [0.1, 1e400], "digits": -1}},
)


def _said(name: object, attributes: object) -> bytes:
    said = {"attributes": attributes, "name": name, "open": False}
    return json.dumps(said, sort_keys=True, separators=(",", ":")).encode()


SEEDS: list[bytes] = [
    *(_said(NAME, attributes) for attributes in _ATTRIBUTES),
    *(_said(name, {}) for name in ("other", "", "\ud800", 7, None, [], {})),
    *(_said(NAME, attributes) for attributes in (7, [], "x", {"x": {"integer": 7}}, {"x": {"one_of": {"a": 1}}})),
    b'{"attributes":{"x":{"integer":[0,' + b"9" * 3_000 + b'1]}},"name":"trades","open":true}',
    b'{"attributes":{"x":{"integer":[NaN,Infinity]}},"name":"trades","open":true}',
    b'{"attributes":{},"name":"trades","open":true,"version":2}',
    b"[" * 3_000,
    b"\xff",
    b"",
]
_TABLE = Table()
_SWITCH = Switch(_TABLE, SwitchOptions(number=1, epoch=2, connections_max=3, publishers_max=10, hop_limit=9))


def target(data: bytes) -> None:
    known = KnownSpaces()
    held = known.hold(SpaceStatement(NAME, 1, data))
    assert (held.space is None) == (bool(held.problem) or not data)
    assert held.problem.isprintable(), held.problem
    assert len(held.problem) < 10 * PROBLEM_MAX  # ten characters stand for one that cannot be shown
    if held.space is not None:
        _check(held.space, data)


def _check(space: Space, data: bytes) -> None:
    assert pack(space) == data
    assert compare(space, space).kind is ChangeKind.SAME
    _SWITCH.know_spaces(SpaceSet({space.name: space}, naming="kind of message"))
    assert [*_SWITCH.spaces()] == [space.name]
