"""The model of `metrics`: the metrics that a router exposes.

Law: like the other models, this is the manual.
"""

from __future__ import annotations

from pydantic import Field

from tamis.configs.sections.section import ConfigSection


class MetricsSettings(ConfigSection):
    """The metrics that routers expose at `/metrics`."""

    old_names: bool = Field(
        default=False,
        description="Whether metrics of durable subscriptions also have the names of the previous version: "
        "`tamis_kept_...` and `tamis_keep_...`. The next version removes these names and this key.",
    )
