"""What a translated filter says of an event, as far as its predicate decides.

Law: no verdict is wrong. The predicate is never narrower than the filter, so `false` is certain; `true` is certain of
an exact one alone, and of another the verdict is None.
"""

from __future__ import annotations

from collections.abc import Mapping

from tamis.protocol.dialects.dialect import Translated
from tamis.protocol.evaluate import predicate_matches
from tamis.protocol.values import Value


def verdict(found: Translated, attributes: Mapping[str, Value]) -> bool | None:
    if not predicate_matches(found.predicate, attributes):
        return False
    return True if found.exact else None
