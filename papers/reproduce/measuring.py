"""Which build, and which machine, a cell was measured by.

Law: a cell that was measured by another build, or on another processor, is measured again.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tamis.bench.cells import digest, processor
from tamis.native import _tm

ROOT: Final = Path(__file__).parents[2]
MEASURES: Final = ("papers", "bench/matching", "bench/networks", "router", "simulate")


def build() -> dict[str, str]:
    """What must be equal for a cell to be taken over: the compiled C, what measures, routers, models, the machine."""
    measures = [file for folder in MEASURES for file in (ROOT / folder).rglob("*.py")]
    return {
        "extension": digest([Path(_tm.__file__)]),
        "bench": digest(sorted(measures)),
        "processor": processor(),
    }
