"""What a translation says of an event, by its predicate and its program, compared with what the judge says."""

from __future__ import annotations

from tamis.native.residual import NativeResidual
from tamis.protocol.evaluate import predicate_matches
from tamis.protocol.residual import ResidualVerdict, run
from tamis.protocol.wire.attributes import encode_attributes

BUDGET = 1_000_000


def said(found, attributes):
    """Whether the event is wanted; None if that is left undecided."""
    matches = predicate_matches(found.predicate, attributes)
    if found.residual is None:
        return matches if found.exact or not matches else None
    result = run(found.residual, attributes, BUDGET)
    assert NativeResidual(found.residual.pack()).run(encode_attributes(attributes), BUDGET) == result
    return matches and result.verdict is ResidualVerdict.TRUE


def check(dialect, found, event, wanted):
    assert found.residual is None or not found.exact
    verdict = said(found, dialect.attributes(event))
    assert verdict in (wanted, None), f"{event} is {'lost' if wanted else 'one too many'}"
