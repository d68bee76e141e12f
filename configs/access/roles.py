"""The model of a role.

Law: the model is the manual: each key with its meaning, and docs/reference/access.md is printed from it. A right that
is not written is not given.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, ConfigDict, Field, model_validator

from tamis.configs import choices
from tamis.configs.access.values import (
    LogShare,
    Patterns,
    RuleOrSwitch,
    RuleText,
    StampName,
    StampValue,
    WrittenRule,
    mistake,
)
from tamis.configs.choices import OneOf
from tamis.configs.fields import Octets, Seconds
from tamis.configs.sections.section import ConfigSection
from tamis.protocol.access.role import IDLE_MAX_S

_U32 = 2**32 - 1
STAMPS_MAX = 8


class RuleSection(ConfigSection):
    """A part of the rules."""

    model_config = ConfigDict(arbitrary_types_allowed=True)


class PermissionConfig(RuleSection):
    """Messages by predicates; a predicate alone is `allow`. A denial of one role wins over what others allow."""

    allow: RuleText | None = Field(default=None, description="Messages that are allowed; none by default.")
    deny: RuleText | None = Field(default=None, description="Messages that are denied, whatever is allowed.")


def _permission(value: object) -> object:
    if isinstance(value, list):
        raise ValueError("must be a predicate, or {allow: PREDICATE, deny: PREDICATE}")
    return {"allow": value} if isinstance(value, str) else value


PermissionOrRule = Annotated[
    PermissionConfig, BeforeValidator(_permission, json_schema_input_type=WrittenRule | PermissionConfig)
]


class RateConfig(RuleSection):
    """Limits of what one name publishes; a publisher waits, and no message is dropped."""

    messages_s: Annotated[int, Field(ge=1, le=_U32)] | None = Field(default=None, description="Messages a second.")
    burst: Annotated[int, Field(ge=1, le=_U32)] | None = Field(
        default=None,
        description="Messages that may come at once; by default those of one second, and at least those of 0.2 s.",
    )
    bytes_s: Annotated[Octets, Field(ge=1_024, le=2**40)] | None = Field(
        default=None, description="Bytes a second, of whole frames; a frame may always come at once."
    )

    @model_validator(mode="after")
    def _bursts_of_messages(self) -> RateConfig:
        if self.burst is not None and self.messages_s is None:
            raise mistake("needs messages_s beside burst")
        return self


def _idle(value: object) -> object:
    return 0 if value == "never" else value


class DurableConfig(RuleSection):
    """Durable subscriptions that may be made, changed and consumed as their owner."""

    names: Patterns = Field(description="Their names: patterns.")
    of: RuleText | None = Field(
        default=None, description="Messages that they may have; by default those that `subscribe` allows."
    )
    bytes: Annotated[Octets, Field(ge=1, le=2**50)] | None = Field(
        default=None, description="The most bytes of one; without it, the limits of the router."
    )
    refuse: RuleOrSwitch = Field(
        default=None,
        description="Messages that they may turn away from the log when they are full: a predicate, or `true` for "
        "all; by default they lose messages instead.",
    )
    idle_max: Annotated[Seconds, Field(ge=0, le=_U32), BeforeValidator(_idle)] = Field(
        default=IDLE_MAX_S,
        description="The longest time without a consumer that they may ask for, in seconds or as a time; `never`: "
        "they may stay for ever.",
    )


class ConsumeConfig(RuleSection):
    """Durable subscriptions of others whose messages may be taken, acknowledged and rejected. A list is `names`."""

    names: Patterns = Field(description="Their names: patterns.")
    skip: bool = Field(default=False, description="Whether a consumer may begin behind what waits (`after`, `latest`).")


def _consume(value: object) -> object:
    return {"names": value} if isinstance(value, str | list | tuple) else value


ConsumeOrNames = Annotated[ConsumeConfig, BeforeValidator(_consume, json_schema_input_type=Patterns | ConsumeConfig)]


class QuotaConfig(RuleSection):
    """Numbers of one name (`quotas`), or of all names that have the role together (`totals`)."""

    connections: Annotated[int, Field(ge=1, le=1_000_000)] | None = Field(default=None, description="Connections.")
    durables: Annotated[int, Field(ge=0, le=1_000_000)] | None = Field(
        default=None, description="Durable subscriptions."
    )
    filters: Annotated[int, Field(ge=0, le=1_000_000)] | None = Field(default=None, description="Filters.")
    log: LogShare | None = Field(
        default=None, description="Part of the log of a router that their durable subscriptions may hold, or bytes."
    )


class RoleConfig(RuleSection):
    """What all principals with a role may do; rights of several roles add up, and denials win."""

    publish: PermissionOrRule = Field(
        default=PermissionConfig(), description="Messages that may be published: a predicate, or `allow` and `deny`."
    )
    stamp: dict[StampName, StampValue] = Field(
        default={},
        max_length=STAMPS_MAX,
        description="Attributes that its messages get where they enter, before `publish` is asked; a message that has "
        "one already is refused. `${name}` is the name of the client.",
    )
    rate: RateConfig | None = Field(default=None, description="Limits of publishing.")
    subscribe: PermissionOrRule = Field(
        default=PermissionConfig(), description="Messages that may be received: a predicate, or `allow` and `deny`."
    )
    groups: Patterns = Field(default=(), description="Worker groups that may be joined: patterns.")
    requests: bool = Field(
        default=False,
        description="Whether answers to its own questions are received beside what `subscribe` allows.",
    )
    durable: DurableConfig | None = Field(default=None, description="Durable subscriptions of its own.")
    consume: ConsumeOrNames | None = Field(default=None, description="Durable subscriptions of others to take from.")
    inspect: Patterns = Field(
        default=(), description="Durable subscriptions of others that are listed and shown: patterns."
    )
    remove: Patterns = Field(default=(), description="Durable subscriptions of others that may be removed: patterns.")
    replay: PermissionOrRule = Field(
        default=PermissionConfig(),
        description="Stored messages that may be replayed: a predicate, or `allow` and `deny`. What `subscribe` "
        "denies is not replayed either.",
    )
    replay_since: Annotated[Seconds, Field(ge=1, le=_U32)] | None = Field(
        default=None, description="How far back replays go, in seconds or as a time such as `30d`; by default all."
    )
    admin: Annotated[str, OneOf(choices.ADMIN_LEVELS)] | None = Field(
        default=None,
        description="Administration: `viewer` sees status and connections; `operator` also filters of others, "
        "traces, dry runs and unmatched messages; `admin` also changes rights.",
    )
    quotas: QuotaConfig = Field(default=QuotaConfig(), description="Limits of each full name.")
    totals: QuotaConfig = Field(default=QuotaConfig(), description="Limits of all names with this role together.")
