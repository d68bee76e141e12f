"""The settings of one router in the form of the switch and its tables.

Law: every value comes from the topology file or is a constant with its reason.
"""

from __future__ import annotations

from typing import Final

from tamis.configs.settings import LinkSettings, RouterSettings
from tamis.native.results import OutOfMemory
from tamis.native.switch import Switch
from tamis.native.switch_values import Admission, SlowPolicy, SwitchOptions
from tamis.native.table import Table
from tamis.native.unmatched import keep_unmatched
from tamis.protocol.sampling import threshold_of
from tamis.protocol.spaces.finite import finite_parts
from tamis.protocol.wire.numbers import stable_number
from tamis.protocol.wire.session_bodies import Hello
from tamis.router.daemon.memory import switch_bytes_max, table_bytes_max, table_bytes_per_client
from tamis.serving.cannot_start import CannotStart

GROUPS_SHARE: Final = 8
"""The share of a table for worker groups of other routers, within the half for other routers."""
HOP_LIMIT: Final = 64
"""The most routers that a message may cross: more than any path of a sensible network, few enough to end a loop
soon."""


def check_engine(settings: RouterSettings) -> None:
    """Raise CannotStart if the engine of these settings cannot route."""
    if settings.engine.name not in Table.engines():
        choice = ", ".join(Table.engines())
        raise CannotStart(f"engine {settings.engine.name!r} is only for `tamis match`; choose {choice}")


def new_table(settings: RouterSettings) -> Table:
    """Return an empty table, for the filters of this router's clients."""
    return _new_table(settings, table_bytes_max(settings))


def new_tables_of_others(settings: RouterSettings) -> tuple[Table, Table]:
    """Return empty tables for the interest of other routers: one for their filters, and one for those of worker
    groups."""
    of_groups = table_bytes_max(settings) // GROUPS_SHARE
    return _new_table(settings, table_bytes_max(settings) - of_groups), _new_table(settings, of_groups)


def _new_table(settings: RouterSettings, bytes_max: int) -> Table:
    check_engine(settings)
    engine = settings.engine
    return Table(
        engine.name,
        bytes_max,
        match_steps=settings.limits.match_steps,
        options=engine.options,
        spaces=finite_parts(settings.spaces),
    )


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
    """Return the limits of a client; a PING is sent in time for the hold time that the client has stated."""
    limits, slow = settings.limits, settings.slow_consumer
    queue_bytes_max = max(limits.connection_queue_bytes, limits.frame_bytes)
    return Admission(
        number=stable_number(hello.name),
        queue_bytes_max=queue_bytes_max,
        credit_bytes=_credit_bytes(settings, queue_bytes_max),
        credit_frames=limits.credit_frames,
        frame_bytes_max=hello.frame_bytes_max,
        filters_max=limits.filters_per_client,
        unindexed_max=limits.unindexed_per_client,
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
    queue: two publishers fill the half that is left when they are blocked. A frame always fits."""
    limits = settings.limits
    most = queue_bytes_max // 4 if settings.slow_consumer.policy == "block" else limits.credit_bytes
    return max(min(limits.credit_bytes, most), limits.frame_bytes)


def keep_unmatched_of(switch: Switch, settings: RouterSettings) -> None:
    """Let `switch` store the unmatched messages that the settings select, in place of those stored before."""
    asked = settings.unmatched
    try:
        keep_unmatched(switch, threshold_of(asked.share), asked.ring_bytes)
    except OutOfMemory:
        raise CannotStart(
            f"there is no memory for the {asked.bytes:,} bytes of `unmatched`: raise `limits.memory_bytes`, half of "
            "which is for everything except the tables"
        ) from None


def link_admission(
    settings: RouterSettings, link: LinkSettings, number: int, frame_bytes_max: int, hold_ms: int
) -> Admission:
    """Return the limits of the neighbour `number` over `link`; it accepts frames of `frame_bytes_max`, and waits
    `hold_ms` for a frame. It uses no credit: messages beyond its queue are dropped, and reported."""
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
