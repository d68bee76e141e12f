"""Event patterns of Amazon EventBridge: {"source": ["aws.ec2"], "detail": {"state": [{"anything-but": "running"}]}}.

Law: every field of the pattern must have a value that satisfies one of its conditions; of an array one element is
enough, and two fields inside one array need one element. `anything-but` needs a value. Names with dots are paths.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from tamis.protocol.dialects import json_text
from tamis.protocol.dialects.dialect import Dialect, Translated
from tamis.protocol.dialects.json_patterns.deciding import decided
from tamis.protocol.dialects.json_patterns.documents import attributes_of, windows_of
from tamis.protocol.dialects.json_patterns.pattern import PathShape
from tamis.protocol.dialects.json_patterns.reading import PatternReader
from tamis.protocol.dialects.json_text import FormMistake
from tamis.protocol.errors import Refused
from tamis.protocol.values import Value

_TEXTS: Final = ("version", "id", "detail-type", "source", "account", "time", "region")
_LIST: Final = "resources"
_OBJECT: Final = "detail"
_READER: Final = PatternReader(
    "EventBridge",
    "a pattern",
    ("prefix", "suffix", "equals-ignore-case", "anything-but", "numeric", "cidr", "exists", "wildcard"),
    ("prefix", "suffix", "equals-ignore-case", "wildcard"),
    {**dict.fromkeys(_TEXTS, PathShape.TEXT), _LIST: PathShape.LIST},
    folds_affixes=True,
)


def translate(text: str) -> Translated:
    form = json_text.read(text)
    try:
        tree = _READER.tree(form)
    except FormMistake as mistake:
        raise json_text.located(text, mistake) from None
    return decided(tree, (_OBJECT,))


def attributes(event: Mapping[str, Any]) -> dict[str, Value]:
    """Return the values of an event by their paths. Refused for an event whose envelope is not that of EventBridge."""
    found = attributes_of(event)
    _check_envelope(event)
    return found


def windows(event: Mapping[str, Any]) -> Iterator[dict[str, Value]]:
    """Yield forms of the whole event; Refused as `attributes`."""
    for found in windows_of(event):
        _check_envelope(event)
        yield found


def _check_envelope(event: Mapping[str, Any]) -> None:
    for name in _TEXTS:
        if name in event and not isinstance(event[name], str):
            raise Refused(f"{name!r} of an event is a text")
    resources = event.get(_LIST, [])
    if not isinstance(resources, list) or not all(isinstance(each, str) for each in resources):
        raise Refused(f"{_LIST!r} of an event is an array of texts")
    if not isinstance(event.get(_OBJECT, {}), Mapping):
        raise Refused(f"{_OBJECT!r} of an event is an object")


DIALECT: Final = Dialect("eventbridge", "event patterns of Amazon EventBridge", translate, attributes, windows)
