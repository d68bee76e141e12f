"""The errors of routers under test.

RouterTrouble
    NotReady      a router ended before it listened, or did not listen in time; the end of its log gives the reason
    NotLinked     routers run, but do not know each other in time
    EndedBadly    a router that was stopped ended with an exit code other than 0, or not in time
"""

from __future__ import annotations

from tamis.protocol.errors import TamisError


class RouterTrouble(TamisError):
    """Raised when a router under test does not reach the state that a test needs."""


class NotReady(RouterTrouble):
    """Raised when a router ended before it listened, or did not listen in time."""


class NotLinked(RouterTrouble):
    """Raised when routers do not know each other in time."""


class EndedBadly(RouterTrouble):
    """Raised when a router that was stopped fails."""
