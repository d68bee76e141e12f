"""Warnings of topic filters that are valid, and look like those of another system: `a/*` in MQTT, `a/>` in NATS.

Law: a warning changes no meaning. A filter without a character of a foreign wildcard costs one search.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from tamis.protocol.dialects.dialect import Translated
from tamis.protocol.shown import shown

_WILD: Final = re.compile(r"[+*#>]")
_ONE: Final = ("+", "*")
_REST: Final = ("#", ">", "**")
_SHOWN: Final = 40


def warned(found: Translated, text: str, separator: str, one: str, rest: str) -> Translated:
    """Return the translation with a warning of each part of `text` that is probably meant as a wildcard; those of its
    system are `one` and `rest`."""
    if not _WILD.search(text):
        return found
    parts = dict.fromkeys(part for part in text.split(separator) if part not in (one, rest) and _WILD.search(part))
    said = tuple(_warning(part, separator, one, rest) for part in [*parts][:_SHOWN])
    return replace(found, warnings=(*found.warnings, *said)) if said else found


def _warning(part: str, separator: str, one: str, rest: str) -> str:
    begins = f"`{shown(part[:_SHOWN])}` is a text here, no wildcard"
    if part in _ONE:
        return f"{begins}: write `{one}` for one"
    if part in _REST:
        return f"{begins}: write `{rest}` for all that follow"
    if any(other in part for other in "./" if other != separator):
        return f"{begins}: parts are joined by `{separator}`"
    return f"{begins}, which stands alone between two `{separator}`"
