"""Events of other systems as attributes.

    {"detail": {"state": "ok", "tags": ["a", null]}}
    detail.state = "ok"    detail.tags[0] = "a"    detail.tags[1]?null = true    detail.tags[] = 2

Law: nothing is left out silently: an event that has no form as attributes is Refused, and of one that has more values
than attributes have room for, one attribute says how many were left out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from tamis.protocol.errors import Refused
from tamis.protocol.values import Value

NULL: Final = "?null"
"""The end of the name of an attribute that says that a value is null."""
LENGTH: Final = "[]"
"""The end of the name of an attribute that has the length of an array."""
MEMBERS: Final = "{}"
"""The end of the name of an attribute that has the number of members of an object; where a dialect asks for it."""
LEFT_OUT: Final = "left-out"
"""The attribute that has the number of values that were left out."""
DEPTH_MAX: Final = 32
"""Nesting of an event: each level is a part of a name."""


def fitted(found: dict[str, Value], wanted: Collection[str], most: int) -> dict[str, Value]:
    """Return at most `most` of these attributes, those of a name in `wanted` before others, and how many were left
    out."""
    if len(found) <= most:
        return found
    left_out = found.pop(LEFT_OUT, 0)
    names = sorted(found, key=lambda name: name not in wanted)
    kept = frozenset(names[: most - 1])
    return {name: found[name] for name in found if name in kept} | {LEFT_OUT: int(left_out) + len(found) - len(kept)}


def named_text(event: str | Mapping[str, Any], name: str) -> tuple[str, dict[str, Any]]:
    """Return the text that an event is, or has under `name`, and its other attributes."""
    if isinstance(event, str):
        return event, {}
    text = event.get(name) if isinstance(event, Mapping) else None
    if not isinstance(text, str):
        raise Refused(f"an event is a text, or an object with the text {name!r}")
    return text, flatten(event)


def flatten(event: Mapping[str, Any]) -> dict[str, Value]:
    """Return the leaves of an object by their paths."""
    if not isinstance(event, Mapping):
        raise Refused("an event is an object")
    found: dict[str, Value] = {}
    for name, value in _leaves(event, "", 0):
        if name in found:
            raise Refused(f"two values of the event have the name {name!r}")
        found[name] = value
    return found


def _leaves(value: Any, path: str, depth: int) -> Iterator[tuple[str, Value]]:  # noqa: ANN401 - of JSON
    if depth > DEPTH_MAX:
        raise Refused(f"an event nests at most {DEPTH_MAX} deep")
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _leaves(inner, f"{path}.{name}" if path else str(name), depth + 1)
    elif isinstance(value, list):
        yield f"{path}{LENGTH}", len(value)
        for number, inner in enumerate(value):
            yield from _leaves(inner, f"{path}[{number}]", depth + 1)
    elif value is None:
        yield f"{path}{NULL}", True
    else:
        yield path, value
