"""A folder for the length of a measurement."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """An empty folder that is gone afterwards, with all that is in it."""
    with tempfile.TemporaryDirectory(prefix="tamis-bench-") as name:
        yield Path(name)
