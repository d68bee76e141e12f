"""The types of single values in the rules: predicates, patterns, digests, stamps.

Law: as in `tamis.configs.fields`: a value is text, its type validates it and raises errors in words that can follow
"must be".
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from tamis.configs.fields import SIZE_FORM, is_off, read_octets
from tamis.configs.mistakes import quoted
from tamis.configs.sections.records import PREDICATE_FORMAT
from tamis.protocol.access.patterns import NamePattern, read_pattern
from tamis.protocol.access.rule import AccessRule, check_operand, compile_rule
from tamis.protocol.errors import MessageTextError, PredicateError, Refused
from tamis.protocol.message_text import parse_message_text, read_value
from tamis.protocol.peer_names import check_peer_name
from tamis.protocol.values import Value, check_name

DIGEST_FORM: Final = r"^sha256:[0-9a-f]{64}$"
SHARE_FORM: Final = r"^[0-9]{1,3}(\.[0-9]+)?%$"
PATTERNS_MAX: Final = 64
LOG_BYTES_MIN: Final = 2**20
TEXT_CHARACTERS_MAX: Final = 1_024
_TOKEN: Final = re.compile(r"[\w+/=-]{16,}")


def mistake(what: str) -> PydanticCustomError:
    """Return the error whose sentence needs no value behind it."""
    return PydanticCustomError("choice", "{what}", {"what": what})


def _rule(value: object) -> object:
    if isinstance(value, AccessRule):
        return value
    if not isinstance(value, str):
        raise ValueError("must be a predicate")
    return _compiled(value, "is no predicate")


def _rule_or_switch(value: object) -> object:
    """Return the rule of a predicate; of true or false a rule of all messages or None."""
    if is_off(value):
        return None
    if isinstance(value, str):
        is_on = value.lower() in ("true", "yes", "on")
        return _compiled("true" if is_on else value, "must be true, false or a predicate")
    return _rule(value)


def _compiled(text: str, wrong: str) -> AccessRule:
    try:
        return compile_rule(text)
    except PredicateError as error:
        hint = f" ({error.hint})" if error.hint else ""
        what = f"{wrong}: column {error.column}: {error.problem}{hint}"
        raise mistake(what) from None


def _text(value: object) -> object:
    if not isinstance(value, str) or not 1 <= len(value) <= TEXT_CHARACTERS_MAX or not value.isprintable():
        raise ValueError(f"must be printable text of 1 to {TEXT_CHARACTERS_MAX:,} characters")
    return value


def _pattern(value: object) -> object:
    if isinstance(value, NamePattern):
        return value
    if not isinstance(value, str):
        raise ValueError("must be a name, or the beginning of names and a star, such as orders-*")
    return _refusing(read_pattern, value)


def _listed(value: object) -> object:
    if not isinstance(value, str | list | tuple):
        raise ValueError("must be a pattern such as orders-*, or a list of patterns")
    return [value] if isinstance(value, str) else value


def _digest(value: object) -> object:
    if isinstance(value, str) and re.fullmatch(DIGEST_FORM, value):
        return value
    if isinstance(value, str) and not value.startswith("sha256:") and _TOKEN.fullmatch(value):
        raise mistake("looks like a token itself; write its digest, which `tamis token new NAME` prints")
    raise ValueError("must be sha256: and 64 hexadecimal digits in lower case")


def _share(value: object) -> object:
    if isinstance(value, str) and re.fullmatch(SHARE_FORM, value) and 0 < float(value[:-1]) <= 100:
        return float(value[:-1]) / 100
    if isinstance(value, float):
        return value
    with contextlib.suppress(ValueError):
        size = read_octets(value)
        if isinstance(size, int) and size >= LOG_BYTES_MIN:
            return size
    raise ValueError("must be a part of the log such as 20%, or a size from 1 MiB on")


def _name(value: object) -> object:
    return _refusing(check_peer_name, value) if isinstance(value, str) else value


def _attribute(value: object) -> object:
    return _refusing(check_name, value)


def _stamp(value: object) -> object:
    if not isinstance(value, str):
        raise ValueError("must be a value: text, a number, true or false")
    return _refusing(lambda text: _checked_stamp(read_value(text)), value)


def _checked_stamp(value: Value) -> Value:
    return check_operand(value) if isinstance(value, str) else value


def read_attributes(value: object) -> object:
    """Return the attributes of a message, of a mapping or of text as on a command line."""
    if isinstance(value, dict):
        return {_attribute(name): _refusing(read_value, each) for name, each in value.items()}
    if not isinstance(value, str):
        raise ValueError("must be a message: {kind: reading}, or text such as kind=reading")
    try:
        return parse_message_text(value)
    except MessageTextError as error:
        raise ValueError(f"is no message: column {error.column}: {error.problem}") from None


def _refusing(read: Callable[[Any], object], value: object) -> object:
    """Return `read(value)`; raise what it refuses as a mistake of a file."""
    if not isinstance(value, str):
        raise ValueError("must be text")
    try:
        return read(value)
    except Refused as error:
        text = str(error)
        what = text if value.strip() in text else f"{text}, got {quoted(value)}"
        raise mistake(what) from None


def _shown_as(form: str, **schema: str) -> Any:  # noqa: ANN401 - what Annotated takes
    """Return the mark of text in a file that the reference page calls `form`."""
    return Field(json_schema_extra={"format": form, **schema})


WrittenRule = Annotated[str, _shown_as(PREDICATE_FORMAT)]
WrittenDigest = Annotated[str, _shown_as("digest", pattern=DIGEST_FORM)]
_WrittenPattern = Annotated[str, _shown_as("pattern")]
_WrittenText = Annotated[str, _shown_as("text")]
_WrittenValue = Annotated[str, _shown_as("a value")]
_WrittenMessage = Annotated[str, _shown_as("message")]
_WrittenShare = Annotated[str, _shown_as("a part such as `20%`", pattern=SHARE_FORM)]
_WrittenSize = Annotated[str, _shown_as("[a size](#forms)", pattern=SIZE_FORM)]
RuleText = Annotated[AccessRule, BeforeValidator(_rule, json_schema_input_type=WrittenRule)]
RuleOrSwitch = Annotated[AccessRule | None, BeforeValidator(_rule_or_switch, json_schema_input_type=bool | WrittenRule)]
Text = Annotated[str, BeforeValidator(_text, json_schema_input_type=_WrittenText)]
Pattern = Annotated[NamePattern, BeforeValidator(_pattern, json_schema_input_type=_WrittenPattern)]
Patterns = Annotated[
    tuple[Pattern, ...],
    Field(max_length=PATTERNS_MAX),
    BeforeValidator(_listed, json_schema_input_type=_WrittenPattern | list[_WrittenPattern]),
]
Digest = Annotated[str, BeforeValidator(_digest, json_schema_input_type=WrittenDigest)]
LogShare = Annotated[float | int, BeforeValidator(_share, json_schema_input_type=_WrittenShare | _WrittenSize)]
PrincipalName = Annotated[str, BeforeValidator(_name, json_schema_input_type=_WrittenText)]
StampName = Annotated[str, BeforeValidator(_attribute)]
StampValue = Annotated[str | int | float | bool, BeforeValidator(_stamp, json_schema_input_type=_WrittenValue)]
MessageAttributes = Annotated[
    dict[str, str | int | float | bool],
    BeforeValidator(read_attributes, json_schema_input_type=_WrittenMessage | dict[str, _WrittenValue]),
]
