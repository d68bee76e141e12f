"""Both kinds of ends of remote sessions at one router, and the events of the switch about them."""

from __future__ import annotations

from tamis.native.remote import SESSION_BYTES, SwitchRemotes
from tamis.native.switch_values import EventType, SwitchEvent
from tamis.protocol.wire.numbers import stable_number
from tamis.router.clients.clients import Clients
from tamis.router.daemon.events import SecondPassed
from tamis.router.remote.far import FarEnds
from tamis.router.remote.near import NearEnds


class RemoteEnds:
    """`RemoteWork` of a router with links."""

    def __init__(self, clients: Clients) -> None:
        connections = clients.connections
        remotes = SwitchRemotes(connections.switch)
        self.figures = remotes.figures
        self.near = NearEnds(clients, remotes)
        self.far = FarEnds(clients, remotes, {stable_number(each): each for each in connections.settings.others})
        clients.elsewhere, connections.remotes = self.near, self
        connections.events.listen(SecondPassed, lambda _: self.near.each_second())

    def happened(self, event: SwitchEvent) -> None:
        """Handle an event about a remote session."""
        if event.type == EventType.REMOTE_BEGINS:
            self.far.begins(event.frame)
            return
        session, frame = int.from_bytes(event.frame[:SESSION_BYTES], "little"), event.frame[SESSION_BYTES:]
        if event.type == EventType.REMOTE_SAID:
            self.near.said(session, event.kind, frame)
        else:
            self.near.ended(session)
