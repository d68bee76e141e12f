"""Files of the version before are read, and each key that has to change is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from tamis.configs import load_topology, parse_topology
from tamis.native import ENGINES
from tamis.protocol.errors import ConfigError

OLD = """\
engine: {name: sff, rounds: 3, counters: hash}
routers:
  a:
    engine:
      name: pst
      delay: 8
      options: {order: names, delay: 8}
  b: {engine: counting, neighbours: h:1}
links: [[a, b]]
"""
NOW = """\
engine: {name: sff, options: {rounds: 3, counters: hash}}
routers:
  a: {engine: {name: pst, options: {order: names, delay: 8}}}
  b: {engine: counting, neighbours: h:1}
links: [[a, b]]
"""


def test_options_beside_the_name_are_read_and_each_is_told_at_its_place(tmp_path: Path) -> None:
    file = tmp_path / "net.yaml"
    file.write_text(OLD)
    told: list[str] = []
    assert load_topology(file, told.append) == parse_topology(NOW)
    refused = "now; the next version refuses it beside `name`"
    assert told == [
        f"{file}:1:21: engine.rounds: stands in `options: {{rounds: 3}}` {refused}",
        f"{file}:1:32: engine.counters: stands in `options: {{counters: hash}}` {refused}",
        f"{file}:6:7: routers.a.engine.delay: stands in `options: {{delay: 8}}` {refused}",
    ]
    told.clear()
    file.write_text(NOW)
    load_topology(file, told.append)
    assert told == []


KEYS = "rounds circuit counters determinants form dense_from reorder partition grow_percent spare_percent tree_bytes"


@pytest.mark.parametrize("key", [*KEYS.split(), "order", "annotate", "delay"])
def test_every_key_of_the_version_before_is_read(key: str) -> None:
    engine, option = next((each, each.options[key]) for each in ENGINES.values() if key in each.options)
    text = "routers: {a: {}}\nengine: {name: NAME, KEY: VALUE}"
    for word, said in {"NAME": engine.name, "KEY": key, "VALUE": option.spelled}.items():
        text = text.replace(word, said)
    assert engine.values(parse_topology(text).engine.options) == {key: option.standard}


@pytest.mark.parametrize(
    ("engine", "mistake"),
    [
        (
            "{name: sff, rounds: 3, options: {rounds: 5}}",
            "2:29: engine.rounds: belongs in the `options` beside it; write it there alone",
        ),
        (
            "{name: sff, rounds: 3, options: {circuit: each}}",
            "2:29: engine.rounds: belongs in the `options` beside it; write it there alone",
        ),
        ("{name: sff, rounds: 257}", '2:29: engine.rounds: must be from 0 to 256, got "257"'),
        ("{rounds: 3}", "2:10: engine.rounds: is no option of engine tamis; it has none"),
    ],
)
def test_a_mistake_stands_where_its_author_wrote_it(engine: str, mistake: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_topology(f"routers: {{a: {{}}}}\nengine: {engine}", "net.yaml")
    assert caught.value.mistakes == [f"net.yaml:{mistake}"]


OLD_LOG = """\
kept: {keeps: 7, keeps_per_client: 3, members_per_keep: 2, keep_series: 5, folder: f}
routers:
  a: {kept: {keeps: 9}}
  b: {kept: false, neighbours: h:1}
links: [[a, b]]
"""
LOG = """\
durable: {subscriptions: 7, subscriptions_per_client: 3, consumers_per_subscription: 2, series: 5, folder: f}
routers:
  a: {durable: {subscriptions: 9}}
  b: {durable: false, neighbours: h:1}
links: [[a, b]]
"""


def test_old_names_of_keys_are_read_and_each_is_reported_at_its_place(tmp_path: Path) -> None:
    file = tmp_path / "net.yaml"
    file.write_text(LOG)
    told: list[str] = []
    wanted = load_topology(file, told.append)
    assert told == []
    file.write_text(OLD_LOG)
    assert load_topology(file, told.append) == wanted
    assert [line.removeprefix(f"{file}:").split(";")[0] for line in told] == [
        "1:1: durable: `kept` is called `durable` now",
        "1:8: durable.subscriptions: `keeps` is called `subscriptions` now",
        "1:18: durable.subscriptions_per_client: `keeps_per_client` is called `subscriptions_per_client` now",
        "1:39: durable.consumers_per_subscription: `members_per_keep` is called `consumers_per_subscription` now",
        "1:60: durable.series: `keep_series` is called `series` now",
        "3:7: routers.a.durable: `kept` is called `durable` now",
        "3:14: routers.a.durable.subscriptions: `keeps` is called `subscriptions` now",
        "4:7: routers.b.durable: `kept` is called `durable` now",
    ]


def test_an_old_and_a_new_name_of_one_key_are_a_mistake() -> None:
    with pytest.raises(ConfigError) as caught:
        parse_topology("routers: {a: {}}\ndurable: false\nkept: {folder: f}", "net.yaml")
    assert caught.value.mistakes == ["net.yaml:3:1: durable: is written twice (first in line 2)"]
