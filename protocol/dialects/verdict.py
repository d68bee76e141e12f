"""What a translated filter says of an event.

Law: no verdict is wrong. The predicate is never narrower than the filter, so `false` is certain; of an event that it
matches the residual decides, and without one the verdict is None.
"""

from __future__ import annotations

from collections.abc import Mapping

from tamis.protocol import limits
from tamis.protocol.dialects.dialect import Dialect, Translated
from tamis.protocol.evaluate import predicate_matches
from tamis.protocol.residual import ResidualVerdict, run
from tamis.protocol.values import Value


def verdict_on(found: Translated, dialect: Dialect, event: object) -> bool | None:
    """Return the verdict on a whole event, whatever of it a message has room for; Refused if it is none."""
    verdicts = {verdict(found, form) for form in dialect.forms(event)}
    return True if True in verdicts else None if None in verdicts else False


def verdict(found: Translated, attributes: Mapping[str, Value]) -> bool | None:
    if not predicate_matches(found.predicate, attributes):
        return False
    if found.residual is None:
        return True if found.exact else None
    said = run(found.residual, attributes, limits.MATCH_STEPS).verdict
    return None if said is ResidualVerdict.OVER else said is ResidualVerdict.TRUE
