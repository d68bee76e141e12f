"""How commands read the events of another system: on a command line, and as lines of JSON.

Law: words that begin like JSON are JSON, and a single word without `=` is a text: a topic, a subject, a routing key.
Others are attributes, as of any message.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from tamis.protocol import dialects
from tamis.protocol.errors import Refused
from tamis.protocol.message_text import parse_message
from tamis.protocol.values import Value


def event_attributes(words: Sequence[str], dialect: str) -> dict[str, Value]:
    """Return the attributes that the dialect gives to the event; Refused or MessageTextError if it is none."""
    return dict(dialects.get(dialect).attributes(_event(words)))


def line_attributes(line: str, dialect: str) -> dict[str, Value]:
    """Return the attributes that the dialect gives to the event of a line of JSON; Refused if it is none."""
    return dict(dialects.get(dialect).attributes(read_json(line)))


def read_json(text: str) -> Any:  # noqa: ANN401 - whatever the text holds
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Refused(f"not JSON: {error}") from None


def _event(words: Sequence[str]) -> object:
    text = " ".join(words)
    if text.lstrip()[:1] in ("{", "[", '"'):
        return read_json(text)
    return words[0] if len(words) == 1 and "=" not in text else parse_message(words)
