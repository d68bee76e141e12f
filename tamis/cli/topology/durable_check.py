"""The lines of `tamis check` about durable subscriptions: the folder, bounds and overflow policy of each log, and the
routers without a log.

Law: routers with equal bounds share a line. Routers with a log by default have one line: their bounds are the defaults,
except that of the log, which depends on their disk.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tamis.cli.tables import byte_count, duration, so_many

if TYPE_CHECKING:
    from tamis.configs import Topology
    from tamis.configs.sections.durable import DurableSettings

_NAMED = 3


def durable_meaning(topology: Topology) -> Iterator[str]:
    """Yield the lines about the logs of the routers of `topology`."""
    logs = topology.durable_by_router()
    alike: dict[str, list[str]] = {}
    for router, settings in logs.items():
        if not settings.is_by_default:
            alike.setdefault(settings.model_copy(update={"folder": None}).model_dump_json(), []).append(router)
    for routers in alike.values():
        yield from _meaning(routers, logs[routers[0]])
    by_default = [router for router, settings in logs.items() if settings.is_by_default]
    if by_default:
        settings = logs[by_default[0]]
        yield (
            f"{_who(by_default, 'stores', 'store')} messages on disk once a durable subscription exists; "
            f"{_whose(by_default)} in {settings.folder}, with a quarter of the free space there, "
            f"at most {byte_count(settings.bytes)}"
        )
    without = [router for router in topology.routers if router not in logs]
    for routers, why in (
        ([router for router in without if topology.router(router).data is None], "no `data` folder"),
        ([router for router in without if topology.router(router).data is not None], "`durable: false`"),
    ):
        if routers:
            yield f"{_who(routers, 'stores', 'store')} no messages: {why}"


def _who(routers: list[str], one: str, several: str) -> str:
    """Return the first few of `routers` with the matching form of the verb."""
    more = len(routers) - _NAMED
    named = ", ".join(routers[:_NAMED]) + (f" and {more:,} more" if more > 0 else "")
    return f"{named} {one if len(routers) == 1 else several}"


def _whose(routers: list[str]) -> str:
    return "its log is" if len(routers) == 1 else f"the log of {routers[0]} is"


def _meaning(routers: list[str], settings: DurableSettings) -> Iterator[str]:
    yield f"{_who(routers, 'stores', 'store')} messages on disk; {_whose(routers)} in {settings.folder}"
    subscription, custody = "durable subscription", settings.custody
    of_client = so_many(settings.subscriptions_per_client, subscription)
    bounds = (
        (
            f"{byte_count(settings.bytes)} of log",
            "publishes to be stored are refused (LOG_FULL), acknowledgements are accepted",
        ),
        (
            f"{settings.share:.4g} of the log for one owner while three quarters of it are in use",
            "its durable subscriptions are full, each by its policy (only with tokens of names)",
        ),
        (so_many(settings.subscriptions, subscription), "more are refused (OVER_QUOTA)"),
        (f"{of_client} and {byte_count(settings.bytes_per_client)} of a client", "more are refused (OVER_QUOTA)"),
        (
            f"{so_many(settings.consumers_per_subscription, 'consumer')} of a {subscription}",
            "more are refused (OVER_QUOTA)",
        ),
        (f"{so_many(settings.replays_per_client, 'replay')} of a client at a time", "more are refused (OVER_QUOTA)"),
        (f"{byte_count(settings.replay_bytes)} of memory for all replays", "they are queued"),
        (
            f"{byte_count(custody.bytes)} for another router, and {custody.share:.4g} of the log for all",
            "publishes to be stored for it are refused (LOG_FULL)"
            if custody.overflow == "refuse"
            else "the oldest of its messages are given up, and its consumers are told (CUSTODY_FULL)",
        ),
        (f"{duration(custody.age)} of waiting for another router", "a message is given up (CUSTODY_FULL)"),
        (f"{byte_count(custody.window)} of another router on their way to the disk", "it sends more later"),
        (f"{byte_count(settings.memory_bytes)} of the newest messages in memory", "older ones are read from the disk"),
    )
    for bound, then in bounds:
        yield f"  at most {bound}; above it, {then}"
