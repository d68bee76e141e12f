"""The reference page of the topology file.

    python -m tamis.configs.reference > docs/reference/topology.md

Law: keys, defaults, bounds, choices and planned keys are printed from the models and their tables; a test compares the
page with a new print.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tamis.configs import choices
from tamis.configs.document import DEPTH_MAX, FILE_BYTES_MAX, NODES_MAX
from tamis.configs.fields import ADDRESS_FORM, HOST_NAME_FORM, ID_FORM, SIZE_FORM, TIME_FORM
from tamis.configs.mistakes import MISTAKES_MAX
from tamis.configs.schema import schema
from tamis.native.engines import ENGINES

Titles = dict[str, str]
"""By the name of a model: the title of its section."""
_TITLES: Titles = {
    "RouterConfig": "`routers.ID`",
    "LinkConfig": "`links`",
    "StrategySettings": "`strategy`",
    "EngineSettings": "`engine`",
    "Tls": "`tls`",
    "NeighbourTls": "`neighbour_tls`",
    "Keepalive": "`keepalive`",
    "LinkKeepalive": "`links.keepalive`",
    "SlowConsumer": "`slow_consumer`",
    "Limits": "`limits`",
    "Logging": "`logging`",
    "RecordSettings": "`records`",
    "Sampling": "`records.messages`",
    "Rotation": "`records.rotate`",
    "SpaceConfig": "`spaces.NAME`",
    "SpaceAttributeConfig": "`spaces.NAME.attributes`",
    "UnmatchedSettings": "`unmatched`",
    "DurableSettings": "`durable`",
    "CustodySettings": "`durable.custody`",
    "MetricsSettings": "`metrics`",
}
EXAMPLES = Path(__file__).parent / "topologies"

_INTRO = """\
# The topology file

One YAML file describes a network: its routers, where they listen, how they are linked, and what they run. Printed from
the models by `python -m tamis.configs.reference`; do not edit.

`tamis check FILE` validates a file without starting anything, and lists every mistake at once:

    net.yaml:7:15: routers.b.clients: "127.0.0.1:7400" is taken already by routers.a.clients
    net.yaml:12:9: links.0.1: no router is called "c2", did you mean c?

Editors that know JSON schemas complete and check the keys when the file begins with
`# yaml-language-server: $schema=` and the path of `configs/topology.schema.json`, as the examples do.

## A small network
"""
_FORMS = """\
## Forms

*Address*: `host:port`, `[ipv6]:port` or `unix:path`. An address that begins with a bracket needs quotes, because YAML
reads a bracket as a list. Port 0 takes a free port; `0.0.0.0` and `[::]` listen on every interface. Neighbours cannot
dial such addresses: a router that has no others under `neighbours` needs `reached_at`, or connects to its neighbours
itself. Each link needs at least one end that can be dialled.

*Path*: folders and Unix sockets; a relative one starts from the folder of the file.

*Size and time*: a number, in the unit that the key's meaning names, or text with a unit of its own: `64 MiB`, `4GiB`
(B, KiB, MiB, GiB, TiB), `300ms`, `30s`, `5m`, `2h`, `7d`. The command line and the clients read the same forms.

*Id*: 1 to 64 letters, digits, `.`, `_` and `-`, beginning with a letter, digit or `_`. An id is always text: a router
may be called `no` or `007`.
"""
_CHECKS = f"""\
## What is checked

Each value has its type and limits. An unknown key is refused, and the error suggests the nearest known key or lists all
of them. Conditions between the parts:

- a link joins two different routers that exist, and no two links join the same pair;
- each link has an end that can be dialled, and `neighbour_tls` at both ends or at neither;
- no two listeners of one machine share an address, a wildcard counting as every host of its family; no two routers of
  one machine share a data folder;
- links join all routers into one network.

The file is one YAML document in UTF-8, without anchors, aliases and tags, of at most {FILE_BYTES_MAX:,} bytes,
{NODES_MAX:,} keys and values and {DEPTH_MAX} levels. A key is written once, and has a value.
Of one file, the first {MISTAKES_MAX} mistakes are listed and the others counted.
"""


def page() -> str:
    parts = [_INTRO, _example("line3.yaml"), *_sections(), _FORMS, _CHECKS, *_planned(), *_examples()]
    return "\n".join(parts)


def _example(name: str) -> str:
    text = (EXAMPLES / name).read_text(encoding="utf-8")
    return f"```yaml\n{text}```\n"


def _sections() -> Iterator[str]:
    whole = schema()
    yield "## Keys\n"
    yield section("The file", whole)
    for name, title in _TITLES.items():
        yield section(title, whole["$defs"][name])
        if name == "EngineSettings":
            yield from _engine_options(whole["$defs"][name]["properties"]["options"]["anyOf"])


def _engine_options(models: list[dict[str, Any]]) -> Iterator[str]:
    names = [name for name, engine in ENGINES.items() if engine.options]
    for name, model in zip(names, models, strict=True):
        yield section(f"`engine.options` of `{name}`", model)


def section(title: str, model: dict[str, Any], titles: Titles = _TITLES) -> str:
    """Return the table of the keys of a model, given by its schema."""
    required = model.get("required", ())
    rows = [_row(key, field, key in required, titles) for key, field in model["properties"].items()]
    table = "\n".join(["| key | value | default | meaning |", "|---|---|---|---|", *rows])
    return f"### {title}\n\n{model['description']}\n\n{table}\n"


def _row(key: str, field: dict[str, Any], required: bool, titles: Titles) -> str:
    default = "required" if required else _default(field)
    return f"| `{key}` | {_value(field, titles)} | {default} | {field['description']} |"


def _default(field: dict[str, Any]) -> str:
    default = field.get("default")
    if default == {} and field.get("anyOf", [{}])[0].get("type") != "object":
        return "none"
    if isinstance(default, dict) and isinstance(field.get("additionalProperties"), dict):
        return "none"
    if isinstance(default, dict):
        return f"`{default['name']}`" if "name" in default else "as below"
    if isinstance(default, bool):
        return f"`{str(default).lower()}`"
    if isinstance(default, int):
        return f"{default:,}"
    return f"`{default}`" if default else "none"


_PATTERNS = {
    ID_FORM: "id",
    ADDRESS_FORM: "address",
    HOST_NAME_FORM: "host",
    SIZE_FORM: "[a size](#forms)",
    TIME_FORM: "[a time](#forms)",
}


def _value(field: dict[str, Any], titles: Titles) -> str:
    """Return in a few words the values that `field` accepts."""
    if "anyOf" in field:
        return " or ".join(dict.fromkeys(_value(choice, titles) for choice in field["anyOf"]))
    if "$ref" in field:
        named = titles[field["$ref"].rpartition("/")[2]].strip("`")
        return f"[{named} keys](#{named.replace('.', '').replace(' ', '-').lower()})"
    if "enum" in field:
        return ", ".join(f"`{name}`" for name in field["enum"])
    if "const" in field:
        return "`false`" if field["const"] is False else str(field["const"])
    if "minimum" in field:
        return f"{field['minimum']:,} to {field['maximum']:,}"
    if "maxLength" in field:
        return "text"
    if "format" in field:
        return str(field["format"])
    if field["type"] == "boolean":
        return "`true`, `false`"
    if field["type"] in ("array", "object"):
        return _collection(field, titles)
    return _PATTERNS.get(field.get("pattern", ""), "path")


def _collection(field: dict[str, Any], titles: Titles) -> str:
    if "prefixItems" in field:
        return "`[id, id]`" if field["prefixItems"][0].get("type") == "string" else "`[number, number]`"
    if "properties" in field:
        return "mapping"
    if "items" in field:
        return f"list of ({_value(field['items'], titles)})"
    if field.get("additionalProperties") is True:
        return "mapping"
    if "patternProperties" not in field:
        return f"mapping of name to {_value(field['additionalProperties'], titles)}"
    return f"mapping of id to {_value(next(iter(field['patternProperties'].values())), titles)}"


def _planned() -> Iterator[str]:
    yield "## Not supported yet\n\nThese keys are refused until a release implements them.\n"
    rows = [f"| `{key}` | {purpose} |" for key, purpose in sorted(choices.PLANNED_KEYS.items())]
    yield "\n".join(["| key | planned meaning |", "|---|---|", *rows]) + "\n"
    for key, table in (("strategy", choices.STRATEGIES), ("engine", choices.ENGINES)):
        names = [f"`{name}`" for name, is_supported in table.items() if not is_supported]
        yield f"Values of `{key}`: {', '.join(names)}.\n"


def _examples() -> Iterator[str]:
    yield "## Examples\n\nThe files are in `configs/topologies/`; the first comment of each states what it shows.\n"
    for file in sorted(EXAMPLES.glob("*.yaml")):
        yield f"- `{file.name}`: {_first_sentence(file)}."
    yield ""


def _first_sentence(file: Path) -> str:
    """Return the first sentence of the comment of an example, after its line for editors."""
    comment = file.read_text(encoding="utf-8").split("\n#\n", 1)[1].split("\n\n", 1)[0]
    words = " ".join(line.removeprefix("#").strip() for line in comment.splitlines())
    return re.split(r"[.:] ", words, maxsplit=1)[0]


if __name__ == "__main__":
    sys.stdout.write(page())
