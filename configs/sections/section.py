"""What all sections of a topology file have in common.

Law: an unknown key is refused, and a section that exists does not change.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

MIB = 1024 * 1024


class ConfigSection(BaseModel):
    """A part of the file."""

    model_config = ConfigDict(extra="forbid", frozen=True)
