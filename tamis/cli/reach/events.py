"""How commands read the events of another system: on a command line, and as lines of JSON.

Law: words that begin like JSON are JSON, and a single word without `=` is a text: a topic, a subject, a routing key.
Others are attributes, as of any message.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tamis.protocol import dialects
from tamis.protocol.dialects.events import LEFT_OUT
from tamis.protocol.errors import Refused
from tamis.protocol.message_text import parse_message
from tamis.protocol.values import Value

if TYPE_CHECKING:
    from tamis.cli.reach.wanted_names import WantedNames


def event_attributes(words: Sequence[str], dialect: str, names: WantedNames | None = None) -> dict[str, Value]:
    """Return the attributes that the dialect gives to the event; Refused or MessageTextError if it is none. Of an event
    with more of them than a message, those of `names` come first."""
    return _fitted(event_of(words), dialect, names)


def message_of(words: Sequence[str], dialect: str | None) -> dict[str, Value]:
    """Return the attributes of a message, or of an event of a dialect."""
    return event_attributes(words, dialect) if dialect else parse_message(words)


def line_attributes(line: str, dialect: str, names: WantedNames | None = None) -> dict[str, Value]:
    """Return the attributes that the dialect gives to the event of a line of JSON, as `event_attributes`."""
    return _fitted(read_json(line), dialect, names)


def _fitted(event: object, dialect: str, names: WantedNames | None) -> dict[str, Value]:
    known = dialects.get(dialect)
    found = dict(known.attributes(event))
    if LEFT_OUT in found and names is not None:
        found = dict(known.attributes(event, names.now()))
        names.is_left_out |= LEFT_OUT in found
    return found


def read_json(text: str) -> Any:  # noqa: ANN401 - whatever the text holds
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Refused(f"not JSON: {error}") from None


def event_of(words: Sequence[str]) -> object:
    """Return the event that the words of a command line are."""
    text = " ".join(words)
    if text.lstrip()[:1] in ("{", "[", '"'):
        return read_json(text)
    return words[0] if len(words) == 1 and "=" not in text else parse_message(words)
