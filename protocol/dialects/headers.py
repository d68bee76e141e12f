"""Bindings of a headers exchange of AMQP 0-9-1, as JSON: {"x-match": "any", "class": "alert", "severity": 6}.

Law: `all` (the default) wants every header of the binding, `any` at least one, and both pass over names that begin with
`x-`; `all-with-x` and `any-with-x` pass over `x-match` alone. A null wants the header, whatever its value is. A value
is of its own kind: 6 is not "6"; numbers are one kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tamis.protocol import limits
from tamis.protocol.dialects import json_text
from tamis.protocol.dialects.dialect import Dialect, Translated
from tamis.protocol.dialects.events import LENGTH, NULL, flatten
from tamis.protocol.dialects.json_text import FormMistake
from tamis.protocol.dialects.rails import Rail, every, holds, present, some
from tamis.protocol.dialects.widen import within_limits
from tamis.protocol.errors import Refused
from tamis.protocol.filters import Op
from tamis.protocol.nearest import nearest
from tamis.protocol.values import Value

MATCH: Final = "x-match"
_WAYS: Final = ("all", "any", "all-with-x", "any-with-x")


def translate(text: str) -> Translated:
    try:
        return within_limits(_binding(json_text.read(text)))
    except FormMistake as mistake:
        raise json_text.located(text, mistake) from None


def attributes(event: Mapping[str, Any]) -> dict[str, Value]:
    """Return the headers of a message. A table has no attribute of its own, by which its presence would be told."""
    found = flatten(event)
    for name, value in event.items():
        if isinstance(value, Mapping):
            raise Refused(f"the header {name!r} is a table")
    return found


def _binding(form: object) -> Rail:
    if not isinstance(form, dict):
        raise FormMistake((), 'a binding is an object such as {"x-match": "any", "class": "alert"}')
    way = form.get(MATCH, "all")
    if way not in _WAYS:
        near = nearest(way, _WAYS) if isinstance(way, str) else ""
        problem = f"`{MATCH}` is one of {', '.join(_WAYS)}"
        raise FormMistake((MATCH,), problem, f"did you mean `{near}`?" if near else "")
    with_x = way.endswith("-with-x")
    names = [name for name in form if name != MATCH and (with_x or not name.startswith("x-"))]
    rails = [_header(name, form[name]) for name in names]
    return every(*rails) if way.startswith("all") else some(*rails)


def _header(name: str, value: object) -> Rail:
    if not name:
        raise FormMistake((name,), "the name of a header is not empty", at_name=True)
    if value is None:
        return some(present(name), present(f"{name}{NULL}"), present(f"{name}{LENGTH}"))
    if isinstance(value, dict | list):
        what = "a table" if isinstance(value, dict) else "an array"
        hint = "write a text, a number or a boolean, or null for a header with any value"
        raise FormMistake((name,), f"a binding compares with a scalar, not with {what}", hint)
    if isinstance(value, int) and not limits.INT_MIN <= value <= limits.INT_MAX:
        raise FormMistake((name,), "this integer is outside 64 bits")
    return holds(name, Op.EQ, value)  # type: ignore[arg-type]  # a scalar of JSON


DIALECT: Final = Dialect("amqp-headers", "bindings of headers exchanges of AMQP 0-9-1, as JSON", translate, attributes)
