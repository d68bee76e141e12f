"""A sound file: what the Topology says, its short forms, and what a router's own settings do."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from tamis.configs import Address, Topology, load_topology, parse_topology
from tamis.configs.explain import sections
from tamis.protocol.errors import ConfigError
from tamis.protocol.wire.numbers import stable_number

NET = """\
name: net
data: run
engine: counting
limits: {connections: 50, memory_bytes: 33_554_432}
logging: {level: warning, format: json}
routers:
  b: {neighbours: 'h:2'}
  a:
    clients: [127.0.0.1:7400, 'unix:a.sock']
    neighbours: ['0.0.0.0:9', 'h:1']
    engine: {name: sff, options: {rounds: 5}}
    limits: {connections: 5}
    logging: {level: debug}
    data: /var/a
  c: {neighbours: '[::]:3', reached_at: 'gate:3'}
links:
  - {ends: [b, a], cost: 7}
  - [c, b]
"""


def test_short_and_long_forms_mean_the_same():
    short = "routers: {a: {clients: h:1, neighbours: h:2}, b: {}}\nlinks: [[a, b]]\nengine: sff\nstrategy: advertise"
    long = (
        "version: 1\nrouters: {a: {clients: [h:1], neighbours: [h:2]}, b: {}}\n"
        "links: [{ends: [a, b], cost: 1}]\nengine: {name: sff}\nstrategy: {name: advertise}"
    )
    assert parse_topology(short) == parse_topology(long)


def test_edges_and_neighbours_are_sorted():
    net = parse_topology(NET)
    assert net.edges == (("a", "b", 7), ("b", "c", 1))
    assert net.neighbours("b") == [("a", 7), ("c", 1)]
    assert net.neighbours("a") == [("b", 7)]


def test_own_settings_go_before_those_of_the_network():
    a, b = parse_topology(NET).router("a"), parse_topology(NET).router("b")
    assert (a.id, a.data, a.engine.name, a.engine.options) == ("a", "/var/a", "sff", {"rounds": 5})
    assert (b.id, b.data, b.engine.name, b.engine.options) == ("b", "run/b", "counting", {})
    assert (a.limits.connections, b.limits.connections) == (5, 50)
    assert a.limits.memory_bytes == b.limits.memory_bytes == 33_554_432
    assert (a.logging.level, a.logging.format, b.logging.level) == ("debug", "json", "warning")


def test_what_neighbours_dial():
    net = parse_topology(NET)
    assert net.router("a").dial == Address("tcp", "h", 1)
    assert net.router("c").dial == Address("tcp", "gate", 3)
    assert parse_topology("routers: {a: {clients: h:1}}").router("a").dial is None


def test_one_dialable_end_is_enough_for_a_link():
    net = parse_topology("routers: {a: {}, b: {neighbours: h:1}}\nlinks: [[a, b]]")
    assert net.neighbours("a") == [("b", 1)]


def test_an_unknown_router_is_a_key_error():
    with pytest.raises(KeyError):
        parse_topology(NET).router("z")
    with pytest.raises(KeyError):
        parse_topology(NET).neighbours("z")


def test_summary_is_plain_data():
    summary = parse_topology(NET).summary()
    assert json.loads(json.dumps(summary)) == summary
    assert summary == {
        "name": "net",
        "routers": 3,
        "links": 2,
        "redundant_links": 0,
        "most_neighbours": 2,
        "machines": 1,
        "client_addresses": 2,
        "admin_addresses": 0,
        "broadcast": "source-trees",
        "strategy": "advertise",
        "reuse": "never",
        "roots": [],
        "classes": 0,
        "spaces": 0,
        "engines": ["counting", "sff"],
    }


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("advertise", "advertise"),
        ("{mode: paper}", "paper"),
        ("{mode: paper-bytes}", "paper-bytes"),
        ("flood", "flood"),
        ("{name: flood, prune: true}", "flood"),
        ("{name: flood, prune: false, predicates: coarse}", "flood-everywhere"),
        ("link-matching", "link-matching"),
        ("{name: link-matching, reuse: never}", "link-matching"),
        ("{name: link-matching, reuse: destinations}", "link-matching-destinations"),
        ("{reuse: destinations}", "advertise-destinations"),
        ("{reuse: destinations, predicates: coarse}", "advertise-destinations"),
        ("match-first", "match-first"),
        ("{name: match-first, destinations_max: 64}", "match-first"),
    ],
)
def test_name_and_options_choose_a_strategy(text: str, name: str):
    assert parse_topology(f"routers: {{a: {{clients: h:1}}}}\nstrategy: {text}").strategy.facts.name == name


@pytest.mark.parametrize(
    ("text", "limit"),
    [("{}", None), ("{merge: false}", None), ("{merge: off}", None), ("{merge: 0}", 0.0), ("{merge: 0.25}", 0.25)],
)
def test_merging_is_off_or_has_a_limit(text: str, limit: float | None):
    strategy = parse_topology(f"routers: {{a: {{clients: h:1}}}}\nstrategy: {text}").strategy
    assert (strategy.merge, strategy.facts.name) == (limit, "advertise")


def test_the_engine_is_the_routers_own_or_the_networks_whatever_the_strategy():
    network = "routers: {a: {clients: h:1}, b: {neighbours: h:2, engine: counting}}\nlinks: [[a, b]]\nstrategy: "
    for text, engines in (
        ("advertise", ["tamis", "counting"]),
        ("link-matching", ["tamis", "counting"]),
        ("link-matching\nengine: pst", ["pst", "counting"]),
    ):
        net = parse_topology(network + text)
        assert [net.router(name).engine.name for name in "ab"] == engines, text


def test_text_stays_text():
    net = parse_topology("routers: {no: {neighbours: h:1}, 007: {}, 1e3: {}}\nlinks: [[no, 007], [no, 1e3]]\nname: on")
    assert list(net.routers) == ["no", "007", "1e3"]
    assert net.name == "on"


def test_machines_keep_addresses_and_folders_apart():
    net = parse_topology(
        "data: run\nrouters:\n  a: {neighbours: h:1, admin: 127.0.0.1:1, machine: m1}\n"
        "  b: {admin: 127.0.0.1:1, machine: m2, data: run/a}\nlinks: [[a, b]]\n"
    )
    assert net.summary()["machines"] == 2


def test_port_0_never_clashes():
    net = parse_topology("routers: {a: {clients: ['h:0', 'h:0'], admin: h:0, neighbours: 0.0.0.0:0}}")
    assert net.router("a").admin == Address("tcp", "h", 0)


def test_relative_paths_start_from_the_folder_of_the_file(tmp_path):
    file = tmp_path / "net.yaml"
    file.write_text("data: ../run\nrouters: {a: {clients: 'unix:a.sock'}}\n")
    a = load_topology(file).router("a")
    assert a.data == str(tmp_path.parent / "run" / "a")
    assert a.clients[0].path == str(tmp_path / "a.sock")


def test_a_topology_is_frozen():
    net = parse_topology(NET)
    with pytest.raises(ValidationError):
        net.name = "other"


def test_a_topology_built_in_python_keeps_the_same_law():
    with pytest.raises(ValidationError, match="in 2 parts"):
        Topology.model_validate({"routers": {"a": {}, "b": {}}})
    with pytest.raises(ValidationError, match='no router is called "b"'):
        Topology.model_validate({"routers": {"a": {"neighbours": "h:1"}}, "links": [["a", "b"]]})


def test_every_number_names_its_unit_or_counts_things():
    units = ("_bytes", "_frames", "_ms", "_steps", "_per_client", "_per_s", "_burst", "_percent", "_per_keep")
    units += ("connections", "publishers", "cost", "version", "digits", "keeps")
    for model in sections().values():
        for name, field in model.model_fields.items():
            assert field.description, name
            assert (
                field.annotation not in (int, int | None)
                or name.endswith(units)
                or name
                in (
                    "bytes",
                    "age",
                    "window",
                    "seconds",
                    "keep",
                    "client_series",
                    "subscriptions",
                    "consumers_per_subscription",
                    "series",
                    "destinations_max",
                    "keys_max",
                )
            ), name


@st.composite
def networks(draw):
    """Router ids, and links that join them all: a random tree and some more."""
    count = draw(st.integers(1, 12))
    ids = draw(st.permutations([f"r{n}" for n in range(count)]))
    pairs = {(draw(st.integers(0, n - 1)), n) for n in range(1, count)}
    for _ in range(draw(st.integers(0, 5)) if count > 2 else 0):
        low, high = sorted(draw(st.lists(st.integers(0, count - 1), min_size=2, max_size=2, unique=True)))
        pairs.add((low, high))
    links = [(ids[a], ids[b], draw(st.integers(1, 2**32 - 1))) for a, b in sorted(pairs)]
    return ids, draw(st.permutations(links))


@given(networks())
def test_what_is_written_is_what_is_read(network):
    ids, links = network
    routers = {router_id: {"neighbours": f"h:{port}"} for port, router_id in enumerate(ids, 1)}
    # JSON is YAML.
    net = parse_topology(json.dumps({"routers": routers, "links": [{"ends": [a, b], "cost": c} for a, b, c in links]}))
    assert list(net.routers) == list(ids)
    assert set(net.edges) == {(min(a, b), max(a, b), cost) for a, b, cost in links}
    assert sum(len(net.neighbours(router_id)) for router_id in ids) == 2 * len(links)


def test_own_credentials_and_times_go_before_those_of_the_network():
    net = parse_topology(
        "tokens: all\nkeepalive: {hold_ms: 900}\nslow_consumer: {policy: block, block_ms: 5}\n"
        "routers:\n  a: {neighbours: 'h:1', tokens: own, keepalive: {ping_ms: 300}, tls: {certificate: c, key: k}}\n"
        "  b: {slow_consumer: {policy: drop-oldest}}\nlinks: [[a, b]]"
    )
    a, b = net.router("a"), net.router("b")
    assert (a.tokens, b.tokens) == ("own", "all")
    assert (a.keepalive.hold_ms, a.keepalive.ping_ms, b.keepalive.ping_ms) == (900, 300, 10_000)
    assert (a.slow_consumer.policy, b.slow_consumer.policy, b.slow_consumer.block_ms) == ("block", "drop-oldest", 5)
    assert a.tls is not None
    assert (a.tls.certificate, b.tls) == ("c", None)


def test_the_smaller_number_dials_unless_only_it_can_be_dialled():
    smaller, larger = sorted(("a", "b"), key=stable_number)
    text = "routers: {%s: {neighbours: h:1}, %s: {%s}}\nlinks: [[a, b]]"
    both = parse_topology(text % (smaller, larger, "neighbours: h:2"))
    assert [str(link.dial) for link in both.router(smaller).links] == ["h:2"]
    assert [link.dial for link in both.router(larger).links] == [None]
    one = parse_topology(text % (smaller, larger, ""))
    assert [link.dial for link in one.router(smaller).links] == [None]
    assert [str(link.dial) for link in one.router(larger).links] == ["h:1"]


def test_what_a_router_knows_of_its_links():
    net = parse_topology(
        "routers: {a: {neighbours: h:1}, b: {neighbours: h:2}, c: {}}\n"
        "links: [[c, a], {ends: [a, b], cost: 3, secret: ab.key, keepalive: {hold_ms: 700}}]"
    )
    to_b, to_c = net.router("a").links
    assert (to_b.neighbour, to_b.cost, to_b.secret) == ("b", 3, "ab.key")
    assert (to_b.keepalive.hold_ms, to_b.keepalive.ping_ms) == (700, 300)
    assert (to_c.neighbour, to_c.cost, to_c.secret, to_c.dial) == ("c", 1, None, None)
    assert net.router("b").links[0].neighbour == "a"


def test_a_link_is_encrypted_at_both_ends_or_at_neither():
    tls = "neighbour_tls: {certificate: c.pem, key: k.pem, ca: ca.pem}"
    text = "routers: {a: {neighbours: h:1, %s}, b: {%s}}\nlinks: [[a, b]]"
    assert parse_topology(text % (tls, tls)).router("b").neighbour_tls.ca == "ca.pem"
    with pytest.raises(ConfigError, match=r"2:9: links.0: is encrypted at one end: give .b. `neighbour_tls`"):
        parse_topology(text % (tls, ""))


def test_records_are_off_until_they_are_asked_for_and_may_differ_by_router():
    assert parse_topology("routers: {a: {}}").router("a").records is None
    text = "records: {messages: all, keep: 2000000}\nrouters: {a: {neighbours: 'h:1'}, b: {records: {messages: none}}}"
    topology = parse_topology(text + "\nlinks: [[a, b]]")
    a, b = (topology.router(name).records for name in "ab")
    assert (str(a.messages), a.keep, a.folder, a.file_bytes_max) == ("all", 2_000_000, "records", 500_000)
    assert (str(b.messages), b.keep) == ("none", 2_000_000)
    assert parse_topology("routers: {a: {records: {messages: 0.5}}}").router("a").records.messages.share == 0.5


def test_the_folder_of_records_starts_from_the_file(tmp_path):
    file = tmp_path / "net.yaml"
    file.write_text("records: {}\nrouters: {a: {}}\n")
    assert load_topology(file).router("a").records.folder == str(tmp_path / "records")


@pytest.mark.parametrize(
    ("written", "shown", "share"),
    [("none", "none", 0.0), ("all", "all", 1.0), ("0.25", "0.25", 0.25), ("{where: x > 1}", "where x > 1", 0.0)],
)
def test_which_messages_are_recorded(written, shown, share):
    messages = parse_topology(f"records: {{messages: {written}}}\nrouters: {{a: {{}}}}").router("a").records.messages
    assert (str(messages), messages.share) == (shown, share)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("limits: {memory_bytes: 4GiB}", 4 * 2**30),
        ("limits: {memory_bytes: 64 MiB}", 64 * 2**20),
        ("limits: {memory_bytes: 20000000B}", 20_000_000),
        ("limits: {memory_bytes: 20000000}", 20_000_000),
        ("limits: {greeting_ms: 1.5s}", 1_500),
        ("limits: {drain_ms: 1h}", 3_600_000),
        ("keepalive: {hold_ms: 300ms}", 300),
        ("records: {rotate: {seconds: 2h}}", 7_200),
        ("records: {keep: 1 TiB}", 2**40),
    ],
)
def test_sizes_and_times_are_numbers_or_text_with_a_unit(written: str, read: int) -> None:
    value: object = parse_topology("routers: {a: {}}\n" + written).model_dump(exclude_unset=True)
    del value["routers"]  # type: ignore[attr-defined]
    while isinstance(value, dict):
        (value,) = value.values()
    assert value == read


def test_a_domain_ends_at_borders():
    routers = "routers: {a: {neighbours: h:1}, b: {neighbours: h:2}, c: {neighbours: h:3}, d: {neighbours: h:4}}"
    net = parse_topology(f"{routers}\nlinks: [[a, b], {{ends: [b, c], behind: {{c: [d]}}}}, [c, d]]")
    assert [net.router(each).domain for each in "abcd"] == [("b",), ("a",), ("d",), ("c",)]
    assert parse_topology(NET).router("a").domain == ("b", "c")
