"""The model of `unmatched`: which messages without a matching subscription a router stores for `tamis unmatched`.

Law: off unless a share is given, and bounded in bytes. Like the other models, this is the manual.
"""

from __future__ import annotations

from pydantic import Field

from tamis.configs.fields import Octets
from tamis.configs.sections.records import Share
from tamis.configs.sections.section import ConfigSection

BYTES_MIN = 65_536
BYTES_MAX = 64 * 1024 * 1024


class UnmatchedSettings(ConfigSection):
    """The latest messages that matched no subscription, stored without their payloads for `tamis unmatched`."""

    share: Share = Field(
        default=0.0, description="Share of the unmatched messages that enter here, chosen by their ids."
    )
    bytes: Octets = Field(
        default=1024 * 1024,
        ge=BYTES_MIN,
        le=BYTES_MAX,
        multiple_of=8,
        description="Bytes of the stored messages; a new one overwrites the oldest.",
    )

    @property
    def ring_bytes(self) -> int:
        """The bytes to reserve; 0 if no message is stored."""
        return self.bytes if self.share else 0
