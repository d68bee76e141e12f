"""A topology file keeps what was not asked to change, and says what was."""

from __future__ import annotations

import difflib
from pathlib import Path

import pytest

from tamis.configs import parse_topology
from tamis.configs.edit import edited

TEXT = """\
# Two routers.
engine: {options: {rounds: 0}, name: sff}   # as in the paper
limits:
  # half of it for queues
  memory_bytes: 67_108_864

routers:
  no:   {clients: 127.0.0.1:7400,  neighbours: "127.0.0.1:7500"}     # called no
  long: {clients: 127.0.0.1:7401}
links: [[no, long]]
# the end"""
EXAMPLES = sorted((Path(__file__).parents[2] / "configs" / "topologies").glob("*.yaml"))


def _changed(before: str, after: str) -> list[str]:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
    return [line for line in lines if not line.startswith(("---", "+++", "@@"))]


def test_lines_that_are_not_meant_stay_as_they_are() -> None:
    after = edited(
        TEXT,
        {
            ("engine",): "tamis",
            ("limits", "connection_queue_bytes"): 4_194_304,
            ("routers", "no", "limits", "connections"): 7,
        },
    )
    assert _changed(TEXT, after) == [
        "-engine: {options: {rounds: 0}, name: sff}   # as in the paper",
        "+engine: tamis   # as in the paper",
        "+  connection_queue_bytes: 4194304",
        '-  no:   {clients: 127.0.0.1:7400,  neighbours: "127.0.0.1:7500"}     # called no',
        '+  no:   {clients: 127.0.0.1:7400,  neighbours: "127.0.0.1:7500", limits: {connections: 7}}     # called no',
    ]
    topology = parse_topology(after)
    assert topology.engine.name == "tamis"
    assert topology.router("no").limits.connections == 7
    assert topology.router("long").limits.connection_queue_bytes == 4_194_304
    assert topology.limits.memory_bytes == 67_108_864


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("strategy: flood # why", "strategy: profile # why"),
        ("strategy: {prune: no, name: flood}", "strategy: {name: profile}"),
        ("strategy: {name: flood, prune: no}  # why", "strategy: {name: profile}  # why"),
        ("strategy:\n  name: flood  # why\n  prune: no   # and why three", "strategy:\n  name: profile  # why"),
        ("strategy:\n    prune: no\n\n    # why\n    name: flood", "strategy:\n\n    # why\n    name: profile"),
    ],
)
def test_a_key_goes_with_its_line_or_its_comma(written: str, expected: str) -> None:
    text = written + "\nrouters: {a: {clients: 127.0.0.1:7400}}\n"
    after = edited(text, {("strategy", "prune"): None, ("strategy", "name"): "profile", ("strategy", "none"): None})
    assert after == expected + "\nrouters: {a: {clients: 127.0.0.1:7400}}\n"
    assert parse_topology(after).strategy.name == "profile"


def test_a_name_becomes_a_section_where_more_is_said() -> None:
    text = "strategy: advertise   # the default\nrouters: {a: {clients: 127.0.0.1:7400}}\n"
    after = edited(text, {("strategy", "predicates"): "coarse"})
    assert after == text.replace("advertise", "{name: advertise, predicates: coarse}")
    assert parse_topology(after).strategy.predicates == "coarse"
    text = "engine: sff   # of paper 004\nrouters: {a: {clients: 127.0.0.1:7400}}\n"
    after = edited(text, {("engine", "options", "rounds"): 30})
    assert after == text.replace("sff", "{name: sff, options: {rounds: 30}}")
    assert parse_topology(after).engine.options == {"rounds": 30}


def test_a_section_over_lines_is_replaced_and_what_follows_stays() -> None:
    rest = "  # of all\n\n# those there are\nrouters: {a: {clients: 127.0.0.1:7400}}\n"
    text = "strategy:\n  name: rendezvous\n  roots:\n    orders:\n      - a" + rest
    after = edited(text, {("strategy",): {"name": "flood"}})
    assert after == "strategy:\n  {name: flood}" + rest
    assert parse_topology(after).strategy.name == "flood"


def test_the_last_line_may_lack_its_end() -> None:
    text = "routers: {a: {clients: 127.0.0.1:7400}}\nstrategy:\n  name: flood\n  prune: no"
    assert edited(text, {("strategy", "prune"): None}) == text.removesuffix("  prune: no")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_examples_take_a_setting_of_each_kind(path: Path) -> None:
    text = path.read_text()
    router = next(iter(parse_topology(text).routers))
    after = edited(
        text,
        {
            ("engine",): {"name": "sff", "options": {"rounds": 30}},
            ("strategy",): {"name": "advertise", "predicates": "exact"},
            ("routers", router, "limits", "connection_queue_bytes"): 2**24,
        },
    )
    topology = parse_topology(after)
    assert (topology.engine.name, topology.engine.options) == ("sff", {"rounds": 30})
    assert topology.router(router).limits.connection_queue_bytes == 2**24
    own = text.partition("\nstrategy:\n")[2].partition("\n\n")[0].splitlines()
    assert len(_changed(text, after)) <= 6 + len(own)
