"""Fuzz target: any bytes as a topology file. A ConfigError with lines to print is fine; anything else is a bug."""

from __future__ import annotations

from pathlib import Path

from tamis.configs import parse_topology
from tamis.protocol.errors import ConfigError

_EXAMPLES = Path(__file__).resolve().parents[2] / "configs" / "topologies"
_SMALL = b"routers: {a: {neighbours: h:1}, b: {}}\nlinks: [[a, b]]\n"
_BOMB = b"a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nrouters: {r: *c}\n"

SEEDS: list[bytes] = [
    *(file.read_bytes() for file in sorted(_EXAMPLES.glob("*.yaml"))),
    _SMALL,
    b"",
    b"\xef\xbb\xbf" + _SMALL,
    b"\xff\xfe" + _SMALL,
    _SMALL + b"---\n" + _SMALL,
    _SMALL + _SMALL,
    _SMALL.replace(b": ", b":\t"),
    _SMALL.replace(b"\n", b"\r"),
    _BOMB,
    b"<<: *x\n",
    b"x: &x {<<: *x}\n",
    b"[" * 3_000,
    b"{a: " * 3_000,
    b"- " * 3_000,
    b"? " * 3_000,
    b"a:\n" + b"".join(b" " * depth + b"a:\n" for depth in range(1, 60)),
    b"routers: {a: {limits: {connections: " + b"9" * 6_000 + b"}}}",
    b"routers: {a: {limits: {connections: 1e999}}}",
    b"links: [{ends: [a, b], cost: .inf}, {ends: [2001-12-14t21:59:43.10-05:00, 0x1F], cost: 1:30:00}]",
    b"routers: !!python/object/apply:os.system [true]\nname: !!binary aGk=\nlinks: !!set {a, b}\n",
    b'name: "\\ud800 \\U00110000 \\0"\n',
    b"".join(b"%%TAG !%d! x\n" % n for n in range(500)),
    b"%YAML 99999999999999999999.1\n%TAG ! tag:x,2000:\n---\n!a b\n",
    b"routers: {a: {admin: '[::1%eth0]:1', clients: ['[::ffff:1.2.3.4]:1', 'unix:\\0', '1.2.3:4', ':1', '[]:1']}}",
    b"routers: {~: , ? [a]: b, 'x\\ny': {}}\nlinks: [~, [], [a], [[a], {b: c}], {}, {ends: }]\n",
    b"routers: {a: {machine: [x], clients: {}, data: [], engine: [{}]}}\nlinks: {a: [b]}\nversion: []\n",
    b"a: |\n  text\nb: >-\n  folded\n# comment",
]


def target(data: bytes) -> None:
    for source in (data, data.decode("utf-8", "surrogateescape")):
        lines = _refusal(source)
        assert lines is None or lines, "refused without a reason"
        assert all(line.isprintable() for line in lines or ()), lines


def _refusal(source: bytes | str) -> list[str] | None:
    try:
        topology = parse_topology(source)
    except ConfigError as error:
        return error.mistakes
    assert topology.summary()["routers"] == len(topology.routers)
    return None
