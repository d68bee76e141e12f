"""The errors that prevent the start of a server."""

from __future__ import annotations

from tamis.protocol.errors import TamisError


class CannotStart(TamisError):
    """Raised when the process cannot do what its settings require; the sentence states what to change."""


class CannotStartNow(CannotStart):
    """Raised when it could start later, without a change of its settings: a port in use may become free."""
