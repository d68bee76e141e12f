"""What can go wrong with routers under test.

RouterTrouble
    NotReady      a router ended before it listened, or did not listen in time; the end of its log says why
    NotLinked     routers run, and do not know of each other in time
    EndedBadly    a router that was asked to leave ended with another exit code than 0, or not in time
"""

from __future__ import annotations

from tamis.protocol.errors import TamisError


class RouterTrouble(TamisError):
    """A router under test did not do what a test needs before it can begin, or what it must do when it ends."""


class NotReady(RouterTrouble):
    """A router ended before it listened, or did not listen in time."""


class NotLinked(RouterTrouble):
    """Routers do not know of each other in time."""


class EndedBadly(RouterTrouble):
    """A router that was asked to leave failed while it did."""
