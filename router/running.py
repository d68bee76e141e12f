"""All that makes up a running router, for those who look at it."""

from __future__ import annotations

import enum
import time
from dataclasses import dataclass, field

from tamis.configs import RouterSettings
from tamis.router.plane import Plane
from tamis.router.stalls import StallWatch


class Life(enum.Enum):
    STARTING = "starting"
    SERVING = "serving"
    DRAINING = "draining"
    STOPPED = "stopped"


@dataclass(slots=True)
class Running:
    """`listening` says where, by what for: `clients`, `admin`."""

    plane: Plane
    stalls: StallWatch
    life: Life = Life.STARTING
    listening: dict[str, list[str]] = field(default_factory=dict)
    started_s: float = field(default_factory=time.time)

    @property
    def is_ready(self) -> bool:
        """It serves, and nothing is wrong with it."""
        return self.life is Life.SERVING and not self.plane.health.problems

    @property
    def settings(self) -> RouterSettings:
        return self.plane.settings
