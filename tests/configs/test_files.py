"""The files beside the models: examples are sound and what they claim to be, schema and reference page are fresh."""

import re
from collections import deque
from functools import cache
from pathlib import Path

import pytest
import yaml

from tamis.configs import load_topology, reference, schema
from tests.fuzz.topology import SEEDS, target

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "configs" / "topologies").glob("*.yaml"))


@cache
def _schema():
    return schema.schema()


def example(name):
    return load_topology(ROOT / "configs" / "topologies" / f"{name}.yaml")


def hops_from(net, start):
    hops, waiting = {start: 0}, deque([start])
    while waiting:
        at = waiting.popleft()
        for neighbour, _ in net.neighbours(at):
            if neighbour not in hops:
                hops[neighbour] = hops[at] + 1
                waiting.append(neighbour)
    return hops


def conforms(value, node, root):
    """Whether `value` is what a schema of the few kinds ours uses says."""
    if "$ref" in node:
        return conforms(value, root["$defs"][node["$ref"].rpartition("/")[2]], root)
    if "anyOf" in node:
        return any(conforms(value, choice, root) for choice in node["anyOf"])
    kind = {"object": dict, "array": list, "string": str, "integer": int}[node["type"]]
    return isinstance(value, kind) and _CONFORMS[kind](value, node, root)


def _object_conforms(value, node, root):
    if any(key not in value for key in node.get("required", ())) or len(value) < node.get("minProperties", 0):
        return False
    known, patterns = node.get("properties", {}), node.get("patternProperties", {})
    others = [node["additionalProperties"]] if node.get("additionalProperties") else []
    for key, inner in value.items():
        found = [known[key]] if key in known else [part for form, part in patterns.items() if re.search(form, str(key))]
        found = found or others
        if not found or not all(conforms(inner, part, root) for part in found):
            return False
    return True


def _array_conforms(value, node, root):
    parts = node.get("prefixItems", [node.get("items")] * len(value))
    return len(parts) == len(value) and all(conforms(item, part, root) for item, part in zip(value, parts, strict=True))


_CONFORMS = {
    dict: _object_conforms,
    list: _array_conforms,
    str: lambda value, node, _: (
        value in node.get("enum", [node.get("const", value)]) and re.search(node.get("pattern", ""), value)
    ),
    int: lambda value, node, _: (
        node.get("minimum", value) <= value <= node.get("maximum", value) and value == node.get("const", value)
    ),
}


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_example_is_sound_and_named_after_its_file(file):
    net = load_topology(file)
    assert net.name == file.stem
    assert all(router.clients and router.admin for router in net.routers.values())


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_example_conforms_to_the_schema_it_points_to(file):
    text = file.read_text()
    assert text.startswith("# yaml-language-server: $schema=../topology.schema.json\n")
    assert conforms(yaml.safe_load(text), _schema(), _schema())


@pytest.mark.parametrize(
    "broken",
    [
        {},
        {"routers": {}},
        {"routers": {"a": {}}, "linsk": []},
        {"routers": {"a b": {}}},
        {"routers": {"a": {"clients": "nowhere"}}},
        {"routers": {"a": {"engine": "quantum"}}},
        {"routers": {"a": {"engine": {"options": {"rounds": -1}}}}},
        {"routers": {"a": {}}, "version": 2},
        {"routers": {"a": {}}, "links": [["a"]]},
        {"routers": {"a": {}}, "links": [{"ends": ["a", "b"], "cost": 0}]},
        {"routers": {"a": {}}, "limits": None},
    ],
)
def test_schema_refuses(broken):
    assert not conforms(broken, _schema(), _schema())


def test_schema_is_fresh():
    fresh = schema.schema_text()
    assert (ROOT / "configs" / "topology.schema.json").read_text() == fresh, "run python -m tamis.configs.schema"


def test_reference_page_is_fresh():
    fresh = reference.page()
    assert (ROOT / "docs/reference/topology.md").read_text() == fresh, "run python -m tamis.configs.reference"


def test_the_small_examples():
    assert {file.stem for file in EXAMPLES} == {
        "single",
        "line3",
        "ring5",
        "diamond",
        "tree100",
        "wan39",
        "das9",
        "bus4",
        "rendezvous5",
    }
    assert [len(example("ring5").neighbours(router)) for router in "abcde"] == [3, 2, 3, 2, 2]
    assert example("diamond").summary()["redundant_links"] == 1
    assert example("line3").edges == (("a", "b", 1), ("b", "c", 1))


def test_tree100_is_the_tree_of_paper_001():
    net = example("tree100")
    assert net.edges == tuple(sorted((f"r{n // 2:03}", f"r{n:03}", 1) for n in range(2, 101)))
    assert max(hops_from(net, "r001").values()) == 6
    assert max(max(hops_from(net, router).values()) for router in net.routers) == 12


def test_wan39_is_the_network_of_paper_002():
    net = example("wan39")
    levels = {length: [router for router in net.routers if len(router) == length] for length in (1, 2, 3)}
    assert {length: len(routers) for length, routers in levels.items()} == {1: 3, 2: 9, 3: 27}
    lateral = [edge for edge in net.edges if len(edge[0]) == len(edge[1]) == 2]
    assert lateral == [("a1", "a2", 25), ("b1", "b2", 25), ("c1", "c2", 25)]
    delay_ms = {(1, 1): 65, (1, 2): 25, (2, 3): 10}
    tree = [edge for edge in net.edges if edge not in lateral]
    assert len(tree) == 3 + 9 + 27
    for a, b, cost in tree:
        assert cost == delay_ms[len(a), len(b)]
        assert len(b) == 1 or b[:-1] == a


def test_das9_keeps_what_paper_003_tells_of_it():
    hops = hops_from(example("das9"), "b2")
    assert len(hops) == 9
    assert {router for router, far in hops.items() if far == 1} == {"b1", "b3", "b4", "b5"}
    held_by = 1 + sum(hops.values()) / len(hops)
    assert held_by < 2.5


@pytest.mark.parametrize("number", range(len(SEEDS)))
def test_fuzz_seeds(number):
    target(SEEDS[number])
