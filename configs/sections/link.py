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
    """Two neighbours and the cost of the way between them. A list of the two ids is a link of cost 1."""

    ends: Pair = Field(description="The two router ids, `[a, b]`.")
    cost: int = Field(
        default=1,
        ge=1,
        le=COST_MAX,
        description="Cost of one hop, the same both ways; paths of least total cost are used.",
    )
    secret: File | None = Field(
        default=None, description="File that both ends have, mode 0600, by whose content they prove who they are."
    )
    keepalive: LinkKeepalive = Field(default=LinkKeepalive(), description="When a silent neighbour is given up.")


LinkOrEnds = Annotated[
    LinkConfig, BeforeValidator(with_ends, json_schema_input_type=tuple[IdText, IdText] | LinkConfig)
]
