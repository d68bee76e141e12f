"""The length of a queue at which its receiver loses nothing.

Law: with enough room, a queue would have been longer by at most the bytes that it lost since it was last empty. A bound
that is larger by that is enough for equal traffic. If memory does not allow it, no bound helps: that receiver is slower
than the traffic to which it subscribes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from tamis.analysis.advice.wording import Advice, Edits, Evidence
from tamis.configs import RouterSettings

MIB: Final = 1024 * 1024
MARGIN: Final = 1.25
"""The factor on the bound that would have sufficed: sizes of messages are known on average only, and the next burst may
be larger."""
BOUND_MAX: Final = 1024 * MIB
"""The largest valid value of the option."""
FIGURE: Final = "messages lost to full queues"
_KEY: Final = "connection_queue_bytes"


def queues(evidence: Evidence) -> Iterator[Advice]:
    routers = {row["router"] for row in evidence.overflows}
    for router in sorted(routers):
        lost = [row for row in evidence.overflows if row["router"] == router]
        yield _queue(evidence.topology.router(router), lost)
    if not routers:
        why = "no queue was full" if evidence.totals else "the logs have no counters"
        yield Advice("queues", f"limits.{_KEY}", "nothing to change", "as it is", why, None, None, FIGURE, 0.0)


def _queue(settings: RouterSettings, lost: list[Mapping[str, Any]]) -> Advice:
    bound = max(settings.limits.connection_queue_bytes, settings.limits.frame_bytes)
    worst = max(lost, key=_missing)
    peak = bound + _missing(worst)
    wanted = -(-round(peak * MARGIN) // MIB) * MIB
    dropped = sum(row["dropped"] for row in lost)
    room = settings.limits.memory_bytes - settings.limits.memory_bytes // 2
    option = f"routers.{settings.id}.limits.{_KEY}"
    behind = f"neighbour {worst['neighbour']}" if worst["neighbour"] else f"client {worst['client']}"
    evidence = (
        f"{dropped:,} messages were dropped for {len(lost)} receivers; {behind} lost {worst['worst']:,} of some "
        f"{worst['message_bytes']:,.0f} bytes before its queue was empty again"
    )
    figures = (FIGURE, float(dropped))
    if wanted > min(BOUND_MAX, room // len(lost)):
        why = f"{evidence}: {_mib(wanted)} each would not be enough, or exceed the memory. Such a receiver is "
        why += "slower than its traffic; slow_consumer.policy `block` lets publishers wait, narrower filters reduce it"
        return Advice("queues", option, "nothing to change", _mib(bound), why, None, None, *figures)
    promise = f"no drops at peaks of {peak:,} bytes in a queue"
    edits: Edits = {("routers", settings.id, "limits", _KEY): wanted}
    return Advice("queues", option, "change", _mib(bound), evidence, _mib(wanted), promise, *figures, 0.0, edits)


def _missing(row: Mapping[str, Any]) -> int:
    """Return the bytes that one overflow lost."""
    octets: float = row["worst"] * (row["message_bytes"] or 0)
    return round(octets)


def _mib(octets: int) -> str:
    return f"{octets / MIB:,.4g} MiB"
