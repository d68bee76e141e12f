"""Values of a switch in Python: options, events, admissions and results.

Law: the fields and numbers are those of tm_switch_api.h and tm_figures_api.h.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from tamis.native._tm import lib
from tamis.native.seed import random_seed
from tamis.protocol.limits import FRAME_BYTES_MAX, MATCH_STEPS, UNAUTHENTICATED_BYTES_MAX

CONNECTIONS_MAX: Final = int(lib.TM_CONNECTIONS_MAX)


class EventType(enum.IntEnum):
    """Types of events of the switch; see TM_EVENT_* in tm_switch_api.h."""

    FRAME = lib.TM_EVENT_FRAME
    FAULT = lib.TM_EVENT_FAULT
    CLOSED = lib.TM_EVENT_CLOSED
    SILENT = lib.TM_EVENT_SILENT
    SLOW = lib.TM_EVENT_SLOW
    OUTPUT = lib.TM_EVENT_OUTPUT
    UNROUTED = lib.TM_EVENT_UNROUTED
    TRACED = lib.TM_EVENT_TRACED
    PLANTED = lib.TM_EVENT_PLANTED
    WAITS = lib.TM_EVENT_WAITS
    GOES_ON = lib.TM_EVENT_GOES_ON
    COMMITTED = lib.TM_EVENT_COMMITTED
    CHAINS = lib.TM_EVENT_CHAINS
    REMOTE_BEGINS = lib.TM_EVENT_REMOTE_BEGINS
    REMOTE_SAID = lib.TM_EVENT_REMOTE_SAID
    REMOTE_ENDED = lib.TM_EVENT_REMOTE_ENDED


class Step(enum.IntEnum):
    """Handling of a confirmed publish; see TM_STEP_*."""

    IN = lib.TM_STEP_IN
    WAIT = lib.TM_STEP_WAIT
    REFUSE = lib.TM_STEP_REFUSE


class NotStoring(enum.IntEnum):
    """Why a switch has no log. Messages that request storage are then refused with this reason, or (NONE_YET)
    confirmed, as there is no durable subscription for them."""

    NO_FOLDER = lib.TM_DURABLES_NO_FOLDER
    OFF = lib.TM_DURABLES_OFF
    NONE_YET = lib.TM_DURABLES_NONE_YET


class Bug(enum.IntEnum):
    """Faults of deliveries for tests; see TM_PLANT_*."""

    DROP = lib.TM_PLANT_DROP
    TWICE = lib.TM_PLANT_TWICE
    ASTRAY = lib.TM_PLANT_ASTRAY


class SwitchEvent(NamedTuple):
    """An event of the switch. `frame`: a frame; for TRACED, the bytes of a `Trace`; for CHAINS, of its reports."""

    type: int
    connection: int
    kind: int
    code: int
    frame: bytes
    text: str


class SlowPolicy(enum.IntEnum):
    """Handling of a connection whose queue is full; see TM_SLOW_* in tm_switch_api.h."""

    DROP_NEWEST = lib.TM_SLOW_DROP_NEWEST
    DROP_OLDEST = lib.TM_SLOW_DROP_OLDEST
    DISCONNECT = lib.TM_SLOW_DISCONNECT
    BLOCK = lib.TM_SLOW_BLOCK


@dataclass(frozen=True, slots=True)
class SwitchOptions:
    """The options of a switch; the fields are those of `tm_switch_options`."""

    number: int
    epoch: int
    connections_max: int
    publishers_max: int
    hop_limit: int
    subscribers_max: int = 0
    memory_bytes_max: int = 0
    frame_bytes_max: int = FRAME_BYTES_MAX
    greeting_bytes_max: int = UNAUTHENTICATED_BYTES_MAX
    match_steps: int = MATCH_STEPS
    hash_seed: int = field(default_factory=random_seed)


UNBOUNDED: Final = 2**64 - 1
"""A bound without effect."""


@dataclass(frozen=True, slots=True)
class Admission:
    """Limits and settings of an admitted peer; the fields are those of `tm_admission`. A time of 0 means never."""

    number: int
    queue_bytes_max: int
    credit_bytes: int
    credit_frames: int
    frame_bytes_max: int
    filters_max: int
    hold_ms: int = 0
    ping_ms: int = 0
    block_ms: int = 0
    policy: SlowPolicy = SlowPolicy.DROP_NEWEST
    is_link: bool = False
    table_bytes_max: int = UNBOUNDED
    version: int = 1
    traces_per_s: int = 0
    traces_burst: int = 0
    takes_route: bool = False
    takes_set: bool = False
    takes_tree: bool = False
    takes_keys: bool = False
    bucket: int = 0
    unindexed_max: int = 0


class Subscribed(NamedTuple):
    """A filter of a subscriber. `connection`: the one that serves the subscriber, or None; `durable`: number of its
    durable subscription, 0 for a client. `residual`: the program of its subscription, asked about `candidates`
    messages, of which it let `passed` pass; b"" if there is none. `is_folded`: the filter is one for the index, which
    may have conditions on folded texts. `dialect`: that its predicate was written in; "" if in none."""

    filter: bytes
    handle: int
    subscriber: int
    connection: int | None
    subscription: int
    own_messages: bool
    durable: int
    residual: bytes
    candidates: int
    passed: int
    is_folded: bool
    dialect: str


class LinkDrops(NamedTuple):
    """Messages of a source that were dropped for clients behind a neighbour; see `tm_link_drops`."""

    neighbour: int
    source: int
    messages: int
    bytes: int
    reason: int


class SpaceFigures(NamedTuple):
    """Numbers of messages that named a space, and of those that violated it; see `tm_space_stats`."""

    checked: int
    refused: int


class ClockOffset(NamedTuple):
    """The time of a neighbour minus that of this router; its error is at most half of the round trip."""

    offset_us: int
    round_trip_us: int
