"""The model of a link between two neighbours.

Law: both ends read one section, so that they agree on cost, secret and times.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field

from tamis.configs.fields import File, IdText, Pair, with_ends
from tamis.configs.sections.connections import LinkKeepalive
from tamis.configs.sections.section import ConfigSection

COST_MAX = 2**32 - 1
"""A cost has 32 bits on the wire; sums of costs have 64 bits and cannot overflow."""


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


LinkOrEnds = Annotated[
    LinkConfig, BeforeValidator(with_ends, json_schema_input_type=tuple[IdText, IdText] | LinkConfig)
]
