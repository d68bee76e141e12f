"""Context attributes of CloudEvents: those of an event, and conditions on their canonical texts.

Law: an attribute is a text, a boolean or an integer of 32 bits. Its canonical text is itself, "true" or "false", or
decimal digits behind a sign if it is negative.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from tamis.protocol.dialects.decide import AttributeTest, joined
from tamis.protocol.dialects.rails import Rail, holds, some, undecided
from tamis.protocol.errors import Refused
from tamis.protocol.filters import Op
from tamis.protocol.residual import Assembler, Cast, KindBit, Opcode
from tamis.protocol.values import Value

INTEGER_MAX: Final = 2**31 - 1
"""Integers of CloudEvents have 32 bits."""
_INTEGER: Final = re.compile(r"0|-?[1-9][0-9]{0,9}")
_START_OF_INTEGER: Final = re.compile(r"-|0|-?[1-9][0-9]{0,9}")
_END_OF_INTEGER: Final = re.compile(r"[0-9]{1,10}")
_TRUTH: Final = {"true": True, "false": False}


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


def is_text(name: str, text: str) -> Rail:
    """Return where the canonical text of the attribute is `text`."""
    values: list[Value] = [text]
    if _INTEGER.fullmatch(text):
        values.append(int(text))
    if text in _TRUTH:
        values.append(_TRUTH[text])
    return holds(name, Op.IN, *values)


def begins(name: str, text: str) -> Rail:
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


def ends(name: str, text: str) -> Rail:
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

    def has_digits(made: Assembler) -> None:
        made.attribute(name)
        made.emit(Opcode.CAST, Cast.TEXT)
        made.constant(digits)
        made.emit(Opcode.SUFFIX)

    return AttributeTest(name, lambda made: joined(made, [is_integer, has_digits], True))
