"""The model of `logging`: the lines that a router writes to standard error.

Law: these lines concern the process; records of the network are in records.py.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tamis.configs import choices
from tamis.configs.choices import OneOf
from tamis.configs.sections.section import ConfigSection


class Logging(ConfigSection):
    """The lines that a router writes to standard error."""

    level: Annotated[str, OneOf(choices.LOG_LEVELS)] = Field(
        default="info", description="The lowest level that is written."
    )
    format: Annotated[str, OneOf(choices.LOG_FORMATS)] = Field(
        default="text", description="`text` for people, `json` for one object per line."
    )
