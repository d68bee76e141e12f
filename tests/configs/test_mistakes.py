"""Every mistake of a file at once, each at its line and column, in plain words."""

import json
import re
from collections.abc import Callable, Iterator
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.configs import load, load_topology, parse_topology
from tamis.configs.document import FILE_BYTES_MAX, NODES_MAX
from tamis.configs.explain import sections
from tamis.configs.mistakes import MISTAKES_MAX, Problem
from tamis.configs.sections.logs import Logging
from tamis.configs.topology import Topology
from tamis.protocol.errors import ConfigError


def mistakes(text):
    lines = refusal(text)
    assert lines is not None, "nothing was refused"
    return lines


def refusal(text):
    try:
        parse_topology(text, "net.yaml")
    except ConfigError as error:
        return error.mistakes
    return None


ID = "must be 1 to 64 letters, digits, `.`, `_` or `-`, beginning with a letter, digit or `_`"
TREES = "must be source-trees, shared-tree or reverse-path"
TIMES = "milliseconds, or a time such as 300ms, 30s, 5m and 2h"
SIZES = "bytes, or a size such as 64 MiB and 4 GiB"
PORT = "must be host:port, [ipv6]:port or unix:path, with a port from 0 to 65535"
ONE = "routers: {a: {}}\n"
TWO = "routers: {a: {neighbours: h:1}, b: {}}\n"

STRATEGIES = "advertise, flood, link-matching, match-first, profile or rendezvous"
ENGINES = "tamis, sff, counting, linear, kdtree, pst, interval or plain"

SEVEN = """\
name: seven
routers:
  a: {clients: 127.0.0.1:7400, neighbours: 127.0.0.1:7500}
  b:
    clients: 127.0.0.1:7400
    neighbors: 127.0.0.1:7501
    neighbours: 127.0.0.1:7502
  west: {neighbours: 127.0.0.1:75000}
links:
  - [a, b]
  - {ends: [b, wset], cost: 2}
  - {ends: [a, west], cost: 0}
limits: {frame_bytes: lots}
strategy: adaptive
"""


def test_seven_mistakes_give_seven_lines_in_order():
    assert mistakes(SEVEN) == [
        'net.yaml:5:14: routers.b.clients: "127.0.0.1:7400" is taken already by routers.a.clients',
        "net.yaml:6:5: routers.b.neighbors: unknown key, did you mean neighbours?",
        f'net.yaml:8:22: routers.west.neighbours: {PORT}, got "127.0.0.1:75000"',
        'net.yaml:11:16: links.1.ends.1: no router is called "wset", did you mean west?',
        'net.yaml:12:29: links.2.cost: must be from 1 to 4,294,967,295, got "0"',
        f'net.yaml:13:23: limits.frame_bytes: must be a whole number of {SIZES}, got "lots"',
        f'net.yaml:14:11: strategy: "adaptive" is not supported yet; choose {STRATEGIES}',
    ]


LIMITING = "sff, counting, linear, kdtree, pst or interval"
NEEDS_LIMITS = "2:19: strategy.reuse: keys needs an engine that can stop a match after some filters"
VALUES = [
    # the whole file
    ("links: []\n", "1:1: routers: is missing"),
    ("[]", "1:1: must be a mapping, `key: value`, got a list"),
    ("hello", '1:1: must be a mapping, `key: value`, got "hello"'),
    ("routers: {}", "1:10: routers: must name at least one router"),
    ("routers: [a, b]", "1:10: routers: must be a mapping, `key: value`, got a list"),
    ("routers: {a: x}", '1:14: routers.a: must be a mapping, `key: value`, got "x"'),
    # unknown, planned and empty keys
    (ONE + "linsk: []", "2:1: linsk: unknown key, did you mean links?"),
    (ONE + "zzz: []", f"2:1: zzz: unknown key; the keys are {', '.join(Topology.model_fields)}"),
    (ONE + "limits: {conections: 3}", "2:10: limits.conections: unknown key, did you mean connections?"),
    (
        "routers: {a: {logging: {x: 1}}}",
        f"1:25: routers.a.logging.x: unknown key; the keys are {', '.join(Logging.model_fields)}",
    ),
    (ONE + "limits: {memory_bytes: 2GB}", f'2:24: limits.memory_bytes: must be a whole number of {SIZES}, got "2GB"'),
    (
        ONE + "limits: {memory_bytes: 1 KiB}",
        "2:24: limits.memory_bytes: must be from 16,777,216 to 1,099,511,627,776, got 1024",
    ),
    (
        ONE + "limits: {table_bytes_per_client: 1 B}",
        '2:34: limits.table_bytes_per_client: must be from 65,536 to 1,099,511,627,776, got "1 B"',
    ),
    (
        ONE + "keepalive: {hold_ms: 3 weeks}",
        f'2:22: keepalive.hold_ms: must be a whole number of {TIMES}, got "3 weeks"',
    ),
    (
        ONE + "keepalive: {hold_ms: 1s, ping_ms: 2s}",
        "2:12: keepalive: needs a ping_ms of at most hold_ms, got ping_ms 2000 and hold_ms 1000",
    ),
    (
        "routers: {a: {neighbours: h:1}, b: {}}\nlinks: [[a, b, 7]]",
        "2:9: links.0: must be two router ids, [a, b], got 3; a cost is written {ends: [a, b], cost: 7}",
    ),
    (ONE + "areas: {}", "2:1: areas: is not supported yet (border routers that summarise an area for the others)"),
    (ONE + "logging: {file: x}", "2:11: logging.file: is not supported yet (a log file beside standard error)"),
    ("routers: {a: {area: x}}", "1:15: routers.a.area: is not supported yet (the area a router belongs to)"),
    (ONE + "durable: {}", '2:10: durable: needs `folder`, or `data`: router "a" has no folder for its log'),
    (
        "routers: {a: {durable: {subscriptions: 3}}}",
        '1:24: routers.a.durable: needs `folder`, or `data`: router "a" has no folder for its log',
    ),
    (
        ONE + "durable: {subscriptions: 0, folder: f}",
        '2:26: durable.subscriptions: must be from 1 to 1,000,000, got "0"',
    ),
    (ONE + "durable: {serie: 1, folder: f}", "2:11: durable.serie: unknown key, did you mean series?"),
    (
        ONE + "durable: {bytes: 268435456, segment_bytes: 67108865, folder: f}",
        "2:10: durable: needs segment_bytes of at most a quarter of bytes, got 67108865",
    ),
    (
        ONE + "durable: {custody: {age: 500ms}, folder: f}",
        (
            "2:26: durable.custody.age: must be a whole number of seconds, or a time such as 30s, 5m, 2h and 7d, "
            'got "500ms"'
        ),
    ),
    (
        ONE + "durable: {custody: {overflow: drop}, folder: f}",
        ("2:31: durable.custody.overflow: must be 'gap' or 'refuse', got \"drop\""),
    ),
    (ONE + "event_log: {}", f"2:1: event_log: unknown key; the keys are {', '.join(Topology.model_fields)}"),
    ("routers: {a: {tls: {key: k}}}", "1:15: routers.a.tls.certificate: is missing"),
    (ONE + "keepalive: {hold_ms: 1}", '2:22: keepalive.hold_ms: must be from 100 to 3,600,000, got "1"'),
    (
        ONE + "slow_consumer: {policy: drop}",
        '2:25: slow_consumer.policy: must be drop-newest, drop-oldest, disconnect or block, got "drop"',
    ),
    (
        ONE + "records: {messages: most}",
        '2:21: records.messages: must be none, all, a share from 0 to 1, or {where: PREDICATE}, got "most"',
    ),
    (ONE + "records: {format: csv}", '2:19: records.format: must be jsonl or parquet, got "csv"'),
    (ONE + "records: {messages: {share: 2}}", '2:29: records.messages.share: must be a number from 0 to 1, got "2"'),
    (
        ONE + "records: {messages: {share: 1, where: x = 1}}",
        "2:21: records.messages: must have a share or a predicate, not both, got a mapping",
    ),
    (
        ONE + "records: {messages: {where: 'x = 1 and'}}",
        (
            "2:29: records.messages.where: is no predicate: column 10: expected a condition such as `price < 10`, "
            'but the text ends here, got "x = 1 and"'
        ),
    ),
    (
        ONE + "records: {rotate: {bytes: 1}}",
        '2:27: records.rotate.bytes: must be from 65,536 to 17,179,869,184, got "1"',
    ),
    (
        ONE + "unmatched: {bytes: 1}",
        '2:20: unmatched.bytes: must be from 65,536 to 67,108,864, a multiple of 8, got "1"',
    ),
    (ONE + "records: {foldr: x}", "2:11: records.foldr: unknown key, did you mean folder?"),
    (ONE + "name:", "2:6: name: has no value: write one, or remove the key"),
    (ONE + "limits: ~", "2:9: limits: has no value: write one, or remove the key"),
    # choices
    (
        ONE + "broadcast: reverse-path\nstrategy: profile",
        "2:12: broadcast: strategy profile uses shared-tree, not reverse-path: remove `broadcast`",
    ),
    (
        ONE + "strategy: {name: flood, storing: preventive}",
        '2:34: strategy.storing: is a setting of strategy profile and rendezvous, not of flood, got "preventive"',
    ),
    (
        ONE + "strategy: adaptive",
        f'2:11: strategy: "adaptive" is not supported yet; choose {STRATEGIES}',
    ),
    (
        ONE + "strategy: {name: x}",
        f'2:18: strategy.name: must be {STRATEGIES}, got "x"',
    ),
    (
        ONE + "broadcast: shared_tree",
        f'2:12: broadcast: {TREES}, got "shared_tree", did you mean shared-tree?',
    ),
    (
        "routers: {a: {engine: {name: sfff}}}",
        (f'1:30: routers.a.engine.name: must be {ENGINES}, got "sfff", did you mean sff?'),
    ),
    (
        ONE + "engine: {name: pst, options: {oder: names}}",
        (
            "2:31: engine.options.oder: is no option of engine pst; its options are order, annotate, delay, factor, "
            "did you mean order?"
        ),
    ),
    (
        ONE + "engine: {options: {rounds: 3}}",
        "2:20: engine.options.rounds: is no option of engine tamis; it has none",
    ),
    (
        'routers: {a: {engine: {name: linear, options: {"\\x07": hash}}}}',
        '1:48: routers.a.engine.options."\\u0007": is no option of engine linear; it has none',
    ),
    (
        ONE + "engine: {name: sff, options: [rounds]}",
        "2:30: engine.options: must be a mapping, `key: value`, got a list",
    ),
    (ONE + "engine: {name: sff, round: 3}", "2:21: engine.round: unknown key; the keys are name, options"),
    (
        ONE + "engine: {name: sfff, options: {rounds: [3]}}",
        f'2:16: engine.name: must be {ENGINES}, got "sfff", did you mean sff?',
    ),
    (
        ONE + "strategy: {prune: false}",
        '2:19: strategy.prune: is a setting of strategy flood, not of advertise, got "false"',
    ),
    (
        ONE + "strategy: {name: flood, mode: paper}",
        '2:31: strategy.mode: is a setting of strategy advertise, not of flood, got "paper"',
    ),
    (
        ONE + "strategy: {destinations_max: 8}",
        '2:30: strategy.destinations_max: is a setting of strategy match-first, not of advertise, got "8"',
    ),
    (
        ONE + "strategy: {name: match-first, destinations_max: 65}",
        '2:49: strategy.destinations_max: must be from 1 to 64, got "65"',
    ),
    (
        ONE + "strategy: {name: profile, storing: preventive, merge: 0.1}",
        '2:55: strategy.merge: does not go with storing: preventive, got "0.1"',
    ),
    (
        ONE + "strategy: {mode: paper, merge: 0.1}",
        '2:32: strategy.merge: does not go with mode: paper, reuse: never, got "0.1"',
    ),
    (
        ONE + "strategy: {merge: 1}",
        '2:19: strategy.merge: must be from 0.0 to 0.9, got "1"',
    ),
    (
        ONE + "strategy: {name: flood, reuse: never}",
        '2:32: strategy.reuse: is a setting of strategy advertise and link-matching, not of flood, got "never"',
    ),
    (
        ONE + "strategy: {mode: paper, reuse: destinations}",
        '2:32: strategy.reuse: destinations cannot be combined with mode: paper, got "destinations"',
    ),
    (
        ONE + "strategy: {reuse: keys}",
        f"{NEEDS_LIMITS}, {LIMITING}; the default tamis cannot: set `engine`",
    ),
    (
        ONE + "strategy: {reuse: keys}\nengine: tamis",
        f'3:9: engine: "tamis" cannot stop a match after some filters, as reuse: keys needs; choose {LIMITING}',
    ),
    (
        ONE + "strategy: {keys_max: 8}",
        '2:22: strategy.keys_max: needs reuse: keys, not never, got "8"',
    ),
    (
        ONE + "strategy: {name: flood, keys_max: 8}",
        '2:35: strategy.keys_max: is a setting of strategy advertise and link-matching, not of flood, got "8"',
    ),
    (
        ONE + "strategy: {reuse: keys, keys_max: 241}\nengine: counting",
        '2:35: strategy.keys_max: must be from 1 to 240, got "241"',
    ),
    (ONE + "strategy: {name: flood, prune: seldom}", '2:32: strategy.prune: must be true or false, got "seldom"'),
    (
        ONE + "engine: {name: sff, options: {rounds: 257}}",
        '2:39: engine.options.rounds: must be from 0 to 256, got "257"',
    ),
    (
        ONE + "engine: {name: interval, options: {tree_bytes: 1 KiB}}",
        '2:48: engine.options.tree_bytes: must be from 65,536 to 4,294,967,296, got "1 KiB"',
    ),
    (
        ONE + "engine: {name: sff, options: {circuit: full}}",
        '2:40: engine.options.circuit: must be one of off, at-full, each, got "full", did you mean at-full?',
    ),
    (ONE + "engine: [sff]", "2:9: engine: must be a mapping, `key: value`, got a list"),
    (ONE + "logging: {level: [info]}", "2:18: logging.level: must be text, got a list"),
    # numbers and names
    (ONE + "version: 2", '2:10: version: must be 1, got "2"'),
    (
        ONE + "limits: {connections: 1.5}",
        '2:23: limits.connections: must be a whole number from 1 to 1,000,000, got "1.5"',
    ),
    (
        ONE + "limits: {connections: yes}",
        '2:23: limits.connections: must be a whole number from 1 to 1,000,000, got "yes"',
    ),
    (
        ONE + "limits: {connections: {}}",
        "2:23: limits.connections: must be a whole number from 1 to 1,000,000, got a mapping",
    ),
    (ONE + "limits: {connections: 0}", '2:23: limits.connections: must be from 1 to 1,000,000, got "0"'),
    (
        ONE + "limits: {frame_bytes: 2_000_000}",
        '2:23: limits.frame_bytes: must be from 4,096 to 1,048,576, got "2_000_000"',
    ),
    (
        'routers: {"a b": {}}',
        f'1:11: routers.a b: {ID}, got "a b"',
    ),
    (
        ONE + "name: ../x",
        f'2:7: name: {ID}, got "../x"',
    ),
    ('routers: {a: {data: "\\x07"}}', '1:21: routers.a.data: must be a path of printable characters, got "\\u0007"'),
    ("routers: {a: {machine: [x], clients: h:1}}", f"1:24: routers.a.machine: {ID}, got a list"),
    # addresses
    (
        "routers: {a: {clients: {x: 1}}}",
        "1:24: routers.a.clients: must be an address or a list of addresses, got a mapping",
    ),
    (
        "routers: {a: {clients: [h:1, 7]}}",
        '1:30: routers.a.clients.1: must be host:port, [ipv6]:port or unix:path, got "7"',
    ),
    (
        "routers: {a: {admin: [h:1]}}",
        "1:22: routers.a.admin: must be host:port, [ipv6]:port or unix:path, got a list",
    ),
    ("routers: {a: {clients: [" + "h:0, " * 17 + "]}}", "1:24: routers.a.clients: must have at most 16"),
    # links
    (TWO + "links: x", '2:8: links: must be a list, got "x"'),
    (
        TWO + "links: [[a, b], x]",
        '2:17: links.1: must be two router ids, [a, b], or a mapping, {ends: [a, b], cost: 2}, got "x"',
    ),
    (TWO + "links: [[a, b], [a]]", "2:17: links.1: must be two router ids, [a, b], got 1"),
    (TWO + "links: [{ends: [a, b, b]}]", "2:16: links.0.ends: must be two router ids, [a, b], got 3"),
    (TWO + "links: [{cost: 3}]", "2:9: links.0.ends: is missing"),
    (TWO + "links: [{ends: [a, b], costs: 3}]", "2:24: links.0.costs: unknown key, did you mean cost?"),
    (TWO + "links: [[a, [b]]]", f"2:13: links.0.1: {ID}, got a list"),
]

BETWEEN = [
    (TWO + "links:\n  - [a, b2]\n", '3:9: links.0.1: no router is called "b2", did you mean b?'),
    (TWO + "links:\n  - [a, b]\n  - [b, b]\n", '4:5: links.1: links router "b" with itself'),
    (TWO + "links:\n  - [a, b]\n  - [b, a]\n", '4:5: links.1: links "b" and "a" a second time (links.0 does already)'),
    (
        "routers: {a: {neighbours: '[::]:1'}, b: {neighbours: h:0}}\nlinks: [[a, b]]",
        '2:9: links.0: needs an end that can be dialled: give "a" or "b" a `neighbours` address',
    ),
    (TWO, '1:1: routers: the network is in 2 parts that no link joins: ("a"), ("b")'),
    (
        "routers: {a: {neighbours: h:1}, b: {}, c: {neighbours: h:2}, d: {}}\nlinks: [[a, b], [d, c]]",
        '2:1: links: the network is in 2 parts that no link joins: ("a", "b"), ("c", "d")',
    ),
    (
        "routers: {" + ", ".join(f"r{n}: {{}}" for n in range(9)) + "}",
        '1:1: routers: the network is in 9 parts that no link joins: ("r0"), ("r1"), ("r2"), ("r3") and 5 more',
    ),
    (
        "routers: {a: {clients: [h:1, h:2], admin: h:2}}",
        '1:43: routers.a.admin: "h:2" is taken already by routers.a.clients.1',
    ),
    (
        "routers: {a: {clients: 0.0.0.0:1, admin: 127.0.0.1:1}}",
        '1:42: routers.a.admin: "127.0.0.1:1" is taken already by routers.a.clients',
    ),
    (
        "routers: {a: {clients: unix:x/../s, admin: unix:s}}",
        '1:44: routers.a.admin: "unix:s" is taken already by routers.a.clients',
    ),
    (
        "data: run\nrouters: {a: {neighbours: h:1}, b: {data: run/a}}\nlinks: [[a, b]]",
        '2:43: routers.b.data: folder "run/a" is taken already by routers.a.data',
    ),
]

TEXT = [
    ("", "1:1: the file is empty; a topology has at least `routers`"),
    ("# only a comment\n", "1:1: the file is empty; a topology has at least `routers`"),
    ("---\n...\n", "1:1: the file is empty; a topology has at least `routers`"),
    ("routers:\n\ta: {}\n", "2:1: a tab cannot indent YAML; use spaces"),
    (
        "routers:\n  a: {}\n  b:\n    clients: [::1]:7400\n",
        '4:15: is not YAML: an address that begins with a bracket needs quotes: "[::1]:7400"',
    ),
    (ONE + "---\n" + ONE, "2:1: a second document begins here; a file holds one topology"),
    ("routers:\n  a: {}\n  a: {}\n", "3:3: routers.a: is written twice (first in line 2)"),
    (ONE + "name: x\nname: {y: [z]}\n", "3:1: name: is written twice (first in line 2)"),
    (
        ONE + "limits: &l {}",
        "2:9: limits: YAML anchors (&l) are not allowed; write the value out where it is used",
    ),
    (ONE + "limits: *l", "2:9: limits: YAML aliases (*l) are not allowed; write the value out"),
    (ONE + "name: !!str x", '2:7: name: YAML tags ("tag:yaml.org,2002:str") are not allowed; write the plain value'),
    (ONE + "? [a]\n: b", "2:3: a key must be plain text"),
    ("[" * 5_000, "1:18: nested more than 16 deep"),
    ("%YAML 1.1\n---\n" + ONE, "1:1: no line may begin with %: YAML directives are not allowed"),
    (ONE + "# \x00", "2:3: character U+0000 is not allowed in a text file"),
    (b"routers: {}\n#  \xff", "2:4: the file must be UTF-8 text; byte 0xFF is not"),
    ("é: \udc80", "1:4: character U+DC80 is not allowed in a text file"),
    ("x" * (FILE_BYTES_MAX + 1), f"1:1: the file has more than {FILE_BYTES_MAX:,} bytes"),
]


@pytest.mark.parametrize(("text", "line"), VALUES + BETWEEN + TEXT)
def test_one_mistake_is_one_line(text, line):
    assert mistakes(text) == [f"net.yaml:{line}"]


@pytest.mark.parametrize(
    "text", ["a: {b", "a: 'x", "a: b: c", "- a\nb: c", "a: @x", '"\\ud800": 1', 'a: "\\U00110000"']
)
def test_broken_yaml_is_reported_alone_and_at_a_place(text):
    (line,) = mistakes("linsk: 3\n" + text)
    assert line.startswith(("net.yaml:2:", "net.yaml:3:"))
    assert "is not YAML: " in line


def test_a_byte_order_mark_and_windows_line_ends_change_no_position():
    text = "\ufeff" + (ONE + "linsk: []\n").replace("\n", "\r\n")
    assert mistakes(text.encode()) == ["net.yaml:2:1: linsk: unknown key, did you mean links?"]


@pytest.mark.slow
def test_too_many_values():
    (line,) = mistakes("a: [" + "x," * NODES_MAX + "]")
    assert f"the file has more than {NODES_MAX:,} keys and values" in line


def test_an_alias_bomb_is_refused_unexpanded():
    bomb = "a: &a [x]\n" + "".join(f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]\n" for a, b in pairwise("abcdefghi"))
    lines = mistakes(bomb)
    assert sum("YAML aliases" in line for line in lines) == 72
    assert sum("YAML anchors" in line for line in lines) == 9


def test_lines_are_bounded_and_the_rest_counted():
    lines = mistakes(ONE + "".join(f"x{n}: 1\n" for n in range(MISTAKES_MAX + 5)))
    assert len(lines) == MISTAKES_MAX + 1
    assert lines[-1] == "net.yaml: and 5 more"


def test_what_follows_from_a_mistake_is_no_mistake():
    # A router whose settings are missing still exists; a link that cannot be read leaves no gap in the network.
    lines = mistakes("routers:\n  a: {neighbours: oops}\n  b:\nlinks:\n  - [a, b]\n  - [a, c]\n  - [b\n, ]\n")
    assert [line.split(": ")[1] for line in lines] == ["routers.a.neighbours", "routers.b", "links.1.1", "links.2"]


def test_everything_printed_is_one_printable_line():
    lines = mistakes('routers: {"a\\nb\\e[1m": {"\\u2028": 1}, ' + "k" * 500 + ': 7}\nname: "x\\ny"\n')
    assert all(line.isprintable() and len(line) < 400 for line in lines)
    assert len(lines) == 5


KEYS = sorted({name for model in sections().values() for name in model.model_fields} | {"a", "b", "tls"})
WORDS = st.sampled_from(["a", "b", "h:1", "unix:s", "sff", "3", "", "x y"])
TREES_OF_KEYS = st.recursive(
    WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=20,
)
FILES = st.fixed_dictionaries(
    {"routers": st.dictionaries(WORDS, st.dictionaries(st.sampled_from(KEYS), TREES_OF_KEYS, max_size=4), max_size=3)},
    optional={key: TREES_OF_KEYS for key in sections()[()].model_fields if key != "routers"},
)


@given(FILES | TREES_OF_KEYS)
def test_real_keys_at_wrong_places_are_mistakes_with_a_place(data):
    lines = refusal(json.dumps(data))
    assert lines is None or lines
    for line in lines or ():
        assert re.match(r"net\.yaml:1:[0-9]+: .", line)
        assert "pydantic" not in line
        assert "nput should" not in line


def test_a_file_that_cannot_be_read(tmp_path):
    with pytest.raises(ConfigError, match=r"none\.yaml: cannot be read: No such file or directory"):
        load_topology(tmp_path / "none.yaml")
    with pytest.raises(ConfigError, match="cannot be read: Is a directory"):
        load_topology(tmp_path)


def test_a_file_names_itself(tmp_path):
    file = tmp_path / "net.yaml"
    file.write_text("links: []\n")
    with pytest.raises(ConfigError) as caught:
        load_topology(file)
    assert caught.value.mistakes == [f"{file}:1:1: routers: is missing"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('name: "x\nrouters: {a: {}}\n', "1:7: is not YAML: the quote that opens here is never closed"),
        (
            'name: "x\nrouters: {a: {data: "y"}}\n',
            "1:7: is not YAML: the quote that opens here is closed in line 2 only",
        ),
        ("name: [x\nrouters: {a: {}}\n", "1:7: is not YAML: the `[` that opens here is not closed by `]`"),
        ("routers: {a: {}\nname: x\n", "1:10: is not YAML: the `{` that opens here is not closed by `}`"),
        ("routers: {a: {} b: {}}\n", "1:17: is not YAML: `,` or `}` is missing before this"),
        ("name:x\nrouters: {a: {}}\n", "1:5: is not YAML: a blank is missing behind `name:`"),
        (
            "a:\n  clients:\n    - unix:a.sock\n     neighbours: 127.0.0.1:7501\n",
            "4:16: is not YAML: this line is indented deeper than the one above, which has its value already",
        ),
        ("name: x: y\n", "1:8: is not YAML: a second `: ` in one line; put a value that contains one in quotes"),
        (
            "name: x\n   version: 1\n",
            "2:11: is not YAML: this line is indented deeper than the one above, which has its value already",
        ),
        (
            "name: 'x' y\n",
            "1:11: is not YAML: the value has ended before this; quotes around all of it make it one text",
        ),
        ("name: @x\n", '1:7: is not YAML: put a value that begins with "@" in quotes'),
        (
            '{"a": 1}\n{"a": 2}\n',
            "2:1: is not YAML: the file's one value has ended before this line; a file holds one topology",
        ),
        ("name: x\nrooters: {}\n", "1:1: routers: is missing"),
    ],
)
def test_yaml_that_cannot_be_read_is_pointed_at_where_it_was_caused(text: str, line: str) -> None:
    assert mistakes(text)[0] == f"net.yaml:{line}"


def test_without_routers_nothing_that_only_follows_is_told() -> None:
    assert mistakes("Routers: {a: {}}\nlinks: [[a, b]]\n") == [
        "net.yaml:1:1: routers: is missing",
        "net.yaml:1:1: Routers: unknown key, did you mean routers?",
    ]


@pytest.mark.parametrize("cost", ["5", "5.0", '"5"'])
def test_a_cost_counts_as_the_model_reads_it(cost: str) -> None:
    """The shortest path decides who has to be listed as behind a link."""
    text = f"""
routers:
  a: {{clients: 127.0.0.1:7101, neighbours: 127.0.0.1:7001}}
  b: {{neighbours: 127.0.0.1:7002}}
  c: {{neighbours: 127.0.0.1:7003}}
links:
  - {{ends: [a, b], behind: {{b: []}}}}
  - [b, c]
  - {{ends: [a, c], cost: {cost}}}
"""
    with pytest.raises(ConfigError) as error:
        parse_topology(text)
    told = 'lacks "c", whose messages come to "a" on the shortest path by this link: list it'
    assert error.value.mistakes == [f"<text>:7:32: links.0.behind.b: {told}"]


def test_an_error_of_the_model_alone_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the check of the data misses is an error without a place, and never an error without a line."""
    monkeypatch.setattr(load.wiring, "problems", _of_models(load.wiring.problems))
    with pytest.raises(ConfigError) as error:
        parse_topology("routers: {a: {neighbours: 127.0.0.1:7001}}\nlinks: [[a, b]]\n")
    assert len(error.value.mistakes) == 1
    assert 'no router is called "b"' in error.value.mistakes[0]


def _of_models(problems: Callable[..., Iterator[Problem]]) -> Callable[..., Iterator[Problem]]:
    """Return a check that finds nothing in the data of a file."""
    return lambda topology, folder="": iter(()) if isinstance(topology, dict) else problems(topology, folder)
