"""The topology file as one router uses it.

Law: what is here comes from the file or is a constant with its reason. A key takes effect at a reload unless
`restart_keys` names it, because something of the running router was built with it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from tamis.configs.load import load_topology
from tamis.configs.settings import LinkSettings, RouterSettings
from tamis.native.results import OutOfMemory
from tamis.native.switch import Admission, SlowPolicy, Switch, SwitchOptions
from tamis.native.table import Table
from tamis.native.unmatched import keep_unmatched
from tamis.protocol.errors import TamisError
from tamis.protocol.limits import TABLE_SHARE_OF_CLIENT
from tamis.protocol.sampling import threshold_of
from tamis.protocol.wire.numbers import stable_number
from tamis.protocol.wire.session_bodies import Hello

GROUPS_SHARE: Final = 8
"""What worker groups of other routers want has this part of a table for itself, of the half for other routers."""
HOP_LIMIT: Final = 64
"""Routers a message may cross: more than any path of a sensible network, few enough to end a loop soon."""

RESTART_KEYS: Final = (
    *("clients", "neighbours", "links", "neighbour_tls", "admin", "data"),
    *("broadcast", "strategy", "engine", "records", "kept"),
)
RESTART_LIMITS: Final = ("connections", "frame_bytes", "memory_bytes", "match_steps", "publishers")


class CannotStart(TamisError):
    """Raised when the router cannot do what its settings ask; the sentence says what to change."""


Keys = tuple[str, ...]
"""A path in the topology file: below a router, or below the network where the router has none. `links` is followed by
the neighbour's id."""


@dataclass(frozen=True, slots=True)
class StartProblem:
    """Why a router would not start, and the keys of the file that say so."""

    what: str
    keys: Keys


class CannotStartNow(CannotStart):
    """Raised when the router could start later, without a change of its settings: a port that is taken may be free."""


def load_settings(file: str | Path, router_id: str, warn: Callable[[str], object] | None = None) -> RouterSettings:
    """Return the settings of one router; ConfigError lists every mistake of the file, and `warn` takes a line about
    each key of the version before."""
    topology = load_topology(file, warn)
    if router_id not in topology.routers:
        known = ", ".join(list(topology.routers)[:20])
        raise CannotStart(f"{file}: no router is called {router_id!r}; there are {known}")
    return replace(topology.router(router_id), entrances=topology.entrances(router_id))


def restart_keys(old: RouterSettings, new: RouterSettings) -> list[str]:
    """Return the keys that differ and take effect only when the router starts again."""
    keys = [key for key in RESTART_KEYS if getattr(old, key) != getattr(new, key)]
    limits = [key for key in RESTART_LIMITS if getattr(old.limits, key) != getattr(new.limits, key)]
    turned = ["tls"] if (old.tls is None) is not (new.tls is None) else []
    return keys + [f"limits.{key}" for key in limits] + turned


def check_engine(settings: RouterSettings) -> None:
    """CannotStart if the engine of these settings cannot route."""
    if settings.engine.name not in Table.engines():
        choice = ", ".join(Table.engines())
        raise CannotStart(f"engine {settings.engine.name!r} serves `tamis match` alone; choose {choice}")


def new_table(settings: RouterSettings) -> Table:
    """Return an empty table, for the filters of this router's clients."""
    return _new_table(settings, table_bytes_max(settings))


def new_tables_of_others(settings: RouterSettings) -> tuple[Table, Table]:
    """Return empty tables for what other routers want: their filters, and apart from these those of worker groups."""
    of_groups = table_bytes_max(settings) // GROUPS_SHARE
    return _new_table(settings, table_bytes_max(settings) - of_groups), _new_table(settings, of_groups)


def _new_table(settings: RouterSettings, bytes_max: int) -> Table:
    check_engine(settings)
    engine = settings.engine
    return Table(engine.name, bytes_max, match_steps=settings.limits.match_steps, options=engine.options)


def table_bytes_max(settings: RouterSettings) -> int:
    """Return the bytes of one table: half of the memory, and half of that with links: for the router's own clients, and
    for the other routers."""
    half = settings.limits.memory_bytes // 2
    return half // 2 if settings.links else half


def table_bytes_per_client(settings: RouterSettings) -> int:
    """Return the bytes of table that one client may use: one that uses them all leaves room for nine more."""
    return settings.limits.table_bytes_per_client or table_bytes_max(settings) // TABLE_SHARE_OF_CLIENT


def switch_bytes_max(settings: RouterSettings) -> int:
    """Return the bytes of memory for the switch: the half that the tables leave."""
    return settings.limits.memory_bytes - settings.limits.memory_bytes // 2


def switch_options(settings: RouterSettings, epoch: int, connections: int) -> SwitchOptions:
    """Return the options of a switch with `connections` connections of all kinds together."""
    limits = settings.limits
    return SwitchOptions(
        number=stable_number(settings.id),
        epoch=epoch,
        connections_max=connections,
        publishers_max=limits.publishers,
        hop_limit=HOP_LIMIT,
        memory_bytes_max=switch_bytes_max(settings),
        frame_bytes_max=limits.frame_bytes,
        match_steps=limits.match_steps,
    )


def admission(settings: RouterSettings, hello: Hello, version: int) -> Admission:
    """Return what a client is admitted with; a PING goes out in time for the hold time that the client has
    announced."""
    limits, slow = settings.limits, settings.slow_consumer
    queue_bytes_max = max(limits.connection_queue_bytes, limits.frame_bytes)
    return Admission(
        number=stable_number(hello.name),
        queue_bytes_max=queue_bytes_max,
        credit_bytes=_credit_bytes(settings, queue_bytes_max),
        credit_frames=limits.credit_frames,
        frame_bytes_max=hello.frame_bytes_max,
        filters_max=limits.filters_per_client,
        table_bytes_max=table_bytes_per_client(settings),
        hold_ms=settings.keepalive.hold_ms,
        ping_ms=max(1, min(settings.keepalive.ping_ms, settings.keepalive.hold_ms // 3, hello.hold_ms // 3)),
        block_ms=slow.block_ms,
        traces_per_s=limits.traces_per_s,
        traces_burst=limits.traces_burst,
        policy=SlowPolicy[slow.policy.upper().replace("-", "_")],
        version=version,
    )


def _credit_bytes(settings: RouterSettings, queue_bytes_max: int) -> int:
    """Return the credit of a publisher in bytes. Where publishers wait for slow consumers it is at most a quarter of a
    queue: two of them fill the half of it that is left when they are held back. A frame always fits."""
    limits = settings.limits
    most = queue_bytes_max // 4 if settings.slow_consumer.policy == "block" else limits.credit_bytes
    return max(min(limits.credit_bytes, most), limits.frame_bytes)


def keep_unmatched_of(switch: Switch, settings: RouterSettings) -> None:
    """Let `switch` keep those messages that nobody wants which the settings ask for, in place of what it kept."""
    asked = settings.unmatched
    try:
        keep_unmatched(switch, threshold_of(asked.share), asked.ring_bytes)
    except OutOfMemory:
        raise CannotStart(
            f"there is no memory for the {asked.bytes:,} bytes of `unmatched`: raise `limits.memory_bytes`, half of "
            "which is for all that the router holds but its tables"
        ) from None


def link_admission(
    settings: RouterSettings, link: LinkSettings, number: int, frame_bytes_max: int, hold_ms: int
) -> Admission:
    """Return what the neighbour `number` is admitted with over `link`; it takes frames of `frame_bytes_max`, waits
    `hold_ms` for a sign of life. It uses no credit: what is too much is dropped, and told."""
    return Admission(
        number=number,
        queue_bytes_max=max(settings.limits.connection_queue_bytes, settings.limits.frame_bytes),
        credit_bytes=0,
        credit_frames=0,
        frame_bytes_max=frame_bytes_max,
        filters_max=0,
        hold_ms=link.keepalive.hold_ms,
        ping_ms=max(1, min(link.keepalive.ping_ms, link.keepalive.hold_ms // 3, hold_ms // 3)),
        is_link=True,
    )
