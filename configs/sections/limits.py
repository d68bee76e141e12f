"""The model of `limits`: the limits of a router.

Law: all memory and work that peers can cause in a router has its limit here, with its unit.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tamis.configs.fields import Milliseconds, Octets
from tamis.configs.sections.section import MIB, ConfigSection
from tamis.protocol import limits as bounds


class Limits(ConfigSection):
    """The limits of a router. They may be stricter than those of the protocol, never looser."""

    connections: int = Field(
        default=10_000, ge=1, le=1_000_000, description="Open client connections; more are refused."
    )
    client_series: int = Field(
        default=0,
        ge=0,
        le=1_000,
        description="Clients that have metrics of their own, by name: those that connect first; the rest are summed "
        "under the name `others`. 0: no metrics by client.",
    )
    filters_per_client: int = Field(
        default=bounds.FILTERS_PER_CLIENT,
        ge=1,
        le=bounds.ENTRIES_MAX,
        description="Filters of one client.",
    )
    unindexed_per_client: int = Field(
        default=100,
        ge=0,
        le=10_000,
        description="Subscriptions of one client that a residual program alone decides, for every message.",
    )
    table_bytes_per_client: Annotated[Octets, Field(ge=bounds.TABLE_BYTES_PER_CLIENT_MIN, le=2**40)] | None = Field(
        default=None,
        description="Bytes of one client's filters in a table; by default a tenth of the limit of a table.",
    )
    frame_bytes: Octets = Field(
        default=bounds.FRAME_BYTES_MAX,
        ge=4_096,
        le=bounds.FRAME_BYTES_MAX,
        description="Size of a frame, header and payload included, in bytes; a larger one ends its connection.",
    )
    connection_queue_bytes: Octets = Field(
        default=8 * MIB,
        ge=MIB,
        le=1024 * MIB,
        description="Bytes waiting to be sent on one connection; at least the largest frame.",
    )
    memory_bytes: Octets = Field(
        default=1024 * MIB,
        ge=16 * MIB,
        le=2**40,
        description="Memory for data of clients and routers, in bytes: half for tables, half for queues and buffers.",
    )
    match_steps: int = Field(
        default=bounds.MATCH_STEPS,
        ge=bounds.MATCH_STEPS_MIN,
        le=bounds.MATCH_STEPS_MAX,
        description="Steps of matching one message, about ten nanoseconds each; a message that needs more is dropped.",
    )
    publishers: int = Field(
        default=100_000, ge=1, le=16_777_216, description="Publishers whose duplicate messages are detected."
    )
    credit_frames: int = Field(
        default=10_000,
        ge=1,
        le=2**32 - 1,
        description="Published messages of a client that the router has not processed yet.",
    )
    credit_bytes: Octets = Field(
        default=8 * MIB,
        ge=MIB,
        le=1024 * MIB,
        description="Bytes of such messages; at least the largest frame.",
    )
    traces_per_s: int = Field(default=50, ge=1, le=1_000_000, description="Traces and dry runs of a client per second.")
    traces_burst: int = Field(
        default=500,
        ge=1,
        le=1_000_000,
        description="Traces and dry runs of a client at once; past both limits, messages are not traced.",
    )
    greeting_ms: Milliseconds = Field(
        default=2_000,
        ge=100,
        le=60_000,
        description="Longest time from connecting to HELLO, and from there to AUTH, in ms.",
    )
    drain_ms: Milliseconds = Field(
        default=10_000,
        ge=0,
        le=3_600_000,
        description="Longest time for emptying the queues when the router stops, in ms.",
    )
    handover_ms: Milliseconds = Field(
        default=5_000,
        ge=0,
        le=3_600_000,
        description="Longest time for clients with another address to move there when the router stops, in ms, before "
        "`drain_ms` begins. 0: they are not requested to move.",
    )

    @property
    def stop_ms(self) -> int:
        """The most time that a stopping router takes: its clients move, then its queues empty."""
        return self.handover_ms + self.drain_ms
