"""Conditions in the Common Expression Language: `order.total > 100.0 && (has(order.vip) || order.region in ["eu"])`.

Law: an event is wanted where the expression is true, and not where it is false or an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from tamis.protocol.dialects.cel.builder import GRAMMAR
from tamis.protocol.dialects.cel.meaning import CelMeaning
from tamis.protocol.dialects.cel.program import program_of
from tamis.protocol.dialects.dialect import Dialect, Translated
from tamis.protocol.dialects.events import MEMBERS, flatten
from tamis.protocol.dialects.widen import translated
from tamis.protocol.values import Value


def translate(text: str) -> Translated:
    tree = GRAMMAR.parse(text)
    return translated(CelMeaning(text).condition(tree), decide=lambda: program_of(tree))


def attributes(event: Mapping[str, Any]) -> dict[str, Value]:
    """Return the leaves of an object by their paths, and of each object inside it the number of its members."""
    return flatten(event) | dict(_maps(event, ""))


def _maps(value: Any, path: str) -> Iterator[tuple[str, int]]:  # noqa: ANN401 - of JSON
    if isinstance(value, Mapping):
        if path:
            yield f"{path}{MEMBERS}", len(value)
        for name, inner in value.items():
            yield from _maps(inner, f"{path}.{name}" if path else str(name))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _maps(inner, f"{path}[{number}]")


DIALECT: Final = Dialect("cel", "conditions in the Common Expression Language", translate, attributes)
