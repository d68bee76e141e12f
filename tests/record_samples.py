"""Random records of every kind, and lines that are no records of this version."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from tamis.protocol.records import COMMON, KINDS, FieldType

TEXTS = ("", "a", "größer\u2028😀", '{"x":1.0,"y":"\\""}', "null", "2026-01-01T00:00:00", "\x00\t\\")
INTEGERS = (0, 1, -1, 2**63 - 1, -(2**63), 1_795_000_000_000_000)
HEAD = '{"v":1,"kind":"message","t_us":5,"router":"a","epoch":7,"n":1'
STRANGE = tuple(
    line.encode() if isinstance(line, str) else line
    for line in (
        HEAD + ',"hop":1,"hue":"red"}',  # of a later version
        HEAD.replace("message", "weather") + "}",
        HEAD + ',"hop":1.0}',
        HEAD + ',"hop":true}',
        HEAD + ',"number":9223372036854775808}',
        HEAD + ',"to_connections":[1,"x"]}',
        HEAD + ',"source":"\\ud800"}',
        HEAD + ',"hop":1,"hop":2}',
        HEAD + ',"hop":1}' + HEAD + "}",
        HEAD + "}null",
        HEAD,  # a crash cut it
        HEAD.replace('"n":1', '"n":null') + "}",
        HEAD.replace('"router":"a",', "") + "}",
        b'{"v":1,"kind":"message","source":"\xff"}',
        *("null", "[]", "5", '"text"', "no JSON", "{}", '{"kind":[]}', "[" * 5_000),
    )
)
"""Each is kept as it is: it has no columns."""


def value(random: Random, type_: FieldType) -> Any:
    match type_:
        case "integer":
            return random.choice((*INTEGERS, random.getrandbits(40)))
        case "number":
            return random.random()
        case "boolean":
            return random.random() < 0.5
        case "text":
            return random.choice(TEXTS)
        case "texts":
            return [random.choice(TEXTS) for _ in range(random.randrange(4))]
        case "integers":
            return [random.choice(INTEGERS) for _ in range(random.randrange(4))]
        case "counts":
            return {random.choice(TEXTS): random.choice(INTEGERS) for _ in range(random.randrange(4))}


def record(random: Random, kind: str, n: int) -> dict[str, Any]:
    """A record of a kind with some of its fields."""
    head = {"v": 1, "kind": kind, "t_us": 1_000 + n, "router": "a", "epoch": 7, "n": n}
    assert list(head) == [field.name for field in COMMON]
    chosen = [field for field in KINDS[kind].fields if random.random() < 0.7]
    return head | {field.name: value(random, field.type) for field in chosen}


def line(random: Random, found: dict[str, Any]) -> bytes:
    """The line of a record, as routers write it or as others do."""
    separators = random.choice(((",", ":"), (", ", ": ")))
    return json.dumps(found, ensure_ascii=random.random() < 0.5, separators=separators).encode()


def lines(random: Random, family: str, count: int, strange: float = 0.0) -> list[bytes]:
    """Lines of a family, a share of which is strange."""
    kinds = [kind.name for kind in KINDS.values() if kind.family == family]
    if random.random() < 0.3:
        kinds = kinds[:1]
    return [
        random.choice(STRANGE) if random.random() < strange else line(random, record(random, random.choice(kinds), n))
        for n in range(count)
    ]


def meaning(text: bytes) -> object:
    """What a line says, for comparison; of one that is no JSON of this version its bytes."""
    return text if text in STRANGE else json.loads(text)
