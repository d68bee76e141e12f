"""The callbacks of azure.lark, which build the tree of a filter, and the names of the properties of Service Bus.

Law: names have no case, so that they are in lower case in the tree, as in the attributes of a message. A name of the
scope sys is that of a system property whose value a message has from its sender.
"""

from __future__ import annotations

from typing import Any, Final

from tamis.protocol.dialects.grammars import Grammar
from tamis.protocol.dialects.sql.builder import EXPECTED, HINTS, WORDS, SqlBuilder, undoubled
from tamis.protocol.dialects.tree import Attribute, Call, Expression, Literal
from tamis.protocol.language.mistake import SyntaxMistake
from tamis.protocol.nearest import did_you_mean

SYSTEM: Final = "sys."
FIELDS: Final = (
    "ContentType",
    "CorrelationId",
    "Label",
    "MessageId",
    "PartitionKey",
    "ReplyTo",
    "ReplyToSessionId",
    "SessionId",
    "To",
    "TransactionPartitionKey",
)
"""The system properties that are texts; `Subject` is the later name of `Label`."""
_TIMES: Final = ("TimeToLive", "ScheduledEnqueueTimeUtc", "EnqueuedTimeUtc", "ExpiresAtUtc", "LockedUntilUtc")
_OF_THE_BROKER: Final = ("SequenceNumber", "EnqueuedSequenceNumber", "DeliveryCount", "Size", "State", "LockToken")
_BY_NAME: Final = {field.lower(): f"{SYSTEM}{field.lower()}" for field in FIELDS} | {"subject": f"{SYSTEM}label"}


def field_of(name: str, at: int) -> str:
    """Return the attribute of a system property, or raise the mistake at `at`."""
    if found := _BY_NAME.get(name.lower()):
        return found
    if name.lower() in map(str.lower, _TIMES):
        hint = "publish it as a number, in a property of its own"
        raise SyntaxMistake(at, f"`{name}` is a time, and a value is none", hint)
    if name.lower() in map(str.lower, _OF_THE_BROKER):
        hint = "compare with a property that its sender sets"
        raise SyntaxMistake(at, f"the broker makes `{name}`, and a message is published without it", hint)
    raise SyntaxMistake(at, f"there is no system property `{name}`{did_you_mean(name, (*FIELDS, 'Subject'))}")


def property_of(name: str, at: int) -> str:
    """Return the attribute of a user property, or raise the mistake at `at`."""
    if name.lower().startswith(SYSTEM):
        raise SyntaxMistake(at, f"`{name}` is the name of a system property, and no user property has it")
    return name.lower()


class AzureBuilder(SqlBuilder):
    def attribute(self, parts: list[Any]) -> Attribute:
        (token,) = parts
        return Attribute(property_of(_name(token), token.start_pos), token.start_pos)

    def scoped(self, parts: list[Any]) -> Attribute:
        scope, token = parts
        written = scope[:-1].strip()
        if written.lower() == "sys":
            return Attribute(field_of(_name(token), token.start_pos), scope.start_pos)
        if written.lower() == "user":
            return Attribute(property_of(_name(token), token.start_pos), scope.start_pos)
        hint = f"a name with a dot stands in brackets: [{written}.{_name(token)}]"
        raise SyntaxMistake(scope.start_pos, f"a scope is sys or user, not `{written}`", hint)

    def membership(self, parts: list[Any]) -> Call:
        value, word, _, *others = parts
        if not isinstance(value, Attribute | Literal) or not any(isinstance(other, Attribute) for other in others):
            return super().membership(parts)
        tests = tuple(Call("=", (value, other), word.start_pos) for other in others)
        return Call("or", tests, word.start_pos)

    def function(self, parts: list[Any]) -> Attribute:
        name, _, *arguments = parts
        if name.lower() in ("property", "p"):
            return _property_named(name, arguments)
        if name.lower() == "newid":
            problem = "`newid()` is another value each time, so no message is equal to it"
            raise SyntaxMistake(name.start_pos, problem, "compare with a property: `sys.MessageId`")
        hint = "the only function is property('name')"
        raise SyntaxMistake(name.start_pos, f"there is no function `{name}`", hint)

    def parameter(self, parts: list[Any]) -> Literal:
        (token,) = parts
        raise SyntaxMistake(token.start_pos, f"the parameter `{token}` has no value here", "write its value")


def _name(token: Any) -> str:  # noqa: ANN401 - a token
    if token.type == "NAME":
        return str(token)
    return undoubled(token, "]" if token.type == "DELIMITED" else '"')


def _property_named(function: Any, arguments: list[Expression]) -> Attribute:  # noqa: ANN401 - a token
    match arguments:
        case [Literal(str(name), at)]:
            scope, _, rest = name.partition(".")
            if scope.lower() == "sys" and rest:
                return Attribute(field_of(rest, at), function.start_pos)
            found = rest if scope.lower() == "user" and rest else name
            if found:
                return Attribute(property_of(found, at), function.start_pos)
    raise SyntaxMistake(function.start_pos, f"`{function}` takes one 'name'", "write property('name')")


GRAMMAR: Final = Grammar(
    package="tamis.protocol.dialects.sql",
    file="azure.lark",
    builder=AzureBuilder(),
    expected=EXPECTED,
    words=WORDS,
    quote="'",
    inside="twice: 'it''s'",
    hints={
        **HINTS,
        '"': "a text stands in single quotes, a name in double ones",
        "[": "inside a name in brackets `]` is written twice",
        "(": "the only function is property('name')",
        "_": "a name that begins with `_` stands in brackets",
        ";": "a filter is one condition",
    },
)
