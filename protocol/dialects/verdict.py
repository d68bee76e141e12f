"""What a translated filter says of an event.

Law: no verdict is wrong. The predicate is never narrower than the filter, so `false` is certain; of an event that it
matches the residual decides, and without one the verdict is None.
"""

from __future__ import annotations

from collections.abc import Mapping

from tamis.protocol import limits
from tamis.protocol.dialects.dialect import Translated
from tamis.protocol.evaluate import predicate_matches
from tamis.protocol.residual import ResidualVerdict, run
from tamis.protocol.values import Value


def verdict(found: Translated, attributes: Mapping[str, Value]) -> bool | None:
    if not predicate_matches(found.predicate, attributes):
        return False
    if found.residual is None:
        return True if found.exact else None
    said = run(found.residual, attributes, limits.MATCH_STEPS).verdict
    return None if said is ResidualVerdict.OVER else said is ResidualVerdict.TRUE
