"""How a router ends, for what started it: 0 if everything was flushed, 1 if something was left or it could not start
now, CANNOT_START if it never will."""

from __future__ import annotations

from typing import Final

CANNOT_START: Final = 2
"""The file, or what that names, does not let the router start: trying again does not help."""
