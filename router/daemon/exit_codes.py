"""The exit codes of a router: 0 if all queues were flushed, 1 if data was left or the router could not start now,
CANNOT_START if it never will."""

from __future__ import annotations

from typing import Final

CANNOT_START: Final = 2
"""The topology file, or a file that it names, prevents a start: another attempt does not help."""
