"""The model of a link between two neighbours.

Law: both ends read one section, so that they agree on cost, secret, times, and what may cross the link.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from tamis.configs import choices
from tamis.configs.choices import OneOf
from tamis.configs.fields import File, Id, IdText, Pair, with_ends
from tamis.configs.sections.connections import LinkKeepalive
from tamis.configs.sections.records import read_predicate
from tamis.configs.sections.section import ConfigSection

COST_MAX = 2**32 - 1
"""A cost has 32 bits on the wire; sums of costs have 64 bits and cannot overflow."""


def _read_predicate(value: object) -> object:
    if isinstance(value, str) and "${" in value:
        raise ValueError("is about messages alone: a link has no `${name}`")
    return read_predicate(value)


Ids = Annotated[tuple[Id, ...], BeforeValidator(lambda value: [value] if isinstance(value, str) else value)]
LinkPredicate = Annotated[str, BeforeValidator(_read_predicate)]


class LinkConfig(ConfigSection):
    """Two neighbours and the cost of the link between them. A list of the two ids is a link of cost 1."""

    ends: Pair = Field(description="The two router ids, `[a, b]`.")
    cost: int = Field(
        default=1,
        ge=1,
        le=COST_MAX,
        description="Cost of the link, equal in both directions; messages use paths of least total cost.",
    )
    secret: File | None = Field(
        default=None,
        description="File of the secret, mode 0600, with equal content at both ends, by which they prove their ids.",
    )
    keepalive: LinkKeepalive = Field(default=LinkKeepalive(), description="When a silent neighbour is disconnected.")
    behind: dict[Id, Ids] = Field(
        default={},
        max_length=2,
        description="Routers behind an end, by the end: `{b: [c, d]}`. The link then brings from b what b, c and d "
        "state, and messages that entered there; the rest is dropped and counted. Without an entry an end may speak "
        "for all routers.",
    )
    trust: Annotated[str, OneOf(choices.TRUSTS)] = Field(
        default="network",
        description="`partner`: the ends belong to different operators. Only messages of `passes` cross, and each "
        "operator has access rules of their own.",
    )
    passes: dict[Id, LinkPredicate] = Field(
        default={},
        max_length=2,
        description="With `trust: partner`, the messages that an end may send over the link, by the end: predicates. "
        "Both ends hold to them. By default none.",
    )

    @model_validator(mode="after")
    def _check_ends(self) -> LinkConfig:
        for key, given in (("behind", self.behind), ("passes", self.passes)):
            for end in given:
                if end not in self.ends:
                    raise _mistake(f"`{key}` names {end}, which is no end of the link: use {' or '.join(self.ends)}")
        if self.passes and self.trust != "partner":
            raise _mistake("`passes` needs `trust: partner`")
        return self

    def speaks_for(self, end: str) -> tuple[str, ...] | None:
        """Return the routers for which an end may speak, itself included; None: all."""
        return (end, *self.behind[end]) if end in self.behind else None


def _mistake(what: str) -> PydanticCustomError:
    return PydanticCustomError("choice", "{what}", {"what": what})


LinkOrEnds = Annotated[
    LinkConfig, BeforeValidator(with_ends, json_schema_input_type=tuple[IdText, IdText] | LinkConfig)
]
