"""The base model of all sections of a topology file.

Law: an unknown key is refused, and a section is immutable.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

MIB = 1024 * 1024


class ConfigSection(BaseModel):
    """A part of the file."""

    model_config = ConfigDict(extra="forbid", frozen=True)
