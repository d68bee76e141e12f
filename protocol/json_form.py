"""Filters and messages as JSON, as `tamis match` reads them.

    filter      [["price", "<", 500], ["dest", "=", "MXP"], ["x", "between", [1, 2]], ["x", "not", "exists"]]
    table line  {"i": 7, "f": FILTER}         interface and filter; `i` is an integer or a string
    message     {"price": 300, "dest": "MXP"}
    with more   {"attributes": {"price": 300}, "payload": "text"}          or "payload_base64"; other keys are ignored

Law: the error for an invalid text names the invalid element. `substring` is read as `contains`, but never written.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from tamis.protocol.errors import Refused
from tamis.protocol.filters import Constraint, Filter, Op
from tamis.protocol.messages import check_attributes
from tamis.protocol.values import Value

_OPS = {op.value: op for op in Op} | {"substring": Op.CONTAINS}
_ALLOWED = ", ".join(_OPS)

Interface = int | str


class TableLine(NamedTuple):
    """One line of a filter file."""

    interface: Interface
    filter: Filter


def decode_constraint(form: object) -> Constraint:
    if not isinstance(form, list) or not 2 <= len(form) <= 4:
        raise Refused(f'a constraint is [name, op, value] or [name, "not", op, value], not {_shown(form)}')
    name, *rest = form
    negated = rest[0] == "not"
    if negated:
        rest = rest[1:]
    if not rest or not isinstance(rest[0], str) or rest[0] not in _OPS:
        raise Refused(f"constraint {_shown(form)}: no operator {_shown(rest[0] if rest else None)}; one of {_ALLOWED}")
    op = _OPS[rest[0]]
    try:
        return Constraint(name, op, _operands(op, rest[1:]), negated)
    except Refused as error:
        raise Refused(f"constraint {_shown(form)}: {error}") from None


def encode_constraint(constraint: Constraint) -> list[object]:
    form: list[object] = [constraint.name, *(["not"] if constraint.negated else []), constraint.op.value]
    if constraint.op in (Op.IN, Op.BETWEEN):
        form.append(list(constraint.operands))
    else:
        form.extend(constraint.operands)
    return form


def decode_filter(form: object) -> Filter:
    if not isinstance(form, list):
        raise Refused(f"a filter is a list of constraints, not {_shown(form)}")
    return Filter(tuple(decode_constraint(item) for item in form))


def encode_filter(filter_: Filter) -> list[list[object]]:
    return [encode_constraint(constraint) for constraint in filter_.constraints]


def decode_table_line(text: str) -> TableLine:
    form = _loads(text)
    if not isinstance(form, dict) or set(form) != {"i", "f"}:
        raise Refused('a filter line is {"i": INTERFACE, "f": [CONSTRAINT, ...]}')
    interface = form["i"]
    if isinstance(interface, bool) or not isinstance(interface, int | str):
        raise Refused(f'"i" is an integer or a string, not {_shown(interface)}')
    return TableLine(interface, decode_filter(form["f"]))


_MESSAGE = 'a message is an object such as {"price": 300, "dest": "MXP"}'


class NotJson(Refused):
    """Raised for text that is not JSON; `line` and `column` count from 1."""

    def __init__(self, problem: str, line: int, column: int) -> None:
        super().__init__(f"not JSON: {problem} at column {column}")
        self.problem, self.line, self.column = f"not JSON: {problem}", line, column


def decode_message(text: str) -> dict[str, Value]:
    """Return the attributes in one JSON line."""
    return check_attributes(_message_form(text))


def decode_publication(text: str) -> tuple[dict[str, Value], bytes]:
    """Return attributes and payload of one JSON line: attributes alone, or the form that `encode_publication`
    writes."""
    form = _message_form(text)
    attributes = form.get("attributes")
    if not isinstance(attributes, dict):  # then it is an attribute of that name
        return check_attributes(form), b""
    return check_attributes(attributes), _payload(form)


def encode_publication(attributes: Mapping[str, Value], payload: bytes) -> dict[str, object]:
    form: dict[str, object] = {"attributes": dict(attributes)}
    try:
        return form | ({"payload": payload.decode()} if payload else {})
    except UnicodeDecodeError:
        return form | {"payload_base64": base64.b64encode(payload).decode()}


def _message_form(text: str) -> dict[str, Any]:
    try:
        form = _loads(text)
    except NotJson as error:
        if text.lstrip().startswith("{"):
            raise
        raise Refused(f"{error}; {_MESSAGE}") from None
    if not isinstance(form, dict):
        raise Refused(_MESSAGE)
    return form


def _payload(form: dict[str, Any]) -> bytes:
    text, coded = form.get("payload", ""), form.get("payload_base64", "")
    if not isinstance(text, str) or not isinstance(coded, str) or (text and coded):
        raise Refused('a payload is a string, in "payload" or in "payload_base64"')
    try:
        return text.encode() or base64.b64decode(coded, validate=True)
    except UnicodeEncodeError:
        raise Refused('"payload" has half of a surrogate pair, which is not valid UTF-8') from None
    except ValueError as error:
        raise Refused(f'"payload_base64" is not base64: {error}') from None


def _operands(op: Op, rest: list[object]) -> tuple[Value, ...]:
    # Constraint checks the types, and its error names those that the operator accepts.
    if op in (Op.IN, Op.BETWEEN):
        if len(rest) != 1 or not isinstance(rest[0], list):
            raise Refused(f"operator {op.value} takes one list of values")
        return tuple(rest[0])
    return tuple(rest)  # type: ignore[arg-type]


def _loads(text: str) -> object:
    try:
        return json.loads(text, object_pairs_hook=_distinct, parse_constant=_not_finite)
    except json.JSONDecodeError as error:
        raise NotJson(error.msg, error.lineno, error.colno) from None
    except RecursionError:
        raise Refused("not a message or filter: nested too deep") from None
    except Refused:
        raise
    except ValueError as error:  # an integer of thousands of digits
        raise Refused(f"not JSON that can be read: {error}") from None


def _distinct(pairs: list[tuple[str, object]]) -> dict[str, object]:
    form = dict(pairs)
    if len(form) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise Refused(f"the name {twice!r} appears twice")
    return form


def _not_finite(word: str) -> object:
    raise Refused(f"a float must be finite, not {word}")


def _shown(form: object) -> str:
    text = json.dumps(form, ensure_ascii=False, default=repr)
    return text if len(text) <= 80 else text[:77] + "..."
