"""The model of `limits`: the bounds of a router.

Law: all memory and work that peers can cause in a router has its bound here, with its unit.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tamis.configs.fields import Milliseconds, Octets
from tamis.configs.sections.section import MIB, ConfigSection
from tamis.protocol import limits as bounds


class Limits(ConfigSection):
    """Bounds a router keeps. They may be stricter than the protocol's own, never looser."""

    connections: int = Field(
        default=10_000, ge=1, le=1_000_000, description="Open client connections; more are refused."
    )
    client_series: int = Field(
        default=0,
        ge=0,
        le=1_000,
        description="Clients that have metrics of their own, by name: the first so many to come; the rest are summed "
        "up under the name `others`. 0: no metrics by client.",
    )
    filters_per_client: int = Field(
        default=bounds.FILTERS_PER_CLIENT,
        ge=1,
        le=bounds.ENTRIES_MAX,
        description="Filters one client may hold.",
    )
    table_bytes_per_client: Annotated[Octets, Field(ge=bounds.TABLE_BYTES_PER_CLIENT_MIN, le=2**40)] | None = Field(
        default=None,
        description="Bytes of table that one client's filters may take; without it, a tenth of what a table may.",
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
        description="Memory for what others cause, in bytes: half for tables, half for queues and buffers.",
    )
    match_steps: int = Field(
        default=bounds.MATCH_STEPS,
        ge=bounds.MATCH_STEPS_MIN,
        le=bounds.MATCH_STEPS_MAX,
        description="Steps that matching one message may take, some ten nanoseconds each; past them it is dropped.",
    )
    publishers: int = Field(
        default=100_000, ge=1, le=16_777_216, description="Publishers whose messages are known when they come twice."
    )
    credit_frames: int = Field(
        default=10_000, ge=1, le=2**32 - 1, description="Messages a client may publish ahead of the router."
    )
    credit_bytes: Octets = Field(
        default=8 * MIB,
        ge=MIB,
        le=1024 * MIB,
        description="Bytes a client may publish ahead of the router; at least the largest frame.",
    )
    traces_per_s: int = Field(
        default=50, ge=1, le=1_000_000, description="Traces and dry runs a client may ask for in a second."
    )
    traces_burst: int = Field(
        default=500, ge=1, le=1_000_000, description="And at once; past both, messages go on untraced."
    )
    greeting_ms: Milliseconds = Field(
        default=2_000, ge=100, le=60_000, description="Time from connecting to HELLO, and from there to AUTH, in ms."
    )
    drain_ms: Milliseconds = Field(
        default=10_000, ge=0, le=3_600_000, description="Time that queues have to empty when the router stops, in ms."
    )
    handover_ms: Milliseconds = Field(
        default=5_000,
        ge=0,
        le=3_600_000,
        description="Time that clients with another address have to move there when the router stops, in ms, before "
        "`drain_ms` begins. 0: they are not told to.",
    )

    @property
    def stop_ms(self) -> int:
        """The most time that a stopping router takes: its clients move, then its queues empty."""
        return self.handover_ms + self.drain_ms
