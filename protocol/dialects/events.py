"""Events of other systems as attributes.

    {"detail": {"state": "ok", "tags": ["a", null]}}    detail.state = "ok"  detail.tags[0] = "a"  detail.tags[] = 2 ...

Law: nothing is left out silently: an event that has no form as attributes is Refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tamis.protocol.errors import Refused


def named_text(event: str | Mapping[str, Any], name: str) -> tuple[str, dict[str, Any]]:
    """Return the text that an event is, or has under `name`, and its other attributes."""
    if isinstance(event, str):
        return event, {}
    text = event.get(name) if isinstance(event, Mapping) else None
    if not isinstance(text, str):
        raise Refused(f"an event is a text, or an object with the text {name!r}")
    return text, dict(event)
