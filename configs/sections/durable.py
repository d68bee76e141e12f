"""The model of `durable`: the log on disk of durable subscriptions, and their quotas.

Law: each bound is here with its unit, and is validated like those of other sections. A router without this section uses
`DurableByDefault` if it has a data folder; with `durable: false` it stores nothing. Like the other models, this is the
manual.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Final, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag, model_validator

from tamis.configs.fields import Folder, Octets, Seconds, is_off
from tamis.configs.sections.section import MIB, ConfigSection

GIB = 1024 * MIB
SHARE_OF_FREE: Final = 4
"""A log without `bytes` in the file gets one part in this number of the free space of its disk."""


class CustodySettings(ConfigSection):
    """What a router stores of messages whose durable subscriptions are at other routers, until those have them."""

    bytes: Octets = Field(
        default=GIB,
        ge=MIB,
        le=2**50,
        description="Bytes that are stored for one other router. Past them its oldest messages are given up, and its "
        "consumers get a `Gap` for CUSTODY_FULL.",
    )
    age: Seconds = Field(
        default=72 * 3_600,
        ge=1,
        le=366 * 86_400,
        description="Seconds for which a message waits for another router. It is given up within a sixty-fourth part "
        "of them later, like the oldest past `bytes`.",
    )
    share: float = Field(
        default=0.5,
        ge=0.01,
        le=1,
        description="Part of the log's `bytes` for all other routers: those for which something is stored have equal "
        "parts of it, and at most `custody.bytes` each.",
    )
    overflow: Literal["gap", "refuse"] = Field(
        default="gap",
        description="At the bound of bytes for another router: `gap` gives up its oldest messages; with `refuse` "
        "publishers of more are refused (LOG_FULL) if they request storage, and what others publish is lost for it.",
    )
    window: Octets = Field(
        default=4 * MIB,
        ge=64 * 1024,
        le=4 * MIB,
        description="Bytes that another router may send ahead of what this one has on its disk.",
    )


class DurableSettings(ConfigSection):
    """The log of durable subscriptions, and the limits of clients."""

    is_by_default: ClassVar[bool] = False
    """Whether the file has no such section: then the log is made at the first request for a durable subscription, with
    at most `bytes`."""

    folder: Folder | None = Field(
        default=None,
        description="Folder for the logs of the routers; without it, `log` in a router's `data`.",
    )
    bytes: Octets = Field(
        default=10 * GIB,
        ge=256 * MIB,
        le=2**50,
        description="Bytes of the log on disk; past them publishes to be stored are refused (LOG_FULL). "
        "Without `durable` in the file: a quarter of the free space when the log is opened, at most 10 GiB.",
    )
    share: float = Field(
        default=0.25,
        ge=0.01,
        le=1,
        description="Part of `bytes` that the durable subscriptions of one owner may hold while three quarters of the "
        "log are in use. Past it each drops its oldest messages or refuses new ones, as at its own limit. "
        "It needs clients that prove their names: `tokens`, none of which is for any name (`*`).",
    )
    segment_bytes: Octets = Field(
        default=64 * MIB, ge=MIB, le=GIB, description="Bytes of one file of the log; at most a quarter of `bytes`."
    )
    memory_bytes: Octets = Field(
        default=16 * MIB,
        ge=MIB,
        le=GIB,
        description="Bytes of the newest messages that stay in memory, for consumers that have caught up.",
    )
    subscriptions: int = Field(default=10_000, ge=1, le=1_000_000, description="Durable subscriptions of one router.")
    subscriptions_per_client: int = Field(
        default=100, ge=1, le=1_000_000, description="Durable subscriptions that one client may create."
    )
    bytes_per_client: Octets = Field(
        default=10 * GIB,
        ge=MIB,
        le=2**50,
        description="Sum of the limits in bytes of all durable subscriptions of one client.",
    )
    consumers_per_subscription: int = Field(
        default=10_000, ge=1, le=1_000_000, description="Consumers of one durable subscription at a time."
    )
    replays_per_client: int = Field(default=4, ge=1, le=1_000, description="Replays of one client at a time.")
    replay_bytes: Octets = Field(
        default=64 * MIB,
        ge=32 * MIB,
        le=64 * GIB,
        description="Bytes of memory for all replays of a router: half for those that wait for their clients, half for "
        "messages being read; past the first half new ones are refused, past the other half they wait in turn.",
    )
    series: int = Field(
        default=100, ge=0, le=1_000, description="Durable subscriptions of one router with metrics of their own."
    )

    custody: CustodySettings = Field(
        default=CustodySettings(), description="Bounds of what is stored for other routers."
    )

    @model_validator(mode="after")
    def _check_sizes(self) -> DurableSettings:
        if 4 * self.segment_bytes > self.bytes:
            raise ValueError(f"needs segment_bytes of at most a quarter of bytes, got {self.segment_bytes}")
        return self


class DurableByDefault(DurableSettings):
    """The log of a router that has a data folder and no section `durable`."""

    is_by_default: ClassVar[bool] = True


def _read_off(value: object) -> object:
    """Return False for a value that stands for it; mappings unchanged."""
    if not isinstance(value, str | bool):
        return value
    if is_off(value):
        return False
    raise ValueError("must be `false`, or a mapping, `key: value`")


def _form_of(value: object) -> str:
    return "off" if value is False else "section"


DurableOrOff = Annotated[
    Annotated[DurableSettings, Tag("section")] | Annotated[Literal[False], Tag("off")],
    Discriminator(_form_of),
    BeforeValidator(_read_off, json_schema_input_type=DurableSettings | Literal[False]),
]
"""The value of `durable` in a file: the section, or `false`."""
