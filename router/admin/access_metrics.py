"""Metrics of rules of access: what they refused, and how much is used of quotas.

Law: labels are roles, verbs and names of the rules or of connected clients; at most SERIES_MAX series of each metric.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING, Final

from tamis.router.access.in_force import AccessInForce
from tamis.router.access.usage import QuotaUse
from tamis.router.admin.exposition import Exposition

if TYPE_CHECKING:
    from tamis.router.durable.service import DurableService

SERIES_MAX: Final = 100


def access_metrics(page: Exposition, access: AccessInForce, service: DurableService | None) -> None:
    """Append the metrics of a router with rules. `service`: its durable subscriptions; None if it has no log."""
    refused = access.refused.most_common(SERIES_MAX)
    page.family(
        "tamis_access_refused_total",
        "counter",
        "Requests that the rules do not allow, by the verb and the role that decided; the largest 100.",
        [({"verb": verb.value, "role": role}, count) for (verb, role), count in refused],
    )
    figures = access.figures()
    page.family(
        "tamis_access_messages_refused_total",
        "counter",
        "Messages that the rules in force do not let enter (door) or reach a client (hand).",
        [({"at": "door"}, figures.refused), ({"at": "hand"}, figures.withheld)],
    )
    page.family(
        "tamis_access_quota_refused_total",
        "counter",
        "Connections, durable subscriptions and filters beyond a quota of a name (quotas) or of a role (totals).",
        [({"quota": key, "what": what}, count) for (key, what), count in sorted(access.usage.refused.items())],
    )
    page.family(
        "tamis_quota_used_ratio",
        "gauge",
        "Fraction of a quota that a name or a role uses; the first 100.",
        [({"name": use.of, "what": use.what}, use.used / max(1, use.most)) for use in _uses(access, service)],
    )


def _uses(access: AccessInForce, service: DurableService | None) -> Iterator[QuotaUse]:
    shares = service.shares.uses() if service is not None and service.shares is not None else ()
    return islice(chain(shares, access.usage.uses()), SERIES_MAX)
