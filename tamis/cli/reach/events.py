"""How commands read the event of another system on a command line.

Law: words that begin like JSON are JSON, and a single word without `=` is a text: a topic, a subject, a routing key.
Others are attributes, as of any message.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from tamis.protocol import dialects
from tamis.protocol.errors import Refused
from tamis.protocol.message_text import parse_message
from tamis.protocol.values import Value


def event_attributes(words: Sequence[str], dialect: str) -> dict[str, Value]:
    """Return the attributes that the dialect gives to the event; Refused or MessageTextError if it is none."""
    return dict(dialects.get(dialect).attributes(_event(words)))


def _event(words: Sequence[str]) -> object:
    text = " ".join(words)
    if text.lstrip()[:1] in ("{", "[", '"'):
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            raise Refused(f"the event is not JSON: {error}") from None
    return words[0] if len(words) == 1 and "=" not in text else parse_message(words)
