"""Filter policies of Amazon SNS: {"store": ["a", {"prefix": "b"}], "price": [{"numeric": [">", 100]}]}.

    {"FilterPolicyScope": "MessageBody", "FilterPolicy": {...}}    of the body of a message, not of its attributes

Law: as in EventBridge every name must have a value that satisfies one of its conditions, and one element of an array is
enough. A message without attributes, or with a body that is no object with members, matches no policy of that scope.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from tamis.protocol.dialects import json_text
from tamis.protocol.dialects.dialect import Dialect, Translated
from tamis.protocol.dialects.json_patterns.deciding import decided
from tamis.protocol.dialects.json_patterns.documents import attributes_of, windows_of
from tamis.protocol.dialects.json_patterns.pattern import Joined, Member, PathShape, members_of
from tamis.protocol.dialects.json_patterns.reading import OR, PatternReader
from tamis.protocol.dialects.json_text import FormMistake, Path
from tamis.protocol.errors import Refused
from tamis.protocol.nearest import nearest
from tamis.protocol.values import Value

EMPTY: Final = "?empty"
"""The end of the name of an attribute that says that a message has nothing in a scope."""
_POLICY, _SCOPE = "FilterPolicy", "FilterPolicyScope"
_ATTRIBUTES, _BODY = "MessageAttributes", "MessageBody"
_MESSAGE: Final = "Message"
"""The member of a notification with the body, and the beginning of the names of its values."""
_READER: Final = PatternReader(
    "SNS",
    "a policy",
    ("prefix", "suffix", "equals-ignore-case", "anything-but", "numeric", "cidr", "exists"),
    ("prefix",),
    {},
    folds_affixes=False,
)


def translate(text: str) -> Translated:
    form = json_text.read(text)
    try:
        tree = _scoped(form) if isinstance(form, dict) and _POLICY in form else _policy(form, (), "")
    except FormMistake as mistake:
        raise json_text.located(text, mistake) from None
    return decided(tree, (_MESSAGE,))


def attributes(event: Mapping[str, Any]) -> dict[str, Value]:
    """Return the attributes of a notification and the values of its body, below `Message.`. An event of another form is
    its attributes, each by its type and value, or by its value alone."""
    document, empty = _document(event)
    return attributes_of(document) | empty


def windows(event: Mapping[str, Any]) -> Iterator[dict[str, Value]]:
    """Yield forms of the whole event; Refused as `attributes`."""
    document, empty = _document(event)
    for found in windows_of(document):
        yield found | empty


def _document(event: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Value]]:
    """Return the values of a notification as one document, and the attributes that tell what of it is empty."""
    if not isinstance(event, Mapping):
        raise Refused("an event is an object")
    is_notification = _ATTRIBUTES in event or _MESSAGE in event
    given = event.get(_ATTRIBUTES, {}) if is_notification else event
    if not isinstance(given, Mapping):
        raise Refused(f"{_ATTRIBUTES!r} of a message is an object")
    is_typed = is_notification or all(isinstance(each, Mapping) and _type(each) for each in given.values())
    values = dict(_typed(given)) if is_typed else dict(given)
    if _MESSAGE in values:
        raise Refused(f"an attribute has the name of the body, {_MESSAGE!r}")
    body = _object(event.get(_MESSAGE)) if is_notification else {}
    empty: dict[str, Value] = {} if values else {EMPTY: True}
    return values | {_MESSAGE: body}, empty if body else empty | {f"{_MESSAGE}{EMPTY}": True}


# --- policies --------------------------------------------------------------------------------------------------------


def _scoped(form: dict[str, Any]) -> Joined:
    """Return the tree of a policy that stands beside its scope."""
    for name in form:
        if name not in (_POLICY, _SCOPE):
            near = nearest(name, (_SCOPE,))
            problem = f"beside `{_POLICY}` stands `{_SCOPE}` alone"
            raise FormMistake((name,), problem, f"did you mean `{near}`?" if near else "", at_name=True)
    scope = form.get(_SCOPE, _ATTRIBUTES)
    if scope not in (_ATTRIBUTES, _BODY):
        raise FormMistake((_SCOPE,), f"`{_SCOPE}` is {_ATTRIBUTES} or {_BODY}")
    if scope == _ATTRIBUTES:
        _check_flat(form[_POLICY], (_POLICY,))
    return _policy(form[_POLICY], (_POLICY,), _MESSAGE if scope == _BODY else "")


def _policy(form: object, at: Path, inside: str) -> Joined:
    if form == {}:
        return Joined((), True)
    tree = _READER.tree(form, at, inside)
    if any(member.or_absent for member in members_of(tree)):
        something = Member(f"{inside}{EMPTY}", (), or_null=False, or_absent=True, shape=PathShape.TEXT)
        return Joined((*tree.parts, something), True)
    return tree


def _check_flat(form: object, at: Path) -> None:
    """Refuse objects of names inside a policy of attributes, which are not nested."""
    for name, value in form.items() if isinstance(form, dict) else ():
        within = (*at, name)
        if isinstance(value, dict):
            hint = f'write {{"{_SCOPE}": "{_BODY}", "{_POLICY}": ...}} for the body'
            raise FormMistake(within, f"attributes are not nested, so {name!r} has an array of values", hint)
        for number, alternative in enumerate(value if name == OR and isinstance(value, list) else ()):
            _check_flat(alternative, (*within, number))


# --- messages --------------------------------------------------------------------------------------------------------


def _type(attribute: Mapping[str, Any]) -> object:
    return attribute.get("Type") or attribute.get("DataType")


def _typed(given: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the values of attributes by their types; what is Binary is compared with no policy."""
    for name, attribute in given.items():
        kind = _type(attribute) if isinstance(attribute, Mapping) else None
        value = attribute.get("Value", attribute.get("StringValue")) if isinstance(attribute, Mapping) else None
        match kind, value:
            case "Binary", _:
                continue
            case "String", str():
                yield name, value
            case "Number", str() | int() | float() if not isinstance(value, bool):
                yield name, _number(name, value)
            case (("String.Array" | "Number.Array"), str()):
                yield name, _array(name, value)
            case _:
                raise Refused(f"the attribute {name!r} has no type of SNS, or no value of it")


def _number(name: str, value: str | float) -> object:
    found = _json(value) if isinstance(value, str) else value
    if type(found) not in (int, float):
        raise Refused(f"the attribute {name!r} is no number")
    return found


def _array(name: str, value: str) -> object:
    found = _json(value)
    if not isinstance(found, list) or any(isinstance(each, dict | list) for each in found):
        raise Refused(f"the attribute {name!r} is no array of texts, numbers, booleans and null")
    return found


def _object(body: object) -> Mapping[str, Any]:
    """Return the object that a body is, or is the text of."""
    found = _json(body) if isinstance(body, str) else body
    return found if isinstance(found, Mapping) else {}


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


DIALECT: Final = Dialect("sns", "filter policies of Amazon SNS", translate, attributes, windows)
