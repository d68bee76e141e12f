"""Topic filters of MQTT 3.1.1 and 5, with the conditions on user properties of EMQX: `sensors/+/temperature?unit=C`.

    a/b  topic = "a/b"    a/#  topic = "a" or topic ^= "a/"    a/+/c  topic/1 = "a" and topic/3 = "c" and no topic/4

Law: a filter that begins with a wildcard matches no topic that begins with `$`; `#` stands for no level, too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from tamis.protocol import limits
from tamis.protocol.dialects.dialect import Dialect, Translated
from tamis.protocol.dialects.events import named_text
from tamis.protocol.dialects.patterns import Piece, Wild
from tamis.protocol.dialects.rails import Rail, every, holds, of_predicate, undecided
from tamis.protocol.dialects.topics import levels, whole
from tamis.protocol.dialects.topics.lookalikes import warned
from tamis.protocol.dialects.widen import within_limits
from tamis.protocol.errors import Refused
from tamis.protocol.filters import Constraint, Filter, Op, Predicate
from tamis.protocol.language import literals
from tamis.protocol.language.mistake import SyntaxMistake
from tamis.protocol.language.tree import Junction
from tamis.protocol.shown import shown
from tamis.protocol.values import Value, check_value

TOPIC: Final = "topic"
_SEPARATOR: Final = "/"
_NOT_OF_THE_BROKER: Final = Constraint(TOPIC, Op.PREFIX, ("$",), negated=True)
_ALL: Final = Predicate((Filter((levels.exists(TOPIC), _NOT_OF_THE_BROKER)),))
_CONDITION: Final = re.compile(r"([^=<>!&]+)(<=|>=|=|<|>)([^&]*)")
_ODD_VALUE: Final = re.compile(r"==[^&]{0,40}|=\"[^&\"]{0,40}\"|='[^&']{0,40}'")
_WARNINGS_MAX: Final = 8
_OPS: Final = {"=": Op.EQ, "<": Op.LT, "<=": Op.LE, ">": Op.GT, ">=": Op.GE}


def translate(text: str) -> Translated:
    topic, question, conditions = text.partition("?")
    found = warned(_topic(topic), topic, _SEPARATOR, "+", "#")
    if not question:
        return found if found.exact else whole.decided(found, TOPIC, _parts(topic), _SEPARATOR)
    warnings = (*found.warnings, *_odd_values(conditions))
    by_topic = of_predicate(found.predicate)
    for need in found.needs:
        meant = whole.meant(TOPIC, _parts(topic), _SEPARATOR)
        by_topic = undecided(by_topic, need, meant and Junction((by_topic.node, meant), True, 0))
    return within_limits(every(by_topic, *_conditions(conditions, len(topic) + 1)), warnings)


def attributes(event: str | Mapping[str, Any]) -> dict[str, Value]:
    """Return the attributes of a topic, or of an event with one and with user properties: {"topic": ..., ...}."""
    topic, others = named_text(event, TOPIC)
    if not topic or "+" in topic or "#" in topic or "\0" in topic:
        raise Refused(f"{topic!r} is not a topic: it has a character at least, and no +, # or NUL")
    return {**others, TOPIC: topic, **levels.attributes_of(TOPIC, topic.split(_SEPARATOR))}


def _topic(text: str) -> Translated:
    if not text or "\0" in text or text.startswith("$share/"):
        raise _mistake(text)
    if "+" not in text and "#" not in text:
        return levels.whole(TOPIC, text) if levels.is_short(text, limits.OPERAND_BYTES_MAX) else _beyond(text)
    parts: list[str | None] = [*text.split(_SEPARATOR)]
    for number, part in enumerate(parts):
        if part == "+":
            parts[number] = None
        elif part and ("+" in part or ("#" in part and (part != "#" or number + 1 < len(parts)))):
            raise _misplaced(text, number)
    if not levels.is_short(text, limits.OPERAND_BYTES_MAX):
        return _beyond(text)
    if text == "#":
        return Translated(_ALL)
    open_end = parts[-1] == "#"
    if "+" not in text:
        return levels.branch(TOPIC, text[:-2], _SEPARATOR, itself=True)
    also = (_NOT_OF_THE_BROKER,) if parts[0] is None else ()
    return levels.by_levels(TOPIC, parts[:-1] if open_end else parts, open_end, also=also)


def _parts(topic: str) -> list[Piece]:
    return [{"+": Wild.ONE, "#": Wild.ANY}.get(part, part) for part in topic.split(_SEPARATOR)]


def _beyond(text: str) -> Translated:
    return levels.beyond(TOPIC, text, re.split(r"/?[+#]", text, maxsplit=1)[0])


def _mistake(text: str) -> SyntaxMistake:
    if not text:
        return SyntaxMistake(0, "a topic filter has at least one character", "`#` is the filter of all topics")
    if "\0" in text:
        return SyntaxMistake(text.index("\0"), "a topic filter has no NUL")
    hint = "subscribe to the filter behind it with `group=` (`tamis sub --group`), and the members share its messages"
    return SyntaxMistake(0, "`$share/` names a group, not a topic", hint)


def _misplaced(text: str, number: int) -> SyntaxMistake:
    part = text.split(_SEPARATOR)[number]
    start = len(_SEPARATOR.join(text.split(_SEPARATOR)[:number])) + (number > 0)
    at = start + min(part.find(wild) for wild in "+#" if wild in part)
    wild = text[at]
    if len(part) > 1:
        return SyntaxMistake(at, f"`{wild}` must be a whole level", f"write `/{wild}`, or the text of the level")
    return SyntaxMistake(at, "`#` must be the last level", "`+` stands for one level in the middle")


def _conditions(text: str, at: int) -> list[Rail]:
    found = []
    for part in text.split("&"):
        match = _CONDITION.fullmatch(part)
        if match is None:
            hint = "there is no `!=`" if "!=" in part else "conditions are joined by `&`"
            raise SyntaxMistake(at, "expected a condition on a user property such as `unit=C` or `n>25`", hint)
        name, operator, value = match.groups()
        found.append(_condition(name, operator, value, at + match.start(3)))
        at += len(part) + 1
    return found


def _odd_values(conditions: str) -> tuple[str, ...]:
    """Return warnings of values that are probably meant otherwise."""
    odd = dict.fromkeys(match[0] for match in _ODD_VALUE.finditer(conditions))
    return tuple(f"`{shown(each[1:])}` is the text: write one `=`, and no quotes" for each in [*odd][:_WARNINGS_MAX])


def _condition(name: str, operator: str, text: str, at: int) -> Rail:
    """Return where a user property has the value. A gateway makes a number of a property that is written as one, so a
    value that is written as one is looked for in both forms."""
    value = _as_message_text(text, at)
    if operator == "=":
        return holds(name, Op.EQ, text) if value is text else holds(name, Op.IN, text, value)
    if isinstance(value, bool | str):
        raise SyntaxMistake(at, f"`{operator}` compares with a number, not with `{text}`")
    return holds(name, _OPS[operator], value)


def _as_message_text(text: str, at: int) -> Value:
    if text.lower() in literals.TRUTH:
        return literals.TRUTH[text.lower()]
    return check_value(literals.read_number(text, at)) if literals.NUMBER.fullmatch(text) else text


DIALECT: Final = Dialect("mqtt", "MQTT topic filters", translate, attributes)
