"""What `tamis check` says of routers that keep messages: where, within which bounds, and what happens at each.

Law: routers that keep within the same bounds are told of together.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tamis.cli.tables import byte_count, so_many

if TYPE_CHECKING:
    from tamis.configs.sections.kept import KeptSettings

_NAMED = 3


def kept_meaning(kept: dict[str, KeptSettings]) -> Iterator[str]:
    """Give the lines on what the routers of `kept`, by id, keep."""
    alike: dict[str, list[str]] = {}
    for router, settings in kept.items():
        alike.setdefault(settings.model_copy(update={"folder": None}).model_dump_json(), []).append(router)
    for routers in alike.values():
        yield from _meaning(routers, kept[routers[0]])


def _meaning(routers: list[str], settings: KeptSettings) -> Iterator[str]:
    more = len(routers) - _NAMED
    who = ", ".join(routers[:_NAMED]) + (f" and {more:,} more" if more > 0 else "")
    verb, whose = ("keeps", "its log is") if len(routers) == 1 else ("keep", f"the log of {routers[0]} is")
    yield f"{who} {verb} messages on disk; {whose} in {settings.folder}"
    bounds = (
        (f"{byte_count(settings.bytes)} of log", "what is to be kept is refused (LOG_FULL); acknowledgements go on"),
        (
            f"{settings.share:.4g} of the log for the keeps of an owner while three quarters are in use",
            "its keeps are full, each by its terms (with tokens of names alone)",
        ),
        (so_many(settings.keeps, "keep"), "more are refused (OVER_QUOTA)"),
        (
            f"{so_many(settings.keeps_per_client, 'keep')} and {byte_count(settings.bytes_per_client)} of a client",
            "more are refused (OVER_QUOTA)",
        ),
        (f"{so_many(settings.members_per_keep, 'attachment')} of a keep", "more are refused (OVER_QUOTA)"),
        (f"{so_many(settings.replays_per_client, 'replay')} of a client at a time", "more are refused (OVER_QUOTA)"),
        (f"{byte_count(settings.replay_bytes)} of memory for all replays", "they wait in turn"),
        (f"{byte_count(settings.memory_bytes)} of the newest messages in memory", "older ones are read from the disk"),
    )
    for bound, then in bounds:
        yield f"  at most {bound}; past that {then}"
