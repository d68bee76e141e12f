"""Filters of the CloudEvents Subscriptions API: exact, prefix, suffix, all, any, not.

    {"all": [{"prefix": {"type": "com.example."}}, {"not": {"exact": {"subject": "a"}}}]}
    [{"exact": {"type": "a"}}, ...]      all of them must hold; [] is every event

Law: two-valued: a condition on an absent attribute is false, and its negation true. Conditions are on texts: an
attribute that is an integer or a boolean is compared by its canonical text, "5" or "true".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from tamis.protocol.dialects import json_text
from tamis.protocol.dialects.decide import AttributeTest, joined
from tamis.protocol.dialects.dialect import Dialect, Translated
from tamis.protocol.dialects.json_text import FormMistake, Path
from tamis.protocol.dialects.rails import (
    Rail,
    Rails,
    all_of,
    any_of,
    every,
    holds,
    opposite,
    some,
    two_valued,
    undecided,
)
from tamis.protocol.dialects.widen import translated
from tamis.protocol.errors import Refused
from tamis.protocol.filters import Op
from tamis.protocol.nearest import nearest
from tamis.protocol.residual import Assembler, Cast, KindBit, Opcode
from tamis.protocol.values import Value

INTEGER_MAX: Final = 2**31 - 1
"""Integers of CloudEvents have 32 bits."""
_INTEGER: Final = re.compile(r"0|-?[1-9][0-9]{0,9}")
_START_OF_INTEGER: Final = re.compile(r"-|0|-?[1-9][0-9]{0,9}")
_END_OF_INTEGER: Final = re.compile(r"[0-9]{1,10}")
_TRUTH: Final = {"true": True, "false": False}
_NAMES: Final = ("exact", "prefix", "suffix", "all", "any", "not", "sql")


def translate(text: str) -> Translated:
    form = json_text.read(text)
    try:
        if isinstance(form, list):
            return translated(all_of(_filter(each, (at,)) for at, each in enumerate(form)))
        return translated(_filter(form, ()))
    except FormMistake as mistake:
        raise json_text.located(text, mistake) from None


def attributes(event: Mapping[str, Any]) -> dict[str, Value]:
    """Return the context attributes of an event in the JSON format; null is absent, and the data is no attribute."""
    if not isinstance(event, Mapping):
        raise Refused("an event is an object of context attributes")
    found: dict[str, Value] = {}
    for name, value in event.items():
        if value is None or name in ("data", "data_base64"):
            continue
        is_integer = isinstance(value, int) and -INTEGER_MAX - 1 <= value <= INTEGER_MAX
        if not isinstance(value, str | bool) and not is_integer:
            raise Refused(f"the context attribute {name!r} is a text, a boolean or an integer of 32 bits")
        found[name] = value
    return found


def _filter(form: object, path: Path) -> Rails:
    if not isinstance(form, dict) or not form:
        raise FormMistake(path, 'a filter is an object such as {"exact": {"type": "com.example.sent"}}')
    name, *more = form
    if more:
        problem = f"a filter has one dialect, this one {len(form)}: {', '.join(form)}"
        raise FormMistake((*path, more[0]), problem, 'several filters stand in {"all": [...]}', at_name=True)
    inside, within = form[name], (*path, name)
    if name in ("exact", "prefix", "suffix"):
        return two_valued(every(*_conditions(name, inside, within)))
    if name in ("all", "any"):
        parts = list(_nested(inside, within))
        return all_of(parts) if name == "all" else any_of(parts)
    if name == "not":
        return opposite(_filter(inside, within))
    raise _unknown(name, within)


def _nested(form: object, path: Path) -> Iterator[Rails]:
    if not isinstance(form, list) or not form:
        raise FormMistake(path, f"`{path[-1]}` has an array of at least one filter")
    return (_filter(each, (*path, at)) for at, each in enumerate(form))


def _conditions(dialect: str, form: object, path: Path) -> Iterator[Rail]:
    if not isinstance(form, dict) or not form:
        raise FormMistake(path, f"`{dialect}` has an object of at least one attribute and its text")
    for name, text in form.items():
        if not isinstance(text, str) or not text:
            raise FormMistake((*path, name), f"`{dialect}` compares with a text of at least one character")
        if not name:
            raise FormMistake((*path, name), "the name of an attribute is not empty", at_name=True)
        yield {"exact": _is, "prefix": _begins, "suffix": _ends}[dialect](name, text)


def _is(name: str, text: str) -> Rail:
    values: list[Value] = [text]
    if _INTEGER.fullmatch(text):
        values.append(int(text))
    if text in _TRUTH:
        values.append(_TRUTH[text])
    return holds(name, Op.IN, *values)


def _begins(name: str, text: str) -> Rail:
    rails = [holds(name, Op.PREFIX, text)]
    rails += [holds(name, Op.EQ, value) for word, value in _TRUTH.items() if word.startswith(text)]
    if _START_OF_INTEGER.fullmatch(text):
        rails += [holds(name, Op.BETWEEN, low, high) for low, high in _integers_from(text)]
    return some(*rails)


def _integers_from(start: str) -> Iterator[tuple[int, int]]:
    """Yield the ranges of the integers whose text begins with `start`."""
    if start in ("0", "-"):
        yield (0, 0) if start == "0" else (-INTEGER_MAX - 1, -1)
        return
    low, width = abs(int(start)), 1
    while low <= INTEGER_MAX + 1:
        high = min(low + width - 1, INTEGER_MAX + 1)
        yield (-high, -low) if start[0] == "-" else (low, high)
        low, width = low * 10, width * 10


def _ends(name: str, text: str) -> Rail:
    rails = [holds(name, Op.SUFFIX, text)]
    rails += [holds(name, Op.EQ, value) for word, value in _TRUTH.items() if word.endswith(text)]
    if text[0] == "-" and _INTEGER.fullmatch(text):
        rails.append(holds(name, Op.EQ, int(text)))
    if _END_OF_INTEGER.fullmatch(text):
        integers = holds(name, Op.BETWEEN, -INTEGER_MAX - 1, INTEGER_MAX)
        rails.append(undecided(integers, f"the last digits of an integer, {text}", _last_digits(name, text)))
    return some(*rails)


def _last_digits(name: str, digits: str) -> AttributeTest:
    """Return the test whether an attribute is an integer whose text ends so."""

    def is_integer(made: Assembler) -> None:
        made.attribute(name)
        made.emit(Opcode.KIND, KindBit.INTEGER)

    def ends(made: Assembler) -> None:
        made.attribute(name)
        made.emit(Opcode.CAST, Cast.TEXT)
        made.constant(digits)
        made.emit(Opcode.SUFFIX)

    return AttributeTest(name, lambda made: joined(made, [is_integer, ends], True))


def _unknown(name: str, path: Path) -> FormMistake:
    if name == "sql":
        hint = "write its conditions as exact, prefix, suffix, all, any and not"
        return FormMistake(path, "`sql` inside a filter is not translated", hint, at_name=True)
    near = nearest(name, _NAMES)
    problem = f"there is no dialect `{name}`; a filter is one of {', '.join(_NAMES[:-1])}"
    return FormMistake(path, problem, f"did you mean `{near}`?" if near else "", at_name=True)


DIALECT: Final = Dialect("cloudevents", "filters of the CloudEvents Subscriptions API", translate, attributes)
